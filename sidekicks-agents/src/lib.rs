//! Many local ACP agents over time.
//!
//! This crate will hold the supervisor of [sidekicks](https://docs.rs/sidekicks-cli): it starts an agent on
//! demand, lends it out for the length of a turn, stops it when it has been idle, makes room for another one and
//! notices crashes. Nothing is here yet; until then `sidekicks_acp::SingleAgent` keeps one agent without a
//! supervisor, through the same `Connector` trait that this crate will implement.
