//! Real processes: agents are found again by their marker, measured, and ended although this program is killed.

mod killed;
mod marker;
mod marks;
mod memory;
mod owner;
#[path = "../real/mod.rs"]
mod real;
mod reaped;
mod records;
mod shells;
