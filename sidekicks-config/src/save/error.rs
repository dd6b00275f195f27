//! Why a save failed, and what is true of the file then.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::digest::Digest;
use crate::problem::Problem;

/// Why a text was not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The text has errors, told here with its warnings; nothing was touched.
    #[error("the text has errors; the file is untouched")]
    Invalid(Vec<Problem>),
    /// The text has more than 1 MiB, so that it could not be read again; nothing was touched.
    #[error("the text is larger than 1 MiB; the file is untouched")]
    TooLarge,
    /// Somebody else wrote, made or removed the file meanwhile; `now` is what it holds, `None` if it is gone.
    #[error("the file was changed by somebody else; their text is untouched")]
    #[non_exhaustive]
    ChangedOnDisk {
        /// The digest of what is there now.
        now: Option<Digest>,
    },
    /// The file may not be written by this user.
    #[error("{} is read-only; it is untouched", target.display())]
    #[non_exhaustive]
    ReadOnly {
        /// The file that all links led to.
        target: PathBuf,
    },
    /// A directory, a pipe or a device is in its place.
    #[error("{} is not a regular file; it is untouched", target.display())]
    #[non_exhaustive]
    NotAFile {
        /// What all links led to.
        target: PathBuf,
    },
    /// The system refused a step.
    #[error("could not {step} to save {}; {}", target.display(), step.outcome())]
    #[non_exhaustive]
    Io {
        /// Which step.
        step: SaveStep,
        /// The file that all links led to.
        target: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Writing in place failed half way, and so did putting the old text back. Only where the file could not be
    /// replaced: see [`Saved::atomic`](crate::Saved::atomic).
    #[error("{} was written in part only; its old text is in {}", target.display(), backup.display())]
    #[non_exhaustive]
    HalfWritten {
        /// The file.
        target: PathBuf,
        /// The copy of its old text.
        backup: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The steps of a save, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SaveStep {
    /// Following links to the file that is meant.
    Resolve,
    /// Looking at what is there.
    Inspect,
    /// Making a temporary file in the directory of the file.
    CreateTemporary,
    /// Writing the text to it.
    Write,
    /// Giving it the mode of the old file.
    SetMode,
    /// Flushing it to the disk.
    Sync,
    /// Reading the old file again, to see that nobody changed it.
    Compare,
    /// Renaming the temporary file to the file's name.
    Rename,
    /// Flushing the directory to the disk.
    SyncDirectory,
    /// In place only: copying the old text to the state folder.
    BackUp,
    /// In place only: emptying the file.
    Truncate,
    /// In place only: writing the text to it.
    WriteInPlace,
}

impl SaveStep {
    /// What is true of the file when this step failed.
    fn outcome(self) -> &'static str {
        match self {
            Self::SyncDirectory => "the new text is in place, but may be lost if the power fails now",
            Self::WriteInPlace => "the old text was put back",
            _ => "the old file is untouched",
        }
    }
}

/// What was to be done, as in "could not follow the links".
impl fmt::Display for SaveStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "follow the links",
            Self::Inspect => "look at the file",
            Self::CreateTemporary => "make a temporary file",
            Self::Write => "write the temporary file",
            Self::SetMode => "set the mode of the temporary file",
            Self::Sync => "flush the temporary file",
            Self::Compare => "read the file again",
            Self::Rename => "rename the temporary file",
            Self::SyncDirectory => "flush the directory",
            Self::BackUp => "copy the old text",
            Self::Truncate => "empty the file",
            Self::WriteInPlace => "write in place",
        })
    }
}
