//! Replacing a file in one step, or leaving it as it is.

mod in_place;
mod metadata;
mod state;
mod temporary;

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::contents;
use crate::digest::Digest;
use crate::links;
use crate::save::{SaveError, SaveStep};
use state::State;
use temporary::Temporary;

/// What must be there for a file to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Anything, or nothing.
    Any,
    /// No file.
    Nothing,
    /// A file with this digest.
    Contents(Digest),
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// The digest of the new bytes.
    pub(crate) digest: Digest,
    /// Whether it was done in one step; if not, in place, with a copy of the old bytes kept.
    pub(crate) atomic: bool,
}

/// Puts these bytes in the file that the path leads to.
///
/// Links stay, mode and owner too where the system allows it. A hard link is split, extended attributes and access lists
/// are lost: the file is a new one. A file that did not exist is for its owner alone, since it may hold keys.
pub(crate) fn replace(
    path: &Path,
    bytes: &[u8],
    before: Before,
    state_dir: Option<&Path>,
) -> Result<Replaced, SaveError> {
    replace_asking(path, bytes, before, state_dir, &always)
}

/// Whether a file could be put where the path leads to: what is there may be replaced, and something can be made beside it.
pub(crate) fn probe(path: &Path) -> Result<(), SaveError> {
    let replacement =
        Replacement { target: target(path, &always)?, bytes: &[], before: Before::Any, state: None, may: &always };
    replacement.inspect()?;
    replacement.step(SaveStep::CreateTemporary, || Temporary::create(&replacement.target)).map(drop)
}

fn always(_: SaveStep) -> io::Result<()> {
    Ok(())
}

fn target(path: &Path, may: &dyn Fn(SaveStep) -> io::Result<()>) -> Result<PathBuf, SaveError> {
    let resolved = may(SaveStep::Resolve).and_then(|()| links::follow(path).end);
    resolved.map_err(|source| SaveError::Io { step: SaveStep::Resolve, target: path.to_owned(), source })
}

/// Asks `may` before each step, so that a test can let the step fail, or be killed there.
fn replace_asking(
    path: &Path,
    bytes: &[u8],
    before: Before,
    state_dir: Option<&Path>,
    may: &dyn Fn(SaveStep) -> io::Result<()>,
) -> Result<Replaced, SaveError> {
    let target = target(path, may)?;
    let state = state_dir.map(|folder| State::new(folder, &target));
    let _lock = state.as_ref().and_then(|state| state.lock(state::PATIENCE));
    Replacement { target, bytes, before, state, may }.run()
}

struct Replacement<'a> {
    target: PathBuf,
    bytes: &'a [u8],
    before: Before,
    state: Option<State>,
    may: &'a dyn Fn(SaveStep) -> io::Result<()>,
}

impl Replacement<'_> {
    fn run(&self) -> Result<Replaced, SaveError> {
        let old = self.inspect()?;
        temporary::remove_stale(&self.target);
        let mut new = self.step(SaveStep::CreateTemporary, || Temporary::create(&self.target))?;
        self.step(SaveStep::Write, || new.write(self.bytes))?;
        self.step(SaveStep::SetMode, || metadata::copy(old.as_ref(), new.file()))?;
        self.step(SaveStep::Sync, || new.file().sync_all())?;
        self.compare()?;
        let digest = Digest::of(self.bytes);
        match self.step(SaveStep::Rename, || self.put(&mut new)) {
            Ok(()) => {}
            Err(SaveError::Io { source, .. }) if old.is_some() && is_fixed(&source) && self.state.is_some() => {
                drop(new); // Its room may be needed.
                self.write_in_place()?;
                return Ok(Replaced { digest, atomic: false });
            }
            Err(SaveError::Io { source, .. })
                if self.before == Before::Nothing && source.kind() == ErrorKind::AlreadyExists =>
            {
                return Err(SaveError::ChangedOnDisk { now: self.now()? });
            }
            Err(error) => return Err(error),
        }
        drop(new); // Its name, where it got a second one, should go in the same flush.
        self.step(SaveStep::SyncDirectory, || sync_directory(&self.target))?;
        Ok(Replaced { digest, atomic: true })
    }

    fn step<T>(&self, step: SaveStep, run: impl FnOnce() -> io::Result<T>) -> Result<T, SaveError> {
        (self.may)(step).and_then(|()| run()).map_err(|source| SaveError::Io {
            step,
            target: self.target.clone(),
            source,
        })
    }

    /// The old file, if there is one that may be replaced.
    fn inspect(&self) -> Result<Option<Metadata>, SaveError> {
        let (old, writable) = self.step(SaveStep::Inspect, || {
            let old = absent(fs::symlink_metadata(&self.target))?;
            let writable = old.is_none() || metadata::writable(&self.target)?;
            Ok((old, writable))
        })?;
        match &old {
            Some(found) if !found.is_file() => Err(SaveError::NotAFile { target: self.target.clone() }),
            Some(_) if !writable => Err(SaveError::ReadOnly { target: self.target.clone() }),
            _ => Ok(old),
        }
    }

    fn compare(&self) -> Result<(), SaveError> {
        let expected = match self.before {
            Before::Any => return Ok(()),
            Before::Nothing => None,
            Before::Contents(digest) => Some(digest),
        };
        let now = self.now()?;
        if now == expected { Ok(()) } else { Err(SaveError::ChangedOnDisk { now }) }
    }

    fn now(&self) -> Result<Option<Digest>, SaveError> {
        let bytes = self.step(SaveStep::Compare, || absent(contents::read(&self.target)))?;
        Ok(bytes.map(|bytes| Digest::of(&bytes)))
    }

    fn put(&self, new: &mut Temporary) -> io::Result<()> {
        if self.before == Before::Nothing {
            match fs::hard_link(new.path(), &self.target) {
                // A second name fails where a file has come into being, which a rename would overwrite.
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
                Err(_) => {} // No hard links here, as on FAT.
            }
        }
        new.rename(&self.target)
    }
}

/// `None` where nothing is there.
fn absent<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether this failed because the file's name cannot be given to another file: it is a mount of its own.
fn is_fixed(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::CrossesDevices)
}

/// Makes a rename in the directory of this file last through a power cut, where the system can do that.
fn sync_directory(file: &Path) -> io::Result<()> {
    let synced = File::open(file.parent().unwrap_or(file)).and_then(|directory| directory.sync_all());
    // A directory that may be written but not read, or a file system that knows no such thing.
    let cannot = [Errno::EACCES, Errno::EPERM, Errno::EINVAL, Errno::ENOTSUP].map(|errno| Some(errno as i32));
    match synced {
        Err(error) if !cannot.contains(&error.raw_os_error()) => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
