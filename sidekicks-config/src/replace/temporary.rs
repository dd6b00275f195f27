//! The file that becomes the new one.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A temporary file that a process left this long ago was left for good.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// So many characters of a file's name are in the temporary one, since names have a limit of 255 bytes.
const MAX_STEM: usize = 50;

/// A file beside another one, readable by its owner alone, removed when dropped unless it was renamed.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    file: File,
    renamed: bool,
}

impl Temporary {
    pub(super) fn create(beside: &Path) -> io::Result<Self> {
        loop {
            let random = RandomState::new().hash_one(0);
            let name = format!("{}{}.{random:016x}.tmp", prefix(beside), std::process::id());
            let path = beside.with_file_name(name);
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => return Ok(Self { path, file, renamed: false }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    pub(super) fn rename(&mut self, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes what killed processes left beside this file. Nothing depends on it, so errors are passed over.
pub(super) fn remove_stale(beside: &Path) {
    let prefix = prefix(beside);
    let Ok(entries) = fs::read_dir(beside.parent().unwrap_or(beside)) else { return };
    for entry in entries.flatten().filter(|entry| is_temporary(&entry.file_name(), &prefix)) {
        let age = entry.metadata().and_then(|found| found.modified()).map(|time| time.elapsed());
        if age.is_ok_and(|age| age.is_ok_and(|age| age > STALE)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// How the names of the temporary files beside this one begin.
fn prefix(beside: &Path) -> String {
    let name = beside.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", name.chars().take(MAX_STEM).collect::<String>())
}

fn is_temporary(name: &OsStr, prefix: &str) -> bool {
    let parts = name.to_str().and_then(|name| name.strip_prefix(prefix)?.strip_suffix(".tmp")?.split_once('.'));
    parts.is_some_and(|(pid, random)| {
        pid.parse::<u32>().is_ok() && random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_temporary_files_are_told_from_others() {
        let prefix = prefix(Path::new("/home/sidekicks.jsonc"));
        let cases = [
            (".sidekicks.jsonc.12.0123456789abcdef.tmp", true),
            (".sidekicks.jsonc.12.0123456789abcde.tmp", false),
            (".sidekicks.jsonc.12.0123456789abcdeg.tmp", false),
            (".sidekicks.jsonc.x.0123456789abcdef.tmp", false),
            (".sidekicks.jsonc.12.0123456789abcdef", false),
            (".sidekicks.jsonc.tmp", false),
            (".sidekicks.jsonc.swp", false),
            ("sidekicks.jsonc.12.0123456789abcdef.tmp", false),
            (".other.jsonc.12.0123456789abcdef.tmp", false),
        ];
        for (name, expected) in cases {
            assert_eq!(is_temporary(OsStr::new(name), &prefix), expected, "{name}");
        }
    }

    #[test]
    fn a_name_of_any_length_and_in_any_bytes_gets_a_temporary_file() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().unwrap();
        for name in [&b"\xff\xfe"[..], &[b'a'; 255], "é".repeat(127).as_bytes()] {
            let beside = dir.path().join(OsStr::from_bytes(name));
            let made = Temporary::create(&beside).unwrap();
            assert!(is_temporary(made.path().file_name().unwrap(), &prefix(&beside)), "{made:?}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
