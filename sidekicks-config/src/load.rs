//! Reading a file, and what of it can be used.

mod doubt;
mod keep;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Code;
use crate::contents;
use crate::digest::Digest;
use crate::effective::EffectiveAgent;
use crate::model::Config;
use crate::pointer::Pointer;
use crate::problem::{Problem, placed};
use crate::syntax::Finding;
use crate::validate::Checked;

/// A file that was read. `Debug` does not show the text, in which there may be keys.
#[derive(Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// Where it was read from, as it was given.
    pub path: PathBuf,
    /// What was read. Bytes that are not UTF-8 are replacement characters in here.
    pub text: Arc<str>,
    /// The digest of the bytes: what to expect at the next [`save_if_unchanged`](crate::save_if_unchanged).
    pub digest: Digest,
    /// What can be used; it never has an entry with an error.
    pub config: Arc<Config>,
    /// Everything that is wrong with the text.
    pub problems: Vec<Problem>,
    /// Where the configuration comes from.
    pub kept: Kept,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, text: _, digest, config, problems, kept } = self;
        f.debug_struct("Loaded")
            .field("path", path)
            .field("digest", digest)
            .field("config", config)
            .field("problems", problems)
            .field("kept", kept)
            .finish_non_exhaustive()
    }
}

/// How much of the text a configuration is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kept {
    /// All of it that means anything.
    All,
    /// What has no error. Paths as in [`Problem::path`].
    #[non_exhaustive]
    Partly {
        /// What is not there, having an error, or needing what has one.
        dropped: Vec<String>,
        /// What is as it was when it last had no error.
        from_last_good: Vec<String>,
    },
    /// None of it: the configuration is the one before, since what is written cannot be told.
    LastGood,
    /// None of it, and there was none before: the configuration is empty.
    Nothing,
}

impl Loaded {
    /// Whether something is wrong, other than a [warning](crate::Severity::Warning).
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }

    /// The agent of this name, with everything that counts for it: [`Config::effective`] for this file.
    pub fn effective(&self, name: &str, env: &dyn Fn(&str) -> Option<OsString>) -> Option<EffectiveAgent> {
        self.config.effective(name, &self.path, env)
    }

    /// What [`load`] would make of a file with this text at `path`, which need not be there: for the text of an editor, or
    /// a test.
    ///
    /// ```
    /// use sidekicks_config::Loaded;
    ///
    /// let loaded = Loaded::from_text("sidekicks.jsonc", r#"{ "version": 1, "agents": { "riker": { "command": "x" } } }"#);
    /// assert!(!loaded.has_errors() && loaded.config.agents.contains("riker"));
    /// ```
    pub fn from_text(path: impl AsRef<Path>, text: &str) -> Self {
        Self::of(path.as_ref(), text.as_bytes(), None)
    }

    /// What is read in these bytes, after `last`.
    pub(crate) fn of(path: &Path, bytes: &[u8], last: Option<&Self>) -> Self {
        let text: Arc<str> = String::from_utf8_lossy(bytes).into();
        let mut checked = Checked::of(&text);
        let wide = is_wide(bytes);
        let invalid = if wide { Some(0) } else { std::str::from_utf8(bytes).err().map(|error| error.valid_up_to()) };
        if let Some(at) = invalid {
            let first = text[at..].chars().next().map_or(0, char::len_utf8);
            let finding =
                Finding { code: Code::NotUtf8, pointer: Pointer::default(), span: at..at + first, related: None };
            if wide {
                // Everything else follows from it.
                checked.problems.clear();
            }
            let place = checked.problems.partition_point(|problem| problem.span.start < at);
            checked.problems.splice(place..place, placed(&text, vec![finding]));
            checked.uncertain = true;
            checked.foreign |= wide;
        }
        let last = last.filter(|last| last.kept != Kept::Nothing).map(|last| &last.config);
        let (config, kept) = keep::keep(&checked, invalid.is_some().then_some(&text), last);
        Self { path: path.to_owned(), digest: Digest::of(bytes), config, problems: checked.problems, kept, text }
    }
}

/// Whether this is UTF-16 or UTF-32, with a byte order mark or without: in UTF-8 no configuration begins so.
fn is_wide(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..])
}

/// Why a file could not be read. What is wrong *in* it is in [`Loaded::problems`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no such file.
    #[error("{} does not exist", path.display())]
    #[non_exhaustive]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is something else: a folder, a pipe.
    #[error("{} is not a file", path.display())]
    #[non_exhaustive]
    NotAFile {
        /// Where that is.
        path: PathBuf,
    },
    /// It has more than 1 MiB, which no configuration has.
    #[error("{} is larger than 1 MiB", path.display())]
    #[non_exhaustive]
    TooLarge {
        /// Where it is.
        path: PathBuf,
    },
    /// It could not be read.
    #[error("{} could not be read", path.display())]
    #[non_exhaustive]
    Io {
        /// Where it is.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl LoadError {
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::NotFound => Self::NotFound { path },
            ErrorKind::IsADirectory | ErrorKind::InvalidInput => Self::NotAFile { path },
            ErrorKind::FileTooLarge => Self::TooLarge { path },
            _ => Self::Io { path, source },
        }
    }
}

/// Reads a file for the first time.
///
/// What is right in it can be used, whatever else is wrong: an agent with an error is not there and the others are. Where
/// the default permission was meant to be said and cannot be read, agents that have none of their own are refused
/// everything; where rules for all of them were, no agent is there. Of a section that stands there twice nothing is. Blocks
/// while it reads, at most 1 MiB.
///
/// # Errors
///
/// If the file cannot be read. What is wrong in it is no error.
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    let bytes = contents::read(path).map_err(|source| LoadError::new(path, source))?;
    Ok(Loaded::of(path, &bytes, None))
}

/// What a file is with another text, after it was read as `last`.
///
/// What has an error stays as it was when it last had none, so that no mistake takes away an agent that works, or lets one
/// do more than was ever said:
///
/// | the text | the configuration |
/// |---|---|
/// | has no error | is the text |
/// | cannot be read as it is written, is no map, or not for our version | stays whole |
/// | has errors in entries | has the other entries, and of these the last good ones |
/// | has a name or a key that is none, or an entry in another one | has also what is not there any more: it may be that |
///
/// An agent that stays as it was keeps what were the defaults then. If its new `permission`, or that of the defaults where it
/// says nothing, is right and allows less, that counts. New limits count for it too: it may be expected to use more memory
/// than these leave, and cannot start then.
///
/// A key that may have been meant as `permission`, where there is none, lets no agent do more than before by default. One
/// that may have been meant as rules for all of them keeps every agent as it was.
///
/// Looks at nothing but its arguments.
pub fn reload(last: &Loaded, text: &str) -> Loaded {
    Loaded::of(&last.path, text.as_bytes(), Some(last))
}
