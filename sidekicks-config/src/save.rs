//! Saving a text so that the file is the old one or the new one, whatever happens.

mod error;

use std::path::{Path, PathBuf};

pub use error::{SaveError, SaveStep};

use crate::contents;
use crate::digest::Digest;
use crate::problem::Problem;
use crate::replace::{Before, Replaced, probe, replace};
use crate::validate::validate;

/// How to save.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaveOptions {
    /// A folder of this program's own, for lock files and for the copy that is kept while a file is written in place. It
    /// is made when it is missing. [`SaveOptions::state_dir()`] tells what is lost without one.
    pub state_dir: Option<PathBuf>,
}

impl SaveOptions {
    /// Uses this folder for locks and copies.
    ///
    /// Processes that use the same folder take turns, and none overwrites what another saved. Without a folder, or where
    /// it cannot be locked, two saves within microseconds of each other can still do that; and a file that cannot be
    /// replaced, only written in place, is not written at all, since being interrupted then would leave no whole text.
    pub fn state_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state_dir = Some(folder.into());
        self
    }
}

/// What a save did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// The digest of the text: what to expect at the next save.
    pub digest: Digest,
    /// Whether the file was replaced in one step. If not, it cannot be replaced, as when a container mounts it alone: it
    /// was written in place, and its old text is in the state folder, in a file whose name begins with `backup-`. One
    /// that could not be read, as after a save that was killed, does not replace the copy of one that could.
    pub atomic: bool,
    /// What is doubtful in the text, none of it an error.
    pub warnings: Vec<Problem>,
}

/// Saves a text, whatever the file holds.
///
/// That loses what somebody else wrote meanwhile, so this is for what was said to be overwritten.
/// [`save_if_unchanged`] tells what else there is to know.
///
/// # Errors
///
/// Those of [`save_if_unchanged`], less [`SaveError::ChangedOnDisk`].
pub fn save(path: &Path, text: &str, options: &SaveOptions) -> Result<Saved, SaveError> {
    save_after(Before::Any, path, text, options)
}

/// Saves a text if the file still is what it was when it was read: [`Loaded::digest`](crate::Loaded::digest), or
/// [`Saved::digest`] of the last save, or `None` where there was no file.
///
/// Whenever the process is killed or the power fails, the file is the old one or the new one, and whoever reads it sees
/// one of them whole; the exception is [`Saved::atomic`]. The text is saved byte for byte. It may not have errors, but
/// what was there before may.
///
/// Links stay, and what they lead to is written; a link to nothing leads to where the file is made. Mode and owner stay
/// as far as the system allows; a new file is readable by its owner alone, since it may hold keys. The file is a new one
/// to the system: other hard links keep the old text, and access lists and extended attributes are lost. Directories are
/// not made.
///
/// Blocks while it writes and flushes, about a millisecond, and while another process saves the same file, some seconds
/// at most.
///
/// ```
/// use sidekicks_config::{SaveError, SaveOptions, load, save_if_unchanged};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sidekicks.jsonc");
/// # let options = SaveOptions::default().state_dir(folder.path().join("state"));
/// let text = r#"{ "version": 1, "agents": { "riker": { "command": "codex-acp" } } }"#;
/// save_if_unchanged(&path, text, None, &options)?;
///
/// let loaded = load(&path)?;
/// std::fs::write(&path, "{} // somebody else")?;
/// let error = save_if_unchanged(&path, text, Some(&loaded.digest), &options).unwrap_err();
/// assert!(matches!(error, SaveError::ChangedOnDisk { .. }));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the text has errors, if the file is not what it was, or if it cannot be written. Each [`SaveError`] says what is
/// true of the file then; only after [`SaveError::HalfWritten`] is it neither old nor new.
pub fn save_if_unchanged(
    path: &Path,
    text: &str,
    expected: Option<&Digest>,
    options: &SaveOptions,
) -> Result<Saved, SaveError> {
    save_after(expected.map_or(Before::Nothing, |digest| Before::Contents(*digest)), path, text, options)
}

/// Whether a file can be saved here, as far as that can be told beforehand: before a person begins to write, say.
///
/// Makes a file beside it, and removes it again. What is in the way later, another change of the file or a full disk, only
/// the save tells.
///
/// # Errors
///
/// That of the save: there is something else, it is read-only, or its directory is missing or cannot be written.
///
/// ```
/// use sidekicks_config::{SaveError, can_save};
///
/// let folder = tempfile::tempdir()?;
/// assert!(can_save(&folder.path().join("sidekicks.jsonc")).is_ok());
/// assert!(matches!(can_save(folder.path()), Err(SaveError::NotAFile { .. })));
/// assert!(can_save(&folder.path().join("gone/sidekicks.jsonc")).is_err());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn can_save(path: &Path) -> Result<(), SaveError> {
    probe(path)
}

fn save_after(before: Before, path: &Path, text: &str, options: &SaveOptions) -> Result<Saved, SaveError> {
    if text.len() as u64 > contents::MAX_LEN {
        return Err(SaveError::TooLarge);
    }
    let problems = validate(text);
    if problems.iter().any(Problem::is_error) {
        return Err(SaveError::Invalid(problems));
    }
    let Replaced { digest, atomic } = replace(path, text.as_bytes(), before, options.state_dir.as_deref())?;
    Ok(Saved { digest, atomic, warnings: problems })
}
