//! What dead programs left.

use std::fs;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::Swept;
use super::record::Remains;
use crate::process::family::{self, Member};
use crate::process::listing;
use crate::process::sweep::sweep as kill_all;

/// For an agent whose program is dead already: SIGTERM, this long, then SIGKILL.
const GRACE: Duration = Duration::from_secs(1);

/// How long is waited for the locks of others, in all.
const PATIENCE: Duration = Duration::from_secs(4);

/// Ends the agents of each program that has a file in `folder` and is dead, and removes its file. Blocks until it is done.
///
/// A program is dead when it does not hold its lock and there is no process with its number that started when it did.
/// The same of an agent: what it is called or how it was started is never looked at.
pub(super) fn sweep(folder: &Path) -> io::Result<Swept> {
    let boot = listing::boot();
    let files = fs::read_dir(folder)?.flatten();
    let until = Instant::now() + PATIENCE;
    let dead: Vec<Remains> = files.filter_map(|file| Remains::open(&file.path(), &boot, until)).collect();
    // Who stems from those that carry the marker is known only while their parents live.
    let marked: Vec<_> = dead.iter().map(Remains::marked).collect();
    let terminated: Vec<_> = dead.iter().map(|remains| terminate(&remains.agents)).collect();
    wait_for(terminated.iter().flatten());
    let mut swept = Swept::default();
    for ((remains, groups), marked) in dead.into_iter().zip(terminated).zip(marked) {
        let mut members: Vec<Member> = Vec::new();
        for group in &groups {
            group.kill();
            members.extend(&group.members);
        }
        // Those of the groups are counted above, whether they obeyed or not.
        let others = |found: Vec<Member>| found.into_iter().filter(|member| !members.contains(member)).collect();
        let processes = members.len() + kill_all(others(marked), || others(remains.marked()));
        swept.processes += processes;
        swept.programs += usize::from(processes > 0);
        remains.remove();
    }
    Ok(swept)
}

/// A group that had its SIGTERM. It is still the same while somebody is in it who was in it then.
struct Terminated {
    group: i32,
    members: Vec<Member>,
}

impl Terminated {
    fn is_there(&self) -> bool {
        self.members.iter().any(|member| member.is_alive())
    }

    fn kill(&self) {
        if self.is_there() {
            let _ = killpg(Pid::from_raw(self.group), Signal::SIGKILL);
        }
    }
}

/// Sends SIGTERM to the groups of those `agents` that still lead one.
fn terminate(agents: &[Member]) -> Vec<Terminated> {
    let leads = |agent: &&Member| listing::find(agent.pid).is_some_and(|now| agent.is(&now) && now.group == agent.pid);
    let groups = agents.iter().filter(leads).map(|agent| {
        let group = Terminated { group: agent.pid, members: family::in_group(agent.pid) };
        for signal in [Signal::SIGTERM, Signal::SIGCONT] {
            let _ = killpg(Pid::from_raw(agent.pid), signal);
        }
        group
    });
    groups.collect()
}

fn wait_for<'a>(groups: impl Iterator<Item = &'a Terminated> + Clone) {
    let until = Instant::now() + GRACE;
    while groups.clone().any(Terminated::is_there) && Instant::now() < until {
        sleep(listing::POLL);
    }
}
