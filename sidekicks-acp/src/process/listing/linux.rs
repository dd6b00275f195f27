//! Processes as `/proc` lists them (proc(5)).

use std::fs;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};

use super::Process;
use crate::process::marker::NAME;

/// A look costs little.
pub(in crate::process) const POLL: Duration = Duration::from_millis(5);

/// What the guard's script lists processes with.
pub(in crate::process) const BY: &str = "proc";

/// Everybody.
pub(in crate::process) fn all() -> Vec<Process> {
    pids().filter_map(find).collect()
}

/// The process with this number.
pub(in crate::process) fn find(pid: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
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

pub(in crate::process) fn same_start(one: u64, other: u64) -> bool {
    one == other
}

/// The numbers of those of our user's processes that were started with a marker that begins so.
pub(in crate::process) fn holders(beginning: &str) -> Vec<i32> {
    let holds = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| holds(entry, beginning))
    };
    pids().filter(holds).collect()
}

/// What these processes have in memory for themselves alone, in bytes; those that are gone count nothing.
///
/// Pages of files are left out, since the system can drop them. Pages that a fork shares are counted for each.
pub(in crate::process) fn memory(pids: &[i32]) -> Option<u64> {
    let page = u64::try_from(sysconf(SysconfVar::PAGE_SIZE).ok()??).ok()?;
    let pages = |pid: &i32| {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let mut fields = statm.split_ascii_whitespace().map(str::parse);
        let (resident, shared): (u64, u64) = (fields.nth(1)?.ok()?, fields.next()?.ok()?);
        Some(resident.saturating_sub(shared))
    };
    Some(pids.iter().filter_map(pages).sum::<u64>() * page)
}

/// Tells one start of the machine from every other, since start times count from it; and one container from another, since
/// numbers of processes do.
pub(in crate::process) fn boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let container = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), container.display())
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Whether an entry of an environment is the variable, with a word in it that begins so.
fn holds(entry: &[u8], beginning: &str) -> bool {
    let value = entry.strip_prefix(NAME.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
    value.is_some_and(|value| value.split(|byte| *byte == b' ').any(|word| word.starts_with(beginning.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_their_beginning() {
        let cases = [
            ("SIDEKICKS_AGENT=1.2/a.3/name", true),
            ("SIDEKICKS_AGENT=5.6/b.0/inner 1.2/a.3/name", true),
            ("SIDEKICKS_AGENT=1.2/a.31/name", false),
            ("SIDEKICKS_AGENT=11.2/a.3/name", false),
            ("OTHER=1.2/a.3/name", false),
            ("XSIDEKICKS_AGENT=1.2/a.3/", false),
            ("", false),
        ];
        for (entry, expected) in cases {
            assert_eq!(holds(entry.as_bytes(), "1.2/a.3/"), expected, "{entry}");
        }
    }
}
