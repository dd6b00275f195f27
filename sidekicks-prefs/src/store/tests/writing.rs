//! How the file is written, and when it is not.

use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::SystemTime;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Another file has another inode; one that was written in place has another time.
fn identity(path: &Path) -> (u64, i64, i64) {
    let metadata = fs::metadata(path).unwrap();
    (metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

#[test]
fn modes() {
    let place = Place::new();
    let store = Store::at(place.at("new/deep/preferences.json"));
    opened(&store, "/a");
    for (name, expected) in [
        ("new", 0o700),
        ("new/deep", 0o700),
        ("new/deep/preferences.json", 0o600),
        ("new/deep/preferences.json.lock", 0o600),
    ] {
        assert_eq!(mode(&place.at(name)), expected, "{name}");
    }

    fs::set_permissions(place.at("new"), PermissionsExt::from_mode(0o755)).unwrap();
    fs::set_permissions(place.at("new/deep"), PermissionsExt::from_mode(0o750)).unwrap();
    fs::set_permissions(store.path().unwrap(), PermissionsExt::from_mode(0o644)).unwrap();
    opened(&store, "/b");
    assert_eq!((mode(&place.at("new")), mode(&place.at("new/deep"))), (0o755, 0o750), "folders are left as they are");
    assert_eq!(mode(store.path().unwrap()), 0o600);
}

#[test]
fn nothing_is_written_where_nothing_changes() {
    let place = Place::new();
    place.store.read();
    assert!(place.store.forget("/a").saved);
    assert!(place.names().is_empty(), "not even a lock");

    let odd = r#"{"recent":["/a","rel","/a"],"last":"/a"}"#;
    for text in [odd, &format!("\u{feff}{odd}")] {
        fs::write(place.file(), text).unwrap();
        let before = identity(place.file());
        place.store.read();
        opened(&place.store, "/a");
        assert!(place.store.forget("/b").saved);
        assert_eq!(identity(place.file()), before);
        assert_eq!(place.text(), text);
        assert_eq!(place.names(), ["preferences.json"]);
    }

    opened(&place.store, "/b");
    let before = identity(place.file());
    opened(&place.store, "/b");
    assert_eq!(identity(place.file()), before);
    opened(&place.store, "/a");
    assert_ne!(identity(place.file()).0, before.0, "a change replaces the file");
}

#[test]
fn links_stay_links() {
    for (exists, link) in [(true, "dots/prefs.json"), (false, "dots/prefs.json"), (false, "dots/new/prefs.json")] {
        let place = Place::new();
        fs::create_dir(place.at("dots")).unwrap();
        if exists {
            fs::write(place.at(link), r#"{"mine":1}"#).unwrap();
        }
        symlink(link, place.at("second")).unwrap();
        symlink(place.at("second"), place.file()).unwrap();
        opened(&place.store, "/a");
        assert_eq!(fs::read_link(place.file()).unwrap(), place.at("second"));
        assert_eq!(fs::read_link(place.at("second")).unwrap(), Path::new(link));
        let target = place.at(link);
        assert!(fs::symlink_metadata(&target).unwrap().is_file());
        assert_eq!(mode(&target), 0o600);
        assert_eq!(fs::read_to_string(&target).unwrap().contains("mine"), exists);
        assert!(disk::lock_of(&target).exists(), "one lock, whatever link was followed");
        // The other way to it is the same store.
        assert_eq!(Store::at(&target).read().0.last, Some("/a".into()));
    }
}

#[test]
fn a_newer_version_is_respected() {
    let place = Place::with(r#"{"version":2,"shape":{"z":1,"a":2},"last":{"path":"/x"},"recent":["/x"]}"#);
    for _ in 0..2 {
        let updated = place.store.opened("/a");
        assert_eq!((updated.saved, codes(&updated.notices)), (false, vec!["newer-version"]));
        assert_eq!((updated.preferences.last, updated.preferences.recent.len()), (None, 2));
    }
    insta::assert_snapshot!(place.text(), @r#"
    {
      "version": 2,
      "shape": {"z":1,"a":2},
      "last": {"path":"/x"},
      "recent": [
        "/a",
        "/x"
      ]
    }
    "#);
    let (_, notices) = place.store.read();
    assert!(notices.is_empty());
}

#[test]
fn no_file_is_its_own_lock() {
    let place = Place::new();
    for name in ["x.lock", "lock", ".lock", "x"] {
        let store = Store::at(place.at(name));
        opened(&store, "/a");
        assert_eq!(opened(&store, "/b").last, Some("/b".into()));
        assert_eq!(fs::read_to_string(place.at(&format!("{name}.lock"))).unwrap(), "", "{name}");
        fs::remove_file(place.at(name)).unwrap();
    }
}

#[test]
fn a_lock_that_is_not_had_is_told() {
    let place = Place::new();
    let before = opened(&place.store, "/a");
    let lock = Lock::take(&place.at("preferences.json.lock"), Duration::ZERO).unwrap();
    assert!(lock.is_some());
    let updated = place.store.opened("/b");
    assert_eq!((&updated.preferences, updated.saved, codes(&updated.notices)), (&before, false, vec!["busy"]));
    assert!(place.store.opened("/a").saved, "it is so already");
    drop(lock);
    opened(&place.store, "/b");
}

#[test]
fn where_nothing_can_be_written() {
    let place = Place::new();
    fs::write(place.at("file"), "").unwrap();
    fs::create_dir(place.at("preferences.json.lock")).unwrap();
    for (path, code) in [
        (place.at("file/preferences.json"), "unreadable"), // a file where a folder should be
        (place.file().to_owned(), "not-saved"),            // no lock can be made
        (PathBuf::new(), "not-saved"),
    ] {
        let updated = Store::at(&path).opened("/a");
        assert_eq!((updated.saved, codes(&updated.notices)), (false, vec![code]), "{path:?}");
        assert_eq!(updated.preferences, Preferences::default(), "{path:?}");
    }
    assert_eq!(place.names(), ["file", "preferences.json.lock"]);
}

#[test]
fn too_much_is_not_written() {
    let place = Place::with(format!(r#"{{"padding":"{}"}}"#, "x".repeat(1024 * 1024 - 30)));
    let before = place.text();
    let updated = place.store.opened("/a");
    assert_eq!((updated.saved, codes(&updated.notices)), (false, vec!["too-large"]));
    assert_eq!(place.text(), before);
}

#[test]
fn temporary_files_of_the_dead_are_removed_after_a_day() {
    let place = Place::new();
    let day = Duration::from_secs(24 * 60 * 60);
    let ours = disk::temporary(place.at("").as_path(), ".preferences.").unwrap();
    let (_, ours) = ours.keep().unwrap();
    let old = [
        ".preferences.12.0123456789abcdeF.tmp",
        // These are not ours.
        ".other.12.0123456789abcdeF.tmp",
        ".preferences.12.0123456789abcde.tmp",
        ".preferences.old.tmp",
        ".preferences.x.0123456789abcdeF.tmp",
    ];
    let mut all: Vec<_> = old.iter().map(|name| (place.at(name), day * 2)).collect();
    all.extend([(ours, day * 2), (place.at(".preferences.13.0123456789abcdeF.tmp"), day / 2)]);
    for (path, age) in all {
        File::create(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }
    opened(&place.store, "/a");
    let mut left = old[1..].to_vec();
    left.extend([".preferences.13.0123456789abcdeF.tmp", "preferences.json", "preferences.json.lock"]);
    left.sort_unstable();
    assert_eq!(place.names(), left);
}
