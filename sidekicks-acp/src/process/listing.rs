//! The processes of this machine, as the system lists them.

#[cfg(target_os = "linux")]
#[path = "listing/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "listing/elsewhere.rs"]
mod system;

pub(super) use system::{COMPLETE, all, boot, find, holders, memory};

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// In clock ticks since the system started.
    pub(super) started: u64,
    /// Neither a zombie nor dead.
    pub(super) alive: bool,
}
