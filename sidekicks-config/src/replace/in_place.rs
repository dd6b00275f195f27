//! Writing a file that cannot be replaced, because it is a mount of its own.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::PathBuf;

use super::Replacement;
use super::temporary::{self, Temporary};
use crate::contents;
use crate::save::{SaveError, SaveStep};
use crate::syntax;

impl Replacement<'_> {
    /// Whoever reads in between, or after a kill, sees a part of the text. The old one is in the state folder by then.
    pub(super) fn write_in_place(&self) -> Result<(), SaveError> {
        let (old, backup) = self.step(SaveStep::BackUp, || self.back_up())?;
        self.compare()?;
        let mut file = self.step(SaveStep::Truncate, || {
            let file = contents::open(&self.target, OpenOptions::new().write(true))?;
            file.set_len(0)?;
            Ok(file)
        })?;
        let written = self.step(SaveStep::WriteInPlace, || write(&mut file, self.bytes));
        written.map_err(|error| match (error, write(&mut file, &old)) {
            (SaveError::Io { source, target, .. }, Err(_)) => SaveError::HalfWritten { target, backup, source },
            (error, _) => error,
        })
    }

    /// Keeps a copy of the old bytes, which outlives a power cut, and returns them and its place.
    ///
    /// What a save that was killed has left of a text does not take the place of the copy that it made of the whole one.
    fn back_up(&self) -> io::Result<(Vec<u8>, PathBuf)> {
        let state = self.state.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let old = contents::read(&self.target)?;
        let whole = state.backup();
        let backup = if is_whole(&old) || !whole.try_exists()? { whole } else { state.second_backup() };
        state.make_folder()?;
        temporary::remove_stale(&backup);
        let mut copy = Temporary::create(&backup)?;
        copy.write(&old)?;
        copy.file().sync_all()?;
        copy.rename(&backup)?;
        super::sync_directory(&backup)?;
        Ok((old, backup))
    }
}

/// Whether a configuration can be read in these bytes as it is written, so that they are not the beginning of one.
fn is_whole(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok_and(|text| !syntax::read(text).found.iter().any(|finding| finding.code.is_syntax()))
}

/// Writes these bytes and nothing after them.
fn write(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(bytes)?;
    file.sync_all()
}
