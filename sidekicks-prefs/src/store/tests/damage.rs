//! Files that cannot be understood or read.

use std::os::unix::fs::{PermissionsExt, symlink};

use nix::sys::stat::Mode;
use nix::unistd::{Uid, mkfifo};

use super::*;

/// The one that was set aside.
fn set_aside_as(notices: &[Notice]) -> PathBuf {
    match notices {
        [Notice::Damaged { kept_as: Some(kept_as), .. }] => kept_as.clone(),
        _ => panic!("{notices:?}"),
    }
}

#[test]
fn a_damaged_file_is_set_aside_by_whoever_finds_it() {
    for text in ["", "{\"last\": \"/a\"", "[]", "{} // comment", "\0\0\0\0"] {
        let place = Place::with(text);
        let (preferences, notices) = place.store.read();
        assert_eq!(preferences, Preferences::default(), "{text:?}");
        assert_eq!(fs::read_to_string(set_aside_as(&notices)).unwrap(), text);
        assert!(!place.file().exists());
        assert!(place.store.read().1.is_empty(), "it is told once");

        let place = Place::with(text);
        let updated = place.store.opened("/a");
        assert!(updated.saved);
        assert_eq!(fs::read_to_string(set_aside_as(&updated.notices)).unwrap(), text);
        assert_eq!(place.store.read().0, updated.preferences);
        assert_eq!(updated.preferences.last, Some("/a".into()));
    }
}

#[test]
fn a_damaged_file_behind_a_link_is_set_aside_where_it_is() {
    let place = Place::new();
    fs::create_dir(place.at("dots")).unwrap();
    fs::write(place.at("dots/p.json"), "bad").unwrap();
    symlink("dots/p.json", place.file()).unwrap();
    let updated = place.store.opened("/a");
    assert_eq!(set_aside_as(&updated.notices).parent(), Some(&*place.at("dots")));
    assert_eq!(fs::read_link(place.file()).unwrap(), Path::new("dots/p.json"));
    assert!(place.text().contains("/a"));
}

#[test]
fn a_damaged_file_that_cannot_be_set_aside_stays() {
    let place = Place::with("bad");
    let lock = Lock::take(&place.at("preferences.json.lock"), Duration::ZERO).unwrap();
    assert_eq!(codes(&place.store.read().1), ["damaged", "busy"]);
    assert_eq!(codes(&place.store.opened("/a").notices), ["damaged", "busy"]);
    drop(lock);
    fs::write(place.at(&format!("preferences.bad-{}.json", u64::MAX)), "").unwrap();
    let updated = place.store.opened("/a");
    assert_eq!((updated.saved, codes(&updated.notices)), (false, vec!["damaged", "not-saved"]));
    assert!(matches!(updated.notices[0], Notice::Damaged { kept_as: None, .. }));
    assert_eq!(place.text(), "bad");
}

/// Makes in this place what cannot be read.
type Make = fn(&Path);

#[test]
fn what_cannot_be_read_is_left_alone() {
    let cases: [(&str, Make); 5] = [
        ("not-a-file", |path| fs::create_dir(path).unwrap()),
        ("not-a-file", |path| mkfifo(path, Mode::S_IRWXU).unwrap()),
        ("not-a-file", |path| symlink("/dev/null", path).unwrap()),
        ("unreadable", |path| symlink(path, path).unwrap()),
        ("too-large", |path| fs::File::create(path).unwrap().set_len(disk::MOST_BYTES + 1).unwrap()),
    ];
    for (code, make) in cases {
        let place = Place::new();
        make(place.file());
        let (preferences, notices) = place.store.read();
        assert_eq!((preferences, codes(&notices)), (Preferences::default(), vec![code]));
        for updated in [place.store.opened("/a"), place.store.forget("/a")] {
            assert_eq!((updated.saved, codes(&updated.notices)), (false, vec![code]));
        }
        assert_eq!(place.names(), ["preferences.json"]);
    }
}

#[test]
fn a_file_that_may_not_be_read_is_left_alone() {
    if Uid::effective().is_root() {
        return; // It may read everything.
    }
    let place = Place::with("{}");
    fs::set_permissions(place.file(), PermissionsExt::from_mode(0o000)).unwrap();
    assert_eq!(codes(&place.store.read().1), ["unreadable"]);
    assert_eq!(codes(&place.store.opened("/a").notices), ["unreadable"]);
    assert_eq!(place.names(), ["preferences.json"]);
}

#[test]
fn a_folder_that_may_not_be_written() {
    if Uid::effective().is_root() {
        return; // It may write everything.
    }
    let place = Place::with("{}");
    fs::set_permissions(place.dir.path(), PermissionsExt::from_mode(0o500)).unwrap();
    let updated = place.store.opened("/a");
    fs::set_permissions(place.dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!((updated.saved, codes(&updated.notices)), (false, vec!["not-saved"]));
    assert_eq!(place.text(), "{}");
}
