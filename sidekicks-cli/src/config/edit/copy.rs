//! The copy of a file that is edited.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A copy in a folder of its own, which nobody else can look into: the file may hold keys, and so may what an editor puts
/// beside it. It goes when this is dropped, unless it is kept.
pub(super) struct Copy {
    folder: TempDir,
    path: PathBuf,
    /// What it held in the beginning.
    original: Vec<u8>,
}

impl Copy {
    /// A copy of what `path` holds, under the same name, so that an editor knows what it is.
    pub(super) fn of(path: &Path, original: Vec<u8>) -> io::Result<Self> {
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("sidekicks-").permissions(private).tempdir()?;
        let copy = folder.path().join(path.file_name().unwrap_or("sidekicks.jsonc".as_ref()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&copy)?;
        file.write_all(&original)?;
        Ok(Self { folder, path: copy, original })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it still is what it was. One that cannot be read is not.
    pub(super) fn is_unchanged(&self) -> bool {
        std::fs::read(&self.path).is_ok_and(|now| now == self.original)
    }

    /// Lets it stay.
    pub(super) fn keep(self) -> PathBuf {
        let _ = self.folder.keep();
        self.path
    }
}
