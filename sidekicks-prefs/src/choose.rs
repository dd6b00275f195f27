//! Which configuration file a start opens.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::location::{non_empty, standard_config};
use crate::preferences::Preferences;

/// Which configuration file a start opens, and why that one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// The one that was named on the command line.
    Given(PathBuf),
    /// The one that `SIDEKICKS_CONFIG` names.
    Variable(PathBuf),
    /// The one that was opened last.
    Last(PathBuf),
    /// The one in the [standard place](standard_config).
    Standard {
        /// The file.
        path: PathBuf,
        /// The one that was opened last, where it is gone: the user should hear of it.
        gone: Option<PathBuf>,
    },
    /// There is none.
    None {
        /// The one that was opened last, where it is gone: the user should hear of it.
        gone: Option<PathBuf>,
    },
}

impl Choice {
    /// The file, if there is one. One that was named need not be there.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Given(path) | Self::Variable(path) | Self::Last(path) | Self::Standard { path, .. } => Some(path),
            Self::None { .. } => None,
        }
    }

    /// The file that was opened last, where it would have been chosen and is gone. Another recent one never takes its
    /// place.
    pub fn gone(&self) -> Option<&Path> {
        match self {
            Self::Standard { gone, .. } | Self::None { gone } => gone.as_deref(),
            Self::Given(_) | Self::Variable(_) | Self::Last(_) => None,
        }
    }
}

/// Chooses the configuration file of a start: the one `given`, else the one that `SIDEKICKS_CONFIG` names (set to
/// nothing counts as not set), else the one opened last if it is still there, else the [standard one](standard_config)
/// if it is there.
///
/// A choice changes nothing: only [`Store::opened`](crate::Store::opened) does.
pub fn choose(given: Option<&Path>, env: &dyn Fn(&str) -> Option<OsString>, preferences: &Preferences) -> Choice {
    if let Some(path) = given {
        return Choice::Given(path.to_owned());
    }
    if let Some(path) = non_empty(env, "SIDEKICKS_CONFIG") {
        return Choice::Variable(path);
    }
    let gone = match &preferences.last {
        Some(last) if !is_missing(last) => return Choice::Last(last.clone()),
        last => last.clone(),
    };
    match standard_config(env) {
        Some(path) if !is_missing(&path) => Choice::Standard { path, gone },
        _ => Choice::None { gone },
    }
}

/// Whether there is no such file, to mark it in a list of recent ones. A link that leads nowhere is missing, and so is
/// what no file can be called: a path with the character U+0000, or one that is too long. A file that cannot be looked
/// at, for want of permission say, is not: opening it tells more.
pub fn is_missing(path: &Path) -> bool {
    use ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    let missing = [NotFound, NotADirectory, InvalidInput, InvalidFilename];
    fs::metadata(path).is_err_and(|error| missing.contains(&error.kind()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sidekicks")).unwrap();
        let standard = at("sidekicks/sidekicks.jsonc");
        fs::write(&standard, "").unwrap();
        fs::write(at("there"), "").unwrap();
        let there = || Some(at("there"));
        let gone = || Some(at("gone"));

        // Each row: what is given, the variable, the last one, whether the standard one is there.
        for (given, variable, last, has_standard, expected) in [
            (gone(), there(), there(), true, Choice::Given(at("gone"))),
            (None, gone(), there(), true, Choice::Variable(at("gone"))),
            (None, Some(PathBuf::new()), there(), true, Choice::Last(at("there"))),
            (None, None, there(), true, Choice::Last(at("there"))),
            (None, None, there(), false, Choice::Last(at("there"))),
            (None, None, gone(), true, Choice::Standard { path: standard.clone(), gone: gone() }),
            (None, None, gone(), false, Choice::None { gone: gone() }),
            (None, None, None, true, Choice::Standard { path: standard.clone(), gone: None }),
            (None, None, None, false, Choice::None { gone: None }),
        ] {
            let preferences = Preferences { last: last.clone(), recent: vec![at("there")] };
            let config_dir = if has_standard { folder.path().to_owned() } else { at("empty") };
            let env = |name: &str| match name {
                "SIDEKICKS_CONFIG" => variable.clone().map(OsString::from),
                "XDG_CONFIG_HOME" => Some(config_dir.clone().into()),
                _ => None,
            };
            let choice = choose(given.as_deref(), &env, &preferences);
            assert_eq!(choice, expected);
            assert_eq!(choice.path().is_none(), matches!(choice, Choice::None { .. }));
            let unsaid = given.is_some() || variable.is_some_and(|path| !path.as_os_str().is_empty());
            assert_eq!(choice.gone().is_some(), last == gone() && !unsaid);
        }
    }

    #[test]
    fn what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        symlink(at("loop"), at("loop")).unwrap();
        for (name, missing) in
            [("file", false), (".", false), ("gone", true), ("file/below", true), ("dangling", true), ("loop", false)]
        {
            assert_eq!(is_missing(&at(name)), missing, "{name}");
        }
        for impossible in ["nul\0", &"x".repeat(10_000), &"x/".repeat(10_000)] {
            assert!(is_missing(&at(impossible)), "{impossible:.80}");
            let preferences = Preferences { last: Some(at(impossible)), recent: Vec::new() };
            let env = |name: &str| (name == "XDG_CONFIG_HOME").then(|| folder.path().into());
            assert_eq!(choose(None, &env, &preferences).gone(), Some(&*at(impossible)));
        }
    }
}
