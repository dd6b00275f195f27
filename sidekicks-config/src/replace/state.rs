//! The folder with the locks and the copies.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

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

    /// Waits until no other process saves this file. `None` where there can be no lock: a save matters more.
    pub(super) fn lock(&self) -> Option<Flock<File>> {
        self.make_folder().ok()?;
        let path = self.folder.join(format!("save-{:016x}.lock", self.hash));
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).ok()?;
        loop {
            match Flock::lock(file, FlockArg::LockExclusive) {
                Ok(lock) => return Some(lock),
                Err((back, Errno::EINTR)) => file = back,
                Err(_) => return None,
            }
        }
    }

    /// Where the old text is kept while the file is written in place.
    pub(super) fn backup(&self) -> PathBuf {
        self.folder.join(format!("backup-{:016x}", self.hash))
    }

    pub(super) fn make_folder(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
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
}
