//! The small programs, each run with the scripted agent; nothing is left of it.

mod another_file;
mod configured;
mod log_in;
#[path = "../common/marked.rs"]
mod marked;
mod record;
mod stage;
mod unattended;
