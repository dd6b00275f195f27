//! Processes as `/proc` lists them (proc(5)).

use std::fs;

use super::Process;

/// Whether everybody is listed here.
pub(in crate::process) const COMPLETE: bool = true;

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

/// The numbers of those of our user's processes in whose first environment a variable begins with `entry`.
pub(in crate::process) fn holders(entry: &str) -> Vec<i32> {
    let holds = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(entry.as_bytes()))
    };
    pids().filter(holds).collect()
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}
