//! Processes as `ps` lists them, for systems other than Linux.
//!
//! The options and the fields are those of POSIX.1-2017 (ps: `-A`, `-o`, `-p`; `pid`, `ppid`, `pgid`) and three that it
//! does not have and the manuals of macOS, FreeBSD and procps do: `stat`, `lstart` and `rss`. Sessions are left out, since
//! what they call one is not the same. Nor can the environment of others be read everywhere, so nobody is found by it.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::Process;
use crate::process::sys;

/// Each look is a process of its own.
pub(in crate::process) const POLL: Duration = Duration::from_millis(50);

/// What the guard's script lists processes with.
pub(in crate::process) const BY: &str = "ps";

const FIELDS: [&str; 10] = ["-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat=", "-o", "lstart="];

/// Everybody.
pub(in crate::process) fn all() -> Vec<Process> {
    ps(&[&["-A"], &FIELDS[..]].concat()).lines().filter_map(process).collect()
}

/// The process with this number.
pub(in crate::process) fn find(pid: i32) -> Option<Process> {
    ps(&[&FIELDS[..], &["-p", &pid.to_string()]].concat()).lines().find_map(process)
}

/// Start times are told in seconds, and procps reckons them anew each time, from when the system started.
pub(in crate::process) fn same_start(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= 1
}

pub(in crate::process) fn holders(_beginning: &str) -> Vec<i32> {
    Vec::new()
}

/// What these processes have in memory, in bytes, also what they share with others.
pub(in crate::process) fn memory(pids: &[i32]) -> Option<u64> {
    let pids: Vec<String> = pids.iter().map(ToString::to_string).collect();
    let listed = ps(&["-o", "rss=", "-p", &pids.join(",")]);
    let sizes: Vec<u64> = listed.lines().filter_map(|line| line.trim().parse().ok()).collect();
    (!sizes.is_empty()).then(|| sizes.iter().sum::<u64>() * 1024)
}

/// Start times count from 1970 here, so no two boots are mistaken for one.
pub(in crate::process) fn boot() -> String {
    "any".to_owned()
}

fn ps(options: &[&str]) -> String {
    let mut command = Command::new("/bin/ps");
    // No names of months in other languages, nor another hour.
    command.args(options).env_clear().env("LC_ALL", "C").env("TZ", "UTC0").stdin(Stdio::null()).stderr(Stdio::null());
    // Else an agent that is started at the same time may hold its pipe for as long as it lives.
    let _spawning = sys::spawning();
    command.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// `PID PPID PGID STAT LSTART`, where the last is `Wed Dec  2 08:33:16 2026`.
fn process(line: &str) -> Option<Process> {
    let mut words = line.split_ascii_whitespace();
    let mut id = || words.next()?.parse::<i32>().ok();
    let (pid, parent, group) = (id()?, id()?, id()?);
    let state = words.next()?;
    let words: Vec<&str> = words.collect();
    let [_, month, day, time, year] = words.as_slice() else { return None };
    let started = seconds(year.parse().ok()?, month, day.parse().ok()?, time)?;
    Some(Process { pid, parent, group, session: 0, started, alive: !state.starts_with('Z') })
}

/// Seconds since 1970.
fn seconds(year: u64, month: &str, day: u64, time: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let month = MONTHS.iter().position(|name| *name == month)?;
    let leap = |year: u64| year / 4 - year / 100 + year / 400;
    let leaps = leap(if month < 2 { year.checked_sub(1)? } else { year }) - leap(1969);
    let days = (year.checked_sub(1970)?) * 365 + leaps + BEFORE[month] + day.checked_sub(1)?;
    let mut parts = time.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ps() {
        let cases = [
            ("    1     0     1 Ss   Thu Jan  1 00:00:00 1970", Some((1, 0, 1, 0, true))),
            ("  715     1   715 Z+   Wed Dec  2 08:33:16 2026", Some((715, 1, 715, 1_796_200_396, false))),
            ("  715     1   700 R    Thu Feb 29 23:59:59 2024", Some((715, 1, 700, 1_709_251_199, true))),
            ("  715     1   700 R    Fri Mar  1 00:00:00 2024", Some((715, 1, 700, 1_709_251_200, true))),
            ("  715     1   700 R    mer. 2 d\u{e9}c. 08:33:16 2026", None),
            ("  715     1   700 R", None),
            ("", None),
        ];
        for (line, expected) in cases {
            let found = process(line).map(|found| (found.pid, found.parent, found.group, found.started, found.alive));
            assert_eq!(found, expected, "{line}");
        }
    }
}
