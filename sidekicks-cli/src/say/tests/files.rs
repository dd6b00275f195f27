//! What is said of configuration files.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use sidekicks_config::{LoadError, SaveError, SaveOptions, load, save_if_unchanged};
use sidekicks_prefs::{Choice, Notice};
use tempfile::TempDir;

use super::super::{About, Editing, Say};

/// Where files are that something is the matter with.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

pub(super) fn folder() -> &'static str {
    FOLDER.path().to_str().unwrap()
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub(super) fn sentences() -> Vec<(String, Say<'static>)> {
    let path = Path::new("/home/will/sidekicks.jsonc");
    let standard = Path::new("/home/will/.config/sidekicks/sidekicks.jsonc");
    let copy = Path::new("/tmp/sidekicks-1/sidekicks.jsonc");
    let file = "sidekicks.jsonc";
    let choice = |choice| About::Why(leak(choice));
    let mut about = vec![
        About::Gone { path, standard: None },
        About::Gone { path, standard: Some(standard) },
        About::NoConfig,
        choice(Choice::Given(path.into())),
        choice(Choice::Variable(path.into())),
        choice(Choice::Last(path.into())),
        choice(Choice::Standard { path: path.into(), gone: None }),
        About::Missing,
        About::Last,
        About::Error,
        About::Warning,
        About::Hint("512MiB"),
        About::SeeAlso { line: 3, column: 12 },
        About::Opened { path },
        About::NotOpened { path },
        About::NotRemembered,
        About::NoRecent,
        About::NotRecent { path },
        About::Forgotten { path },
        About::HasErrors { path, named: false },
        About::HasErrors { path: "/home/will/my files/sidekicks.jsonc".as_ref(), named: true },
        About::ChannelsUnused,
        About::BuiltIn,
        About::Disabled,
        About::NotInstalled,
        About::Broken,
        About::OnlyDemo,
        About::AgentDisabled { name: "riker" },
        About::AgentBroken { name: "riker" },
    ];
    about.extend([(0, 0), (1, 1), (2, 2)].map(|(agents, warnings)| About::Fine { file, agents, warnings }));
    about.extend([(1, 0), (2, 1), (2, 2)].map(|(errors, warnings)| About::Wrong { file, errors, warnings }));
    about.extend(unreadable().into_iter().map(|error| About::Unreadable(leak(error))));
    about.extend(notices().into_iter().map(|notice| About::Notice(leak(notice))));
    let mut editing = vec![
        Editing::NeedsTerminal,
        Editing::NoPlace,
        Editing::NoEditor,
        Editing::BadEditor { variable: "VISUAL" },
        Editing::CannotRun { editor: "vim", reason: "No such file or directory" },
        Editing::Failed { editor: "vim" },
        Editing::CannotCopy { reason: "No space left on device" },
        Editing::Unchanged { path },
        Editing::GoOn,
        Editing::Discard,
        Editing::Kept { copy },
        Editing::Saved { path },
        Editing::SavedInPlace,
    ];
    editing.extend(unsaved().into_iter().map(|error| Editing::NotSaved { path, error: leak(error) }));
    let about = about.into_iter().map(|about| ("about".to_owned(), about.into()));
    about.chain(editing.into_iter().map(|editing| ("editing".to_owned(), editing.into()))).collect()
}

/// Why a file cannot be read.
fn unreadable() -> Vec<LoadError> {
    let large = FOLDER.path().join("large");
    std::fs::write(&large, vec![b' '; 1024 * 1024 + 1]).unwrap();
    ["none", "", "large", "large/below"].map(|name| load(&FOLDER.path().join(name)).unwrap_err()).into()
}

/// Why a file cannot be saved, as far as that can be made to happen.
fn unsaved() -> Vec<SaveError> {
    let text = r#"{ "version": 1, "agents": { "riker": { "command": "codex-acp" } } }"#;
    let save = |name: &str, text: &str, expected| {
        save_if_unchanged(&FOLDER.path().join(name), text, expected, &SaveOptions::default()).unwrap_err()
    };
    let other = sidekicks_config::Digest::of(b"other");
    std::fs::write(FOLDER.path().join("other"), "{}").unwrap();
    vec![
        save("new", "{}", None),
        save("new", &" ".repeat(1024 * 1024 + 1), None),
        save("other", text, Some(&other)),
        save("gone", text, Some(&other)),
        save("", text, None),
        save("no/folder", text, None),
    ]
}

pub(super) fn notices() -> Vec<Notice> {
    let (path, kept_as) = ("/home/will/preferences.json", "/home/will/preferences.bad-1.json");
    let error = || Arc::new(std::io::Error::other("Permission denied"));
    vec![
        Notice::Damaged { path: path.into(), kept_as: Some(kept_as.into()) },
        Notice::Damaged { path: path.into(), kept_as: None },
        Notice::Unreadable { path: path.into(), error: error() },
        Notice::NotAFile { path: path.into() },
        Notice::TooLarge { path: path.into(), limit: 1024 * 1024 },
        Notice::Busy { lock: "/home/will/preferences.lock".into() },
        Notice::NotSaved { path: path.into(), error: error() },
        Notice::NewerVersion { path: path.into(), version: 2 },
        Notice::NotUnicode { path: path.into() },
        Notice::NoAbsolutePath { path: "x".into(), error: error() },
    ]
}
