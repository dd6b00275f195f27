//! Saving a text so that the file is the old one or the new one, whatever happens.

mod error;

use std::path::PathBuf;

pub use error::{SaveError, SaveStep};

use crate::digest::Digest;
use crate::problem::Problem;

/// How to save.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaveOptions {
    /// A folder of this program's own, for lock files and for the copy that is kept while a file is written in place. It
    /// is made when it is missing. Without one, see [`SaveOptions::state_dir`].
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
    /// was written in place, and its old text is in the state folder, in a file whose name begins with `backup-`.
    pub atomic: bool,
    /// What is doubtful in the text, none of it an error.
    pub warnings: Vec<Problem>,
}
