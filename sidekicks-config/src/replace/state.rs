//! The folder with the locks and the copies.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::contents;

/// A save takes a millisecond, so a process that holds the lock so long is stopped or hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// How often the lock is tried.
const PAUSE: Duration = Duration::from_millis(2);

/// What the folder holds for one file.
#[derive(Debug)]
pub(super) struct State {
    folder: PathBuf,
    /// Of the file's path: the same in every process and every build.
    hash: u64,
}

impl State {
    pub(super) fn new(folder: &Path, target: &Path) -> Self {
        Self { folder: folder.to_owned(), hash: fnv1a(target.as_os_str().as_bytes()) }
    }

    /// Waits until no other process saves this file, but not longer than `patience`. `None` where there is no lock to be
    /// had: a save matters more.
    pub(super) fn lock(&self, patience: Duration) -> Option<Lock> {
        self.make_folder().ok()?;
        let path = self.folder.join(format!("save-{:016x}.lock", self.hash));
        let mut options = OpenOptions::new();
        let mut file = contents::open(&path, options.write(true).create(true).truncate(false).mode(0o600)).ok()?;
        let start = Instant::now();
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => return Some(Lock(Some(lock))),
                Err((same, Errno::EAGAIN)) if start.elapsed() < patience => file = same,
                Err(_) => return None,
            }
            thread::sleep(PAUSE);
        }
    }

    /// Where the old text is kept while the file is written in place.
    pub(super) fn backup(&self) -> PathBuf {
        self.folder.join(format!("backup-{:016x}", self.hash))
    }

    /// Where a text is kept that cannot be read, while the other one may be the only whole one.
    pub(super) fn second_backup(&self) -> PathBuf {
        self.folder.join(format!("backup-{:016x}-damaged", self.hash))
    }

    pub(super) fn make_folder(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
    }
}

/// Held until it is dropped, or until the process ends, however it does.
#[derive(Debug)]
pub(super) struct Lock(Option<Flock<File>>);

impl Drop for Lock {
    /// By hand, since a [`Flock`] that is dropped panics where unlocking fails.
    fn drop(&mut self) {
        if let Some(Err((lock, _))) = self.0.take().map(Flock::unlock) {
            mem::forget(lock);
        }
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_do_not_depend_on_the_build() {
        let state = State::new(Path::new("/state"), Path::new("a"));
        assert_eq!(state.backup(), Path::new("/state/backup-af63dc4c8601ec8c"));
    }

    #[test]
    fn one_at_a_time_for_each_file() {
        let folder = tempfile::tempdir().unwrap();
        let [state, other] = ["a", "b"].map(|target| State::new(folder.path(), Path::new(target)));
        let lock = state.lock(Duration::ZERO);
        assert!(lock.is_some());
        assert!(state.lock(PAUSE).is_none());
        assert!(other.lock(Duration::ZERO).is_some());
        drop(lock);
        assert!(state.lock(Duration::ZERO).is_some());
    }
}
