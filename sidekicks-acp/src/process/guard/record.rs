//! The file that says which agents of a program run.
//!
//! `PID.START.NUMBER.run`, named after the program. The first line names the boot of the machine, since start times count
//! from it; then `+ PID START` for each agent that starts and `- PID START` for each that is gone.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Instant;

use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::unistd::Uid;

use super::about;
use crate::process::family::{self, Member};
use crate::process::listing::{self, POLL};

/// What the name of each file ends in.
const ENDING: &str = ".run";

/// How many names are tried.
const NAMES: u64 = 10_000;

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
        let owner = Member::ourselves();
        let path = |number| folder.join(format!("{owner}.{number}{ENDING}"));
        // Others of these names are of this program, before it executed another or from another copy of this crate; or of
        // one with the same number and start time in another container.
        let (path, file) = (0..NAMES)
            .map(|number| (path(number), Self::locked(&path(number))))
            .find(|(_, file)| !matches!(file, Err(error) if error.kind() == io::ErrorKind::AlreadyExists))
            .ok_or_else(|| about(&path(0), &io::ErrorKind::AlreadyExists.into()))?;
        let file = file.map_err(|error| about(&path, &error))?;
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
    owner: Member,
    /// Whether the machine still runs that it ran on.
    same_boot: bool,
    /// The agents that were running.
    pub(super) agents: Vec<Member>,
}

impl Remains {
    /// `None` where the program lives, somebody else deals with its file, or it is no file of ours.
    ///
    /// Waits for its lock until then where it is of this boot: the last threads of a program that is dying hold it for a
    /// moment longer, and somebody else who deals with the file for a second or two.
    pub(super) fn open(path: &Path, boot: &str, until: Instant) -> Option<Self> {
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
        // What ran on another boot or in another container is not known to be dead by its number: it may hold its lock.
        let here = first_line(&file)? == boot;
        let lock = locked(file, here.then_some(until))?;
        if lock.metadata().ok()?.nlink() == 0 {
            return None; // Somebody else has dealt with it meanwhile.
        }
        (&*lock).rewind().ok()?;
        let mut text = Vec::new();
        (&*lock).take(MOST).read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text);
        // Whoever ran before the machine was started anew is gone, whatever has its number and start time now.
        let same_boot = text.lines().next() == Some(boot);
        let agents = if same_boot { running(&text) } else { Vec::new() };
        Some(Self { path: path.to_owned(), _lock: lock, owner, same_boot, agents })
    }

    /// Who carries a marker of this program, and who stems from them.
    pub(super) fn marked(&self) -> Vec<Member> {
        match self.same_boot {
            true => family::marked(&format!("{}/", self.owner)),
            false => Vec::new(),
        }
    }

    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Waits for the lock until then, or not at all.
fn locked(mut file: File, until: Option<Instant>) -> Option<Flock<File>> {
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Some(lock),
            Err((same, _)) if until.is_some_and(|until| Instant::now() < until) => file = same,
            Err(_) => return None,
        }
        sleep(POLL);
    }
}

fn first_line(file: &File) -> Option<String> {
    let mut head = Vec::new();
    BufReader::new(file.take(MOST)).read_until(b'\n', &mut head).ok()?;
    Some(String::from_utf8_lossy(head.strip_suffix(b"\n").unwrap_or(&head)).into_owned())
}

/// The program that a file is named after.
fn owner(name: &str) -> Option<Member> {
    let (owner, number) = name.strip_suffix(ENDING)?.rsplit_once('.')?;
    number.parse::<u64>().ok()?;
    let (pid, started) = owner.split_once('.')?;
    member(pid, started, 1)
}

/// The agents that were added and not removed. What makes no sense is passed over.
fn running(text: &str) -> Vec<Member> {
    let mut agents = BTreeSet::new();
    for line in text.lines().skip(1) {
        let mut words = line.split(' ');
        let (what, pid, started) = (words.next(), words.next(), words.next());
        let Some(agent) = pid.zip(started).and_then(|(pid, started)| member(pid, started, 2)) else { continue };
        match what {
            Some("+") => drop(agents.insert(agent)),
            Some("-") => drop(agents.remove(&agent)),
            _ => {}
        }
    }
    agents.into_iter().collect()
}

/// In a container a program may be number 1. No group has a number below 2 that may be signalled: 0 is our own, and 1 and
/// -1 are everybody's.
fn member(pid: &str, started: &str, least: i32) -> Option<Member> {
    let pid = pid.parse().ok().filter(|pid| *pid >= least)?;
    Some(Member { pid, started: started.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let records = [0, 1, 2].map(|_| Record::create(folder.path()).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        drop(records);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn names_of_files() {
        let cases = [
            ("12.345.0.run", Some("12.345")),
            ("12.345.67.run", Some("12.345")),
            ("12.345.run", None),
            ("12.345.0.run~", None),
            ("1.345.0.run", Some("1.345")),
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
