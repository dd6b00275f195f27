//! What can go wrong, each with a code for a program and a text for a person.

mod agent;
mod call;
mod end;

pub use agent::AgentError;
pub use call::{AnswerError, CallError};
pub use end::{End, Exit, ExitStatus, StopCause};

/// Every code that an error of this crate can have, in alphabetical order.
///
/// A program that words errors itself checks its sentences against this list.
pub const CODES: &[&str] = &[
    "agent-error",
    "agent-exited",
    "agent-room",
    "agent-stopped",
    "already-open",
    "already-settled",
    "backoff",
    "backpressure",
    "bad-interpreter",
    "bad-workspace",
    "closed",
    "connection-lost",
    "empty-prompt",
    "login-required",
    "malformed-reply",
    "not-a-program",
    "not-executable",
    "not-unicode",
    "program-missing",
    "program-not-found",
    "prompt-pending",
    "reader-stalled",
    "relative-workspace",
    "session-closed",
    "start-failed",
    "start-timeout",
    "system-busy",
    "timeout",
    "too-large",
    "too-long",
    "too-many-arguments",
    "unknown-agent",
    "unknown-option",
    "unknown-session",
    "unsupported",
    "unsupported-content",
    "unsupported-version",
    "would-deadlock",
];

/// What was being done when something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// Starting the program.
    Spawn,
    /// The handshake, `initialize`.
    Initialize,
    /// Opening a session.
    Open,
    /// A prompt turn.
    Prompt,
    /// Any other call.
    Call,
}
