//! The processes of this machine, as the system lists them.

#[cfg(all(target_os = "linux", not(sidekicks_posix)))]
#[path = "listing/linux.rs"]
mod system;
// With the flag `--cfg sidekicks_posix` on Linux too, where it can be tested.
#[cfg(not(all(target_os = "linux", not(sidekicks_posix))))]
#[path = "listing/posix.rs"]
mod system;

pub(super) use system::{BY, POLL, all, boot, find, holders, memory, same_start};

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// In clock ticks since the system started, or in seconds since 1970 where `ps` tells.
    pub(super) started: u64,
    /// Neither a zombie nor dead.
    pub(super) alive: bool,
}
