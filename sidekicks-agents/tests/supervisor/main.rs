//! The supervisor with its tasks and its clock, which is paused: agents are connections in memory.

mod borrowing;
mod observing;
mod stage;
mod stopping;
mod waiting;
