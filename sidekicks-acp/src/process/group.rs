//! The process group of an agent, signalled only while its number is surely its own.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::family;
use super::marker::Marker;

/// A process group whose leader has not been reaped.
///
/// A number is free for somebody else once its leader is reaped and its group is empty, so the reap happens under the
/// same lock as every signal, and empties it.
pub(super) struct Group {
    leader: Mutex<Option<Pid>>,
    marker: Marker,
}

impl Group {
    pub(super) fn new(leader: i32, marker: Marker) -> Self {
        Self { leader: Mutex::new(Some(Pid::from_raw(leader))), marker }
    }

    /// What everybody of the agent carries.
    pub(super) fn marker(&self) -> &Marker {
        &self.marker
    }

    /// Signals every process of the group. After the reap nobody.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(leader) = *self.lock() {
            // ESRCH and EPERM mean that nobody is left whom we could reach.
            let _ = killpg(leader, signal);
        }
    }

    /// Kills the group, and the leader's descendants in other groups as far as the system lists them.
    pub(super) fn kill(&self) {
        self.kill_family(self.lock());
    }

    /// Waits for nothing, so that a fork under way may escape it; the keeper sweeps once more, if the runtime lives.
    fn kill_family(&self, leader: MutexGuard<'_, Option<Pid>>) {
        let Some(number) = *leader else { return };
        // Stopped first, so that nobody leaves the group while the others are looked for; afterwards nobody's parent tells.
        let _ = killpg(number, Signal::SIGSTOP);
        let others = family::relatives(number.as_raw());
        let _ = killpg(number, Signal::SIGKILL);
        // From here on nobody is known by the number of the group, and whoever waits for the lock need not.
        drop(leader);
        for member in others {
            member.kill();
        }
        for member in family::marked(self.marker.beginning()) {
            member.kill();
        }
    }

    /// What the leader and its descendants have in memory. After the reap, and where the system does not tell, `None`.
    pub(super) fn memory(&self) -> Option<u64> {
        let leader = (*self.lock())?;
        let memory = family::memory(leader.as_raw(), &self.marker);
        // Signals did not wait for it; so it may have been reaped meanwhile, and its number be another's.
        self.lock().and(memory)
    }

    /// Runs `reap`, which frees the number; no signal goes out meanwhile or after.
    pub(super) fn reaped<T>(&self, reap: impl FnOnce() -> T) -> T {
        let mut leader = self.lock();
        *leader = None;
        reap()
    }

    /// Kills it for the last time: from here on somebody else reaps the leader, at a time that is not known here.
    pub(super) fn give_up(&self) {
        self.kill();
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Pid>> {
        self.leader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.lock() {
            Some(leader) => write!(f, "{leader}"),
            None => f.write_str("reaped"),
        }
    }
}
