//! What a look at the file shows.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

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

/// What was read of the file, in short: to know whether there is something to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    Contents(Digest),
    Missing,
    Unreadable(io::ErrorKind, Option<i32>),
}

impl Sight {
    pub(super) fn of(read: &io::Result<Vec<u8>>) -> Self {
        match read {
            Ok(bytes) => Self::Contents(Digest::of(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            Err(error) => Self::Unreadable(error.kind(), error.raw_os_error()),
        }
    }
}
