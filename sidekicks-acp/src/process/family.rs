//! Who belongs to an agent, as the system sees it.

use std::fmt;
use std::sync::OnceLock;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::listing::{self, Process};
use super::marker::Marker;

/// One process, surely the same one later: its number and when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub(super) pid: i32,
    pub(super) started: u64,
}

impl Member {
    pub(super) fn of(process: &Process) -> Self {
        Self { pid: process.pid, started: process.started }
    }

    /// This program.
    pub(super) fn ourselves() -> Self {
        static OURSELVES: OnceLock<Member> = OnceLock::new();
        let pid = Pid::this().as_raw();
        let look = || Self::find(pid).unwrap_or(Self { pid, started: 0 });
        let known = *OURSELVES.get_or_init(look);
        if known.pid == pid { known } else { look() } // After a fork we are somebody else.
    }

    pub(super) fn find(pid: i32) -> Option<Self> {
        listing::find(pid).map(|process| Self::of(&process))
    }

    /// Whether that is the same process.
    pub(super) fn is(self, process: &Process) -> bool {
        self.pid == process.pid && listing::same_start(self.started, process.started)
    }

    /// Whether it is alive, and still the same process.
    pub(super) fn is_alive(self) -> bool {
        listing::find(self.pid).is_some_and(|now| now.alive && self.is(&now))
    }

    /// Kills it, if it is still the same process; tells whether it was there.
    pub(super) fn kill(self) -> bool {
        self.is_alive() && kill(Pid::from_raw(self.pid), Signal::SIGKILL).is_ok()
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.pid, self.started)
    }
}

/// Everybody who stems from `leader`, is in its group or session, or carries its marker; without itself.
///
/// Who leaves the group is still a child, and who is orphaned is still in the group; a daemon that does both still has
/// its environment. Looked at while the agent still runs, since afterwards nobody's parent tells, and its number may be
/// another's.
pub(super) fn descendants(leader: i32, marker: &Marker) -> Vec<Member> {
    // In this order: who is a holder only afterwards has another start time than the one that is remembered.
    let all = listing::all();
    let mut seeds = listing::holders(marker.beginning());
    seeds.push(leader);
    without(leader, offspring(&all, seeds, |process| process.group == leader || process.session == leader))
}

/// The same without those that are known by their marker only: quicker, and nobody's memory is read.
pub(super) fn relatives(leader: i32) -> Vec<Member> {
    let belongs = |process: &Process| process.group == leader || process.session == leader;
    without(leader, offspring(&listing::all(), vec![leader], belongs))
}

fn without(leader: i32, mut found: Vec<Member>) -> Vec<Member> {
    found.retain(|member| member.pid != leader);
    found
}

/// What `leader` and its descendants have in memory, in bytes; `None` where the system does not tell.
pub(super) fn memory(leader: i32, marker: &Marker) -> Option<u64> {
    let mut pids: Vec<i32> = descendants(leader, marker).into_iter().map(|member| member.pid).collect();
    pids.push(leader);
    listing::memory(&pids)
}

/// Everybody who carries a marker that begins so, and who stems from them.
pub(super) fn marked(beginning: &str) -> Vec<Member> {
    if listing::holders(beginning).is_empty() {
        return Vec::new(); // Mostly so, and then one look is enough.
    }
    let all = listing::all();
    offspring(&all, listing::holders(beginning), |_| false)
}

/// The processes `found`, who stems from them, and for whom `belongs` holds. Never ourselves.
fn offspring(all: &[Process], mut found: Vec<i32>, belongs: impl Fn(&Process) -> bool) -> Vec<Member> {
    loop {
        let before = found.len();
        for process in all {
            let ours = found.contains(&process.parent) || belongs(process);
            if ours && !found.contains(&process.pid) {
                found.push(process.pid);
            }
        }
        if found.len() == before {
            break;
        }
    }
    let us = Pid::this().as_raw();
    all.iter().filter(|process| process.pid != us && found.contains(&process.pid)).map(Member::of).collect()
}

/// The live processes in the group with this number.
pub(super) fn in_group(group: i32) -> Vec<Member> {
    let all = listing::all();
    all.iter().filter(|process| process.group == group && process.alive).map(Member::of).collect()
}

/// How many live processes are in the group of `leader`, besides itself; `None` where nobody tells.
pub(super) fn group_members(leader: i32) -> Option<usize> {
    let all = listing::all();
    let mine = |process: &&Process| process.group == leader && process.pid != leader && process.alive;
    (!all.is_empty()).then(|| all.iter().filter(mine).count())
}
