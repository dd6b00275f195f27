//! The file that says which agents of a program run.
//!
//! `PID.START.NUMBER.run`, named after the program. The first line names the boot of the machine, since start times count
//! from it; then `+ PID START` for each agent that starts and `- PID START` for each that is gone.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::unistd::Uid;

use super::about;
use crate::process::family::Member;
use crate::process::listing;

/// What the name of each file ends in.
const ENDING: &str = ".run";

/// More than a program writes that starts an agent every second for a day without a pause.
const MOST: u64 = 16 << 20;

/// Our own file, locked for as long as we live.
pub(super) struct Record {
    path: PathBuf,
    file: Flock<File>,
    header: u64,
}

impl Record {
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{}.{number}{ENDING}", Member::ourselves()));
        let file = Self::locked(&path).map_err(|error| about(&path, &error))?;
        let header = format!("{}\n", listing::boot());
        let mut record = Self { path, file, header: header.len() as u64 }; // Removed again when this fails.
        record.file.write_all(header.as_bytes()).map_err(|error| about(&record.path, &error))?;
        Ok(record)
    }

    fn locked(path: &Path) -> io::Result<Flock<File>> {
        loop {
            let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
            let file = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error)?;
            // Somebody who does not see us (in another container, where our number says nothing) may have taken it for a
            // dead program's before it was locked.
            if file.metadata()?.nlink() > 0 {
                return Ok(file);
            }
        }
    }

    pub(super) fn add(&mut self, agent: Member) {
        self.write(&format!("+ {} {}\n", agent.pid, agent.started));
    }

    /// Begins anew where that was the `last`, so that it stays small.
    pub(super) fn remove(&mut self, agent: Member, last: bool) {
        match last && self.file.set_len(self.header).is_ok() {
            true => {}
            false => self.write(&format!("- {} {}\n", agent.pid, agent.started)),
        }
    }

    fn write(&mut self, line: &str) {
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // A full disk is no reason not to run an agent, and the shell knows of it.
            tracing::debug!(path = %self.path.display(), %error, "the record of agents is not complete");
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The file of a program that is dead, locked so that nobody else deals with it at the same time.
pub(super) struct Remains {
    path: PathBuf,
    _lock: Flock<File>,
    pub(super) owner: Member,
    /// Whether the machine still runs that it ran on.
    pub(super) same_boot: bool,
    /// The agents that were running.
    pub(super) agents: Vec<Member>,
}

impl Remains {
    /// `None` where the program lives, somebody else deals with its file, or it is no file of ours.
    pub(super) fn open(path: &Path, boot: &str) -> Option<Self> {
        // Looked at first: it may have made the file and not locked it yet.
        let owner = owner(path.file_name()?.to_str()?).filter(|owner| !owner.is_alive())?;
        // Neither a pipe, nor what somebody else has put here.
        let ours = |about: Metadata| about.is_file() && about.uid() == Uid::effective().as_raw();
        let file = OpenOptions::new()
            .read(true)
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(path)
            .ok()
            .filter(|file| file.metadata().is_ok_and(ours))?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
        let mut text = Vec::new();
        (&*lock).take(MOST).read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text);
        // Whoever ran before the machine was started anew is gone, whatever has its number and start time now.
        let same_boot = text.lines().next() == Some(boot);
        let agents = if same_boot { running(&text) } else { Vec::new() };
        Some(Self { path: path.to_owned(), _lock: lock, owner, same_boot, agents })
    }

    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The program that a file is named after.
fn owner(name: &str) -> Option<Member> {
    let (owner, number) = name.strip_suffix(ENDING)?.rsplit_once('.')?;
    number.parse::<u64>().ok()?;
    let (pid, started) = owner.split_once('.')?;
    member(pid, started)
}

/// The agents that were added and not removed. What makes no sense is passed over.
fn running(text: &str) -> Vec<Member> {
    let mut agents = Vec::new();
    for line in text.lines().skip(1) {
        let mut words = line.split(' ');
        let (what, pid, started) = (words.next(), words.next(), words.next());
        let Some(agent) = pid.zip(started).and_then(|(pid, started)| member(pid, started)) else { continue };
        match what {
            Some("+") => agents.push(agent),
            Some("-") => agents.retain(|other| *other != agent),
            _ => {}
        }
    }
    agents
}

/// No group has a number below 2 that may be signalled: 0 is our own, and 1 and -1 are everybody's.
fn member(pid: &str, started: &str) -> Option<Member> {
    let pid = pid.parse().ok().filter(|pid| *pid > 1)?;
    Some(Member { pid, started: started.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let cases = [
            ("12.345.0.run", Some("12.345")),
            ("12.345.67.run", Some("12.345")),
            ("12.345.run", None),
            ("12.345.0.run~", None),
            ("0.345.0.run", None),
            ("-12.345.0.run", None),
            ("12.x.0.run", None),
            ("99999999999.1.0.run", None),
            (".run", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(owner(name).map(|owner| owner.to_string()).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn contents_of_files() {
        let cases = [
            ("", ""),
            ("boot\n", ""),
            ("+ 5 6\n", ""), // The first line names the boot.
            ("boot\n+ 5 6\n+ 7 8\n- 5 6\n", "7.8"),
            ("boot\n+ 5 6\n- 5 7\n", "5.6"),
            ("boot\n+ 5 6\n- 5 6\n+ 5 7\n", "5.7"),
            ("boot\n+ 0 6\n+ 1 6\n+ -7 6\n+ x 6\n+ 9\n\u{FFFD}\n* 5 6\n+ 11 12\n+ 13 14", "11.12 13.14"),
        ];
        for (text, expected) in cases {
            let agents: Vec<String> = running(text).iter().map(ToString::to_string).collect();
            assert_eq!(agents.join(" "), expected, "{text:?}");
        }
    }
}
