//! Who belongs to an agent, as the system sees it.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// One process as the system lists it.
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    /// In clock ticks since the system started.
    started: u64,
    /// Neither a zombie nor dead.
    alive: bool,
}

/// One process, surely the same one later: its number and when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pid: i32,
    started: u64,
}

impl Member {
    /// Kills it, if it is still the same process; tells whether it was there.
    pub(super) fn kill(self) -> bool {
        let there = listing::find(self.pid).is_some_and(|now| now.started == self.started && now.alive);
        there && kill(Pid::from_raw(self.pid), Signal::SIGKILL).is_ok()
    }
}

/// Everybody who stems from `leader`, or is in its group or session; without itself.
///
/// Who leaves the group is still a child, and who is orphaned is still in the group; a daemon that does both is not
/// found. Looked at while the agent still runs, since afterwards nobody's parent tells.
pub(super) fn descendants(leader: i32) -> Vec<Member> {
    let all = listing::all();
    let mut found: Vec<i32> = vec![leader];
    loop {
        let before = found.len();
        for process in &all {
            let belongs = found.contains(&process.parent) || process.group == leader || process.session == leader;
            if belongs && !found.contains(&process.pid) {
                found.push(process.pid);
            }
        }
        if found.len() == before {
            break;
        }
    }
    let ours = all.iter().filter(|process| process.pid != leader && found.contains(&process.pid));
    ours.map(|process| Member { pid: process.pid, started: process.started }).collect()
}

/// How many live processes are in the group of `leader`, besides itself; `None` where nobody tells.
pub(super) fn group_members(leader: i32) -> Option<usize> {
    let mine = |process: &Process| process.group == leader && process.pid != leader && process.alive;
    listing::COMPLETE.then(|| listing::all().iter().filter(|process| mine(process)).count())
}

/// How often the system is asked whether a process is gone: nothing tells of the death of somebody else's child.
pub(super) const POLL: Duration = Duration::from_millis(5);

#[cfg(target_os = "linux")]
mod listing {
    //! Processes as `/proc` lists them (proc(5)).

    use super::Process;

    /// Whether everybody is listed here.
    pub(super) const COMPLETE: bool = true;

    pub(super) fn all() -> Vec<Process> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries.filter_map(|entry| find(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
    }

    pub(super) fn find(pid: i32) -> Option<Process> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The second field is the name in brackets, which may hold anything; the third follows the last bracket.
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        let mut number = |skip: usize| fields.nth(skip)?.parse::<u64>().ok();
        let mut id = |skip: usize| i32::try_from(number(skip)?).ok();
        Some(Process {
            pid,
            parent: id(0)?,
            group: id(0)?,
            session: id(0)?,
            started: number(15)?,
            alive: !matches!(state, "Z" | "X" | "x"),
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod listing {
    //! Elsewhere nobody is listed yet: the group is signalled all the same, and nobody is swept.

    use super::Process;

    pub(super) const COMPLETE: bool = false;

    pub(super) fn all() -> Vec<Process> {
        Vec::new()
    }

    pub(super) fn find(_pid: i32) -> Option<Process> {
        None
    }
}
