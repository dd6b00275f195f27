//! Where a path leads, link by link.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;

/// As many as Linux follows.
const MAX_LINKS: usize = 40;

/// The way from a path to the file it means.
#[derive(Debug)]
pub(crate) struct Route {
    /// The file, free of links. It need not exist, nor its directory: a dangling link leads to where it points.
    pub(crate) end: io::Result<PathBuf>,
    /// The directories whose entries decide where the path leads: that of the file and of each link on the way. Where
    /// the way ends early, the last one that exists.
    pub(crate) dirs: BTreeSet<PathBuf>,
}

/// Follows a path by hand, because the last link may dangle: the system then says only that nothing is there.
pub(crate) fn follow(path: &Path) -> Route {
    let mut dirs = BTreeSet::new();
    let end = walk(path, &mut dirs);
    Route { end, dirs }
}

fn walk(path: &Path, dirs: &mut BTreeSet<PathBuf>) -> io::Result<PathBuf> {
    let mut ahead = Vec::new();
    put_before(&mut ahead, &std::path::absolute(path)?);
    let mut at = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = ahead.pop() {
        if name == ".." {
            at.pop(); // The way here is free of links, so this is the true parent.
            continue;
        }
        let next = at.join(name);
        let found = fs::symlink_metadata(&next);
        let passed = found.as_ref().is_ok_and(fs::Metadata::is_dir) && !ahead.is_empty();
        if !passed {
            dirs.insert(at.clone());
        }
        match found {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::ELOOP.into());
                }
                let to = fs::read_link(&next)?;
                if to.is_absolute() {
                    at = PathBuf::from("/");
                }
                put_before(&mut ahead, &to);
            }
            Ok(found) if found.is_dir() || ahead.is_empty() => at = next,
            Ok(_) => return Err(Errno::ENOTDIR.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                at = next;
                at.extend(ahead.into_iter().rev());
                return Ok(at);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}

fn put_before(ahead: &mut Vec<OsString>, path: &Path) {
    ahead.extend(path.components().rev().filter_map(|part| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_owned()),
        _ => None,
    }));
}

#[cfg(test)]
mod tests;
