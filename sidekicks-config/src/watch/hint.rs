//! Asking the system to say when something may have changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use notify::event::EventKind;
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::WatchWarning;
use super::signal::Signal;
use crate::links;

/// After so many rounds the links change faster than they can be followed; the timer will tell.
const MAX_ROUNDS: usize = 5;

/// Watches directories, never the file: a watch on a file ends when another takes its place.
pub(super) struct Hints {
    signal: Signal,
    watcher: Option<RecommendedWatcher>,
    /// With the device and inode that each had when it was watched.
    watched: BTreeMap<PathBuf, (u64, u64)>,
}

impl Hints {
    pub(super) fn new(signal: Signal) -> Self {
        Self { signal, watcher: None, watched: BTreeMap::new() }
    }

    /// Watches every directory that the path's meaning depends on, and none else.
    ///
    /// To be repeated, since a directory that was removed is no longer watched. Whatever changes after this returns is
    /// hinted at, unless it fails.
    pub(super) fn arm(&mut self, path: &Path) -> Result<(), WatchWarning> {
        for _ in 0..MAX_ROUNDS {
            if !self.watch_all(path)? {
                break;
            }
            // A link may have been changed before its directory was watched, so the way is followed again.
        }
        Ok(())
    }

    /// Returns whether a directory is watched that was not before, or is gone.
    fn watch_all(&mut self, path: &Path) -> Result<bool, WatchWarning> {
        let dirs = links::follow(path).dirs;
        let ids: BTreeMap<_, _> = dirs.into_iter().map(|dir| (dir.clone(), id(&dir))).collect();
        let watcher = match &mut self.watcher {
            Some(watcher) => watcher,
            none => none.insert(watcher(self.signal.clone()).map_err(warning)?),
        };
        self.watched.retain(|dir, watched| {
            let same = ids.get(dir) == Some(&Some(*watched));
            if !same {
                let _ = watcher.unwatch(dir); // It may be gone already.
            }
            same
        });
        let mut news = false;
        let mut refused = None;
        for (dir, id) in ids {
            let known = self.watched.contains_key(&dir);
            // The kernel ends the watch of a removed directory, and a new one may get its inode number: so again and again
            // on Linux, where it costs little. Elsewhere all watches would start anew, and miss what happens meanwhile.
            if known && !cfg!(target_os = "linux") {
                continue;
            }
            match (watcher.watch(&dir, RecursiveMode::NonRecursive), id) {
                (Ok(()), Some(id)) => news |= self.watched.insert(dir, id).is_none(),
                (Err(error), Some(_)) if !is_gone(&error) => refused = Some(error),
                _ => news = true,
            }
        }
        refused.map_or(Ok(news), |error| Err(warning(error)))
    }
}

fn id(dir: &Path) -> Option<(u64, u64)> {
    fs::metadata(dir).ok().map(|found| (found.dev(), found.ino()))
}

fn watcher(signal: Signal) -> notify::Result<RecommendedWatcher> {
    notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Our own reading is an access: heeding it would never end.
        if !event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
            signal.hint();
        }
    })
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(error) => error.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}

fn warning(error: notify::Error) -> WatchWarning {
    match error.kind {
        ErrorKind::MaxFilesWatch => WatchWarning::LimitReached,
        ErrorKind::Io(error) if error.raw_os_error() == Some(Errno::EMFILE as i32) => WatchWarning::LimitReached,
        ErrorKind::Io(error) => WatchWarning::Refused(error),
        _ => WatchWarning::Refused(io::Error::other(error.to_string())),
    }
}
