//! The store on a real disk.

mod damage;
mod processes;
mod writing;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

/// A folder of its own, with a store that waits for nobody.
struct Place {
    dir: TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store { path: Some(dir.path().join("preferences.json")), patience: Duration::ZERO };
        Self { dir, store }
    }

    fn with(text: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        fs::write(place.file(), text).unwrap();
        place
    }

    fn file(&self) -> &Path {
        self.store.path().unwrap()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = disk::named(self.dir.path(), "", "").into_iter().map(|(name, _)| name).collect();
        names.sort();
        names
    }
}

fn codes(notices: &[Notice]) -> Vec<&'static str> {
    notices.iter().map(Notice::code).collect()
}

/// Opens a file, which is expected to be remembered without a word.
fn opened(store: &Store, path: impl AsRef<Path>) -> Preferences {
    let updated = store.opened(path);
    assert!(updated.saved && updated.notices.is_empty(), "{updated:?}");
    updated.preferences
}

#[test]
fn what_is_opened_is_read_again() {
    let place = Place::new();
    assert_eq!(place.store.read().0, Preferences::default());
    opened(&place.store, "/a");
    let preferences = opened(&place.store, "/b");
    assert_eq!(preferences.last, Some("/b".into()));
    assert_eq!(preferences.recent, [Path::new("/b"), Path::new("/a")]);
    assert_eq!(place.store.read().0, preferences);

    let updated = place.store.forget("/b");
    assert!(updated.saved && updated.notices.is_empty());
    assert_eq!((updated.preferences.last, updated.preferences.recent), (None, vec!["/a".into()]));
    insta::assert_snapshot!(place.text(), @r#"
    {
      "version": 1,
      "last": null,
      "recent": [
        "/a"
      ]
    }
    "#);
}

#[test]
fn a_store_without_a_path_remembers_nothing() {
    let store = Store { path: None, patience: PATIENCE };
    for updated in [store.opened("/a"), store.forget("/a")] {
        assert_eq!((updated.preferences, updated.saved, updated.notices.len()), (Preferences::default(), false, 0));
    }
    let (preferences, notices) = store.read();
    assert_eq!((preferences, notices.len()), (Preferences::default(), 0));
}

#[test]
fn a_link_and_its_file_are_one_and_the_newest_spelling_stays() {
    let place = Place::new();
    fs::write(place.at("real.jsonc"), "").unwrap();
    std::os::unix::fs::symlink("real.jsonc", place.at("link.jsonc")).unwrap();
    for name in ["real.jsonc", "link.jsonc", "./link.jsonc", "real.jsonc", "link.jsonc"] {
        opened(&place.store, place.at(name));
    }
    assert_eq!(place.store.read().0.recent, [place.at("link.jsonc")]);
    assert_eq!(place.store.forget(place.at("real.jsonc")).preferences, Preferences::default());
}

#[test]
fn a_relative_path_is_made_absolute() {
    let place = Place::new();
    let here = std::env::current_dir().unwrap();
    assert_eq!(opened(&place.store, "gone/../a.jsonc").last, Some(here.join("gone/../a.jsonc")));
    assert_eq!(place.store.forget("gone/../a.jsonc").preferences, Preferences::default());
}

#[test]
fn what_cannot_be_remembered_changes_nothing() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let before = opened(&place.store, "/a");
    for (path, code) in [(&b"/b\xff"[..], "not-unicode"), (b"\xff", "not-unicode"), (b"", "no-absolute-path")] {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let updated = place.store.opened(path);
        assert_eq!((&updated.preferences, updated.saved, codes(&updated.notices)), (&before, false, vec![code]));
        let updated = place.store.forget(path);
        assert_eq!((&updated.preferences, updated.saved, updated.notices.len()), (&before, true, 0));
    }
}

#[test]
fn handles_can_be_shared() {
    fn check<T: Clone + Send + Sync + 'static>() {}
    check::<Store>();
    check::<Updated>();
    check::<Notice>();
}
