//! Real processes: agents are found again by their marker, measured, and ended although this program is killed.

mod marker;
mod marks;
mod reaped;
