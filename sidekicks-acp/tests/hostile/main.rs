//! Hostile input: every row of "Reading" in the design of the wire, byte by byte.
//!
//! An [`Entry`](stage::Entry) is what an agent writes in the middle of a turn and everything that comes of it: the events
//! of the session, what was counted, and what the agent was answered. After it the agent writes one fragment, "alive",
//! and ends the turn, so the events show that the connection goes on. Rows about processes are in
//! `tests/hostile_process.rs`.

#[path = "../common/mod.rs"]
mod common;

mod calls;
mod end;
mod forms;
mod lines;
mod long;
mod questions;
mod stage;
mod updates;
