//! What a run begins with: the preferences, the configuration file that counts, and the language.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sidekicks_config::{LanguageSetting, LoadError, Loaded, load};
use sidekicks_prefs::{Choice, Notice, Preferences, Store, choose};

use crate::exit;
use crate::lang::{self, Lang};
use crate::manner::Manner;
use crate::say::About;

/// The environment of this program, which is that of its agents.
pub(crate) fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// What a run begins with.
pub(crate) struct Start {
    pub(crate) store: Store,
    pub(crate) preferences: Preferences,
    notices: Vec<Notice>,
    /// Which configuration file counts, and why.
    pub(crate) choice: Choice,
    /// What came of reading it, where there is one.
    loaded: Option<Result<Loaded, LoadError>>,
}

impl Start {
    /// Reads the preferences and the configuration file: the one that was `given`, or the one that follows from the
    /// environment and the preferences.
    pub(crate) fn read(given: Option<&Path>) -> Self {
        let store = Store::standard(&env);
        let (preferences, notices) = store.read();
        let choice = choose(given, &env, &preferences);
        let loaded = choice.path().map(load);
        Self { store, preferences, notices, choice, loaded }
    }

    pub(crate) fn lang(&self, given: Option<Lang>) -> Lang {
        let file = self.readable().map_or(LanguageSetting::Auto, |loaded| loaded.config.language);
        lang::choose(given, file, env)
    }

    /// Says what is to be heard of the preferences.
    pub(crate) fn tell_notices(&self, manner: Manner) {
        for notice in &self.notices {
            manner.complain(About::Notice(notice), exit::DONE);
        }
    }

    /// Says that the file is gone which was opened last, where it would count.
    pub(crate) fn tell_gone(&self, manner: Manner) {
        if let Some(path) = self.choice.gone() {
            manner.complain(About::Gone { path, standard: self.choice.path() }, exit::DONE);
        }
    }

    /// Says that the file has errors, if it does.
    pub(crate) fn tell_errors(&self, loaded: &Loaded, manner: Manner) {
        // What was named for this run alone is to be named for the next one.
        let named = matches!(self.choice, Choice::Given(_) | Choice::Variable(_));
        if loaded.has_errors() {
            manner.complain(About::HasErrors { path: &loaded.path, named }, exit::DONE);
        }
    }

    /// Says what is to be heard of the preferences after they were changed, and was not said before.
    pub(crate) fn tell_new(&self, notices: &[Notice], manner: Manner) {
        let sentence = |notice| About::Notice(notice).text(manner.lang);
        let told: Vec<String> = self.notices.iter().map(sentence).collect();
        for notice in notices.iter().filter(|notice| !told.contains(&sentence(notice))) {
            manner.complain(About::Notice(notice), exit::DONE);
        }
    }

    /// The configuration, if there is one; the exit code where there should be one that cannot be read, which is told.
    pub(crate) fn loaded(&self, manner: Manner) -> Result<Option<&Loaded>, u8> {
        match &self.loaded {
            None => Ok(None),
            Some(Ok(loaded)) => Ok(Some(loaded)),
            Some(Err(error)) => Err(manner.complain(About::Unreadable(error), self.unreadable(error))),
        }
    }

    /// The configuration, if there is one that can be read.
    pub(crate) fn readable(&self) -> Option<&Loaded> {
        self.loaded.as_ref()?.as_ref().ok()
    }

    /// The exit code for a file that cannot be read: whoever named one that is no file has mistyped.
    fn unreadable(&self, error: &LoadError) -> u8 {
        let named = matches!(self.choice, Choice::Given(_) | Choice::Variable(_));
        match error {
            LoadError::NotFound { .. } | LoadError::NotAFile { .. } if named => exit::USAGE,
            _ => exit::CONFIG,
        }
    }
}

/// This path as it is shown: the home is `~`.
pub(crate) fn shown(path: &Path) -> String {
    let home = env("HOME").map(PathBuf::from).filter(|home| home.is_absolute() && home.parent().is_some());
    match home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
