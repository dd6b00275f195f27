//! What a look at the file shows.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::WatchWarning;
use crate::digest::Digest;

/// What moves when a file is written, or when another takes its place; without a file, why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    File { device: u64, inode: u64, size: u64, modified: (i64, i64), changed: (i64, i64) },
    None(io::ErrorKind),
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        match fs::metadata(path) {
            Ok(found) => Self::File {
                device: found.dev(),
                inode: found.ino(),
                size: found.size(),
                modified: (found.mtime(), found.mtime_nsec()),
                changed: (found.ctime(), found.ctime_nsec()),
            },
            Err(error) => Self::None(error.kind()),
        }
    }
}

/// What there is to tell of a file.
#[derive(Debug)]
pub(super) enum Change {
    /// It holds something else than what was told last.
    Contents(Vec<u8>, Digest),
    /// It is gone.
    Missing,
    /// It is there, and cannot be read.
    Unreadable(io::Error),
    /// Changes are heard of later from now on.
    Degraded(WatchWarning),
}

impl Change {
    pub(super) fn of(read: io::Result<Vec<u8>>) -> Self {
        match read {
            Ok(bytes) => {
                let digest = Digest::of(&bytes);
                Self::Contents(bytes, digest)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            Err(error) => Self::Unreadable(error),
        }
    }

    /// What tells it from others.
    pub(super) fn key(&self) -> Key {
        match self {
            Self::Contents(_, digest) => Key::Contents(*digest),
            Self::Missing => Key::Missing,
            Self::Unreadable(error) => Key::Unreadable(error.kind(), error.raw_os_error()),
            Self::Degraded(_) => Key::Degraded,
        }
    }
}

/// A [`Change`] in short: two with the same key are told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Contents(Digest),
    Missing,
    Unreadable(io::ErrorKind, Option<i32>),
    Degraded,
}
