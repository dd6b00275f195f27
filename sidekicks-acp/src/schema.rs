//! The protocol's own words, version 1 of ACP, re-exported from `agent-client-protocol-schema`.
//!
//! This is the only place where that crate is named. It is additive within its major version, so what a newer agent
//! sends and this version does not know is still delivered, as the raw JSON of an [`Update`](crate::Update).

pub use agent_client_protocol_schema::ProtocolVersion;
pub use agent_client_protocol_schema::v1::*;
