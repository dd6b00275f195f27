//! The file of the preferences.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::aside::set_aside;
use crate::disk;
use crate::document::Document;
use crate::location::preferences_file;
use crate::lock::Lock;
use crate::notice::Notice;
use crate::preferences::{Canonical, Preferences};

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where the preferences are kept. It holds nothing but a path: each call reads the file anew.
///
/// Calls block: a change waits up to 2 seconds for other processes, and so does [`read`](Self::read) where it finds a
/// damaged file. In an async program call them from a blocking task, tokio's `spawn_blocking` say.
#[derive(Debug, Clone)]
pub struct Store {
    path: Option<PathBuf>,
    patience: Duration,
}

/// What came of a change.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Updated {
    /// What the store holds now.
    pub preferences: Preferences,
    /// Whether that has the change. Where it has not, a notice tells why, unless the store has no path.
    pub saved: bool,
    /// What the user should hear of.
    pub notices: Vec<Notice>,
}

impl Store {
    /// The store of this user: `$SIDEKICKS_PREFS` if that is set to something, else `sidekicks/preferences.json` in the
    /// folder that [`standard_config`](crate::standard_config) tells of. Where there is none, nothing is remembered.
    pub fn standard(env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        Self::maybe_at(preferences_file(env))
    }

    /// A store in this file. Neither it nor its folder need be there.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self::maybe_at(Some(path.into()))
    }

    fn maybe_at(path: Option<PathBuf>) -> Self {
        let path = path.map(|path| path::absolute(&path).unwrap_or(path));
        Self { path, patience: PATIENCE }
    }

    /// The file, as it was named and made absolute. `None` where there is no home: reading gives defaults then, and a
    /// change is not saved.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What is remembered, and what the user should hear of. Defaults stand in for all that cannot be read.
    ///
    /// Writes nothing, with one exception: a file that is no JSON object is renamed (see [`Notice::Damaged`]).
    pub fn read(&self) -> (Preferences, Vec<Notice>) {
        let unchanged = self.edit(|_| true);
        (unchanged.preferences, unchanged.notices)
    }

    /// Remembers that this configuration file was opened: it becomes the last one and the first of the recent ones.
    /// Call this when opening has succeeded. A relative path is made absolute.
    ///
    /// Nothing is written where nothing changes.
    pub fn opened(&self, config: impl AsRef<Path>) -> Updated {
        match memorable(config.as_ref()) {
            Ok(config) => self.change(|before, canonical| before.opened(&config, canonical)),
            Err(notice) => {
                let mut unchanged = self.edit(|_| true);
                unchanged.saved = false;
                unchanged.notices.push(notice);
                unchanged
            }
        }
    }

    /// Removes a configuration file from the recent ones, whether or not it is still there. Where it is the last one
    /// too, there is no last one afterwards.
    pub fn forget(&self, config: impl AsRef<Path>) -> Updated {
        let config = config.as_ref();
        let config = path::absolute(config).unwrap_or_else(|_| config.to_owned());
        self.change(|before, canonical| before.forgot(&config, canonical))
    }

    fn change(&self, to: impl Fn(&Preferences, Canonical<'_>) -> Preferences) -> Updated {
        // A disk that does not answer would have others wait for the lock, so links are mostly followed before it is taken.
        let known = RefCell::new(HashMap::new());
        let canonical = |path: &Path| -> Option<PathBuf> {
            let place = known.borrow().get(path).cloned();
            place.unwrap_or_else(|| {
                known.borrow_mut().entry(path.to_owned()).or_insert(fs::canonicalize(path).ok()).clone()
            })
        };
        self.edit(|document| document.set(&to(&document.preferences(), &canonical)))
    }

    /// Changes what the file says now, never what it said some time ago. `change` tells whether all could be changed,
    /// and may be called twice.
    fn edit(&self, change: impl Fn(&mut Document) -> bool) -> Updated {
        let mut done = Updated::default();
        if let Some(path) = &self.path
            && let Err(notice) = self.try_edit(path, change, &mut done)
        {
            done.notices.push(notice);
        }
        done
    }

    fn try_edit(&self, path: &Path, change: impl Fn(&mut Document) -> bool, done: &mut Updated) -> Result<(), Notice> {
        // All that is written is beside the file itself: two links to it are one store, with one lock.
        let path = &disk::resolve(path).map_err(|error| Notice::unreadable(path, error))?;

        // First without a lock: most of the time there is nothing to change, and a disk may be read-only.
        match load(path)? {
            Some(before) => {
                let mut after = before.clone();
                done.saved = change(&mut after) && after == before;
                done.preferences = before.preferences();
                if done.saved {
                    return Ok(());
                }
            }
            None => done.notices.push(Notice::Damaged { path: path.clone(), kept_as: None }),
        }

        let _lock = self.lock(path)?;
        let before = load_or_set_aside(path, &mut done.notices)?;
        let mut after = before.clone();
        let all = change(&mut after);
        done.preferences = before.preferences();
        if after != before {
            save(path, &after)?;
            done.preferences = after.preferences();
        }
        done.saved = all;
        match after.newer_version() {
            Some(version) if !all => Err(Notice::NewerVersion { path: path.clone(), version }),
            _ => Ok(()),
        }
    }

    fn lock(&self, path: &Path) -> Result<Lock, Notice> {
        let lock = disk::lock_of(path);
        let taken = disk::make_folder(path).and_then(|()| Lock::take(&lock, self.patience));
        taken.map_err(|error| Notice::not_saved(path, error))?.ok_or(Notice::Busy { lock })
    }
}

/// What the file says: nothing where it is missing. `None` where it makes no sense.
fn load(path: &Path) -> Result<Option<Document>, Notice> {
    Ok(match disk::read(path)? {
        Some(text) => Document::parse(&text),
        None => Some(Document::default()),
    })
}

/// Under the lock. The notices may say already that the file is damaged.
fn load_or_set_aside(path: &Path, notices: &mut Vec<Notice>) -> Result<Document, Notice> {
    if let Some(document) = load(path)? {
        notices.clear(); // Another process has repaired it.
        return Ok(document);
    }
    let kept_as = set_aside(path).map_err(|error| Notice::not_saved(path, error))?;
    *notices = vec![Notice::Damaged { path: path.to_owned(), kept_as: Some(kept_as) }];
    Ok(Document::default())
}

fn save(path: &Path, document: &Document) -> Result<(), Notice> {
    let not_saved = |error| Notice::not_saved(path, error);
    let text = document.text().map_err(not_saved)?;
    if text.len() as u64 > disk::MOST_BYTES {
        return Err(Notice::TooLarge { path: path.to_owned(), limit: disk::MOST_BYTES });
    }
    disk::write(path, &text).map_err(not_saved)
}

/// The path as it can be remembered, in JSON and for other working folders.
fn memorable(config: &Path) -> Result<PathBuf, Notice> {
    let path = path::absolute(config)
        .map_err(|error| Notice::NoAbsolutePath { path: config.to_owned(), error: Arc::new(error) })?;
    if path.to_str().is_some() { Ok(path) } else { Err(Notice::NotUnicode { path }) }
}

#[cfg(test)]
mod tests;
