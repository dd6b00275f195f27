//! What a user should hear of.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Every code that a [`Notice`] can have, in alphabetical order.
///
/// A program that words notices itself checks its sentences against this list.
pub const NOTICES: &[&str] = &[
    "busy",
    "damaged",
    "newer-version",
    "no-absolute-path",
    "not-a-file",
    "not-saved",
    "not-unicode",
    "too-large",
    "unreadable",
];

/// Something that went wrong with the preferences. None of it need stop a program: it has less to remember.
///
/// The text is one English sentence; a program that speaks another language words the data itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Notice {
    /// The file is no JSON object; defaults are used instead.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What it is called now. `None` where it could not be renamed: then it is as it was, and the next notice tells
        /// why.
        kept_as: Option<PathBuf>,
    },
    /// The file is there and could not be read. Nothing is written either.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Arc<io::Error>,
    },
    /// A folder, a pipe or a device is where the file should be. It is left alone.
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// The file is larger than preferences can be, or would become so. It is left alone.
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How many bytes it may have.
        limit: u64,
    },
    /// Another process held the lock for all the time that was waited for it. Nothing was written.
    Busy {
        /// The file that is locked.
        lock: PathBuf,
    },
    /// The file, its folder or its lock could not be written.
    NotSaved {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Arc<io::Error>,
    },
    /// A newer program wrote the file and gave a field that had to change a type that is not known here. That field was
    /// left as it was.
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// The version it has.
        version: u64,
    },
    /// The path of a configuration file is not valid UTF-8, so it cannot be remembered.
    NotUnicode {
        /// That path, made absolute.
        path: PathBuf,
    },
    /// The path of a configuration file cannot be made absolute, so it cannot be remembered: it is empty, or the
    /// current folder is gone.
    NoAbsolutePath {
        /// That path.
        path: PathBuf,
        /// Why.
        error: Arc<io::Error>,
    },
}

impl Notice {
    pub(crate) fn unreadable(path: &Path, error: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), error: Arc::new(error) }
    }

    pub(crate) fn not_saved(path: &Path, error: io::Error) -> Self {
        Self::NotSaved { path: path.to_owned(), error: Arc::new(error) }
    }

    /// What kind of notice this is, for a program. One of [`NOTICES`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => "damaged",
            Self::Unreadable { .. } => "unreadable",
            Self::NotAFile { .. } => "not-a-file",
            Self::TooLarge { .. } => "too-large",
            Self::Busy { .. } => "busy",
            Self::NotSaved { .. } => "not-saved",
            Self::NewerVersion { .. } => "newer-version",
            Self::NotUnicode { .. } => "not-unicode",
            Self::NoAbsolutePath { .. } => "no-absolute-path",
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { path, kept_as: Some(kept_as) } => {
                let (path, kept_as) = (path.display(), kept_as.display());
                write!(f, "the preferences in {path} are damaged: they were kept as {kept_as}, and new ones are begun")
            }
            Self::Damaged { path, kept_as: None } => {
                write!(f, "the preferences in {} are damaged, and were left as they are", path.display())
            }
            Self::Unreadable { path, error } => {
                write!(f, "the preferences in {} cannot be read: {error}", path.display())
            }
            Self::NotAFile { path } => {
                write!(f, "the preferences cannot be kept in {}: that is not a file", path.display())
            }
            Self::TooLarge { path, limit } => {
                write!(
                    f,
                    "the preferences in {} may not have more than {limit} bytes: they were left alone",
                    path.display()
                )
            }
            Self::Busy { lock } => {
                write!(f, "the preferences were not saved: another process holds {}", lock.display())
            }
            Self::NotSaved { path, error } => {
                write!(f, "the preferences were not saved in {}: {error}", path.display())
            }
            Self::NewerVersion { path, version } => {
                let path = path.display();
                write!(
                    f,
                    "the preferences in {path} have version {version}, newer than this program: not all was saved"
                )
            }
            Self::NotUnicode { path } => {
                write!(f, "the path {} is not valid Unicode, and cannot be remembered", path.display())
            }
            Self::NoAbsolutePath { path, error } => {
                write!(f, "the path \"{}\" cannot be made absolute, and so not remembered: {error}", path.display())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_texts() {
        let path = || PathBuf::from("/p/preferences.json");
        let error = || Arc::new(io::Error::from(io::ErrorKind::PermissionDenied));
        let notices = [
            Notice::Busy { lock: "/p/preferences.json.lock".into() },
            Notice::Damaged { path: path(), kept_as: Some("/p/preferences.bad-1700000000.json".into()) },
            Notice::Damaged { path: path(), kept_as: None },
            Notice::NewerVersion { path: path(), version: 2 },
            Notice::NoAbsolutePath { path: "".into(), error: error() },
            Notice::NotAFile { path: path() },
            Notice::NotSaved { path: path(), error: error() },
            Notice::NotUnicode { path: "/p/\u{fffd}".into() },
            Notice::TooLarge { path: path(), limit: 1_048_576 },
            Notice::Unreadable { path: path(), error: error() },
        ];
        let mut codes: Vec<_> = notices.iter().map(Notice::code).collect();
        codes.dedup();
        assert_eq!(codes, NOTICES);
        let texts: Vec<_> = notices.iter().map(|notice| format!("{}: {notice}", notice.code())).collect();
        insta::assert_snapshot!(texts.join("\n"), @r#"
        busy: the preferences were not saved: another process holds /p/preferences.json.lock
        damaged: the preferences in /p/preferences.json are damaged: they were kept as /p/preferences.bad-1700000000.json, and new ones are begun
        damaged: the preferences in /p/preferences.json are damaged, and were left as they are
        newer-version: the preferences in /p/preferences.json have version 2, newer than this program: not all was saved
        no-absolute-path: the path "" cannot be made absolute, and so not remembered: permission denied
        not-a-file: the preferences cannot be kept in /p/preferences.json: that is not a file
        not-saved: the preferences were not saved in /p/preferences.json: permission denied
        not-unicode: the path /p/� is not valid Unicode, and cannot be remembered
        too-large: the preferences in /p/preferences.json may not have more than 1048576 bytes: they were left alone
        unreadable: the preferences in /p/preferences.json cannot be read: permission denied
        "#);
    }
}
