//! What is true after a step has failed.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use super::*;

/// Fails this step as a full disk does.
fn fail(at: SaveStep) -> impl Fn(SaveStep) -> io::Result<()> {
    move |step| if step == at { Err(Errno::ENOSPC.into()) } else { Ok(()) }
}

#[test]
fn a_step_that_fails_leaves_the_old_file_and_nothing_else() {
    for failing in &STEPS[..9] {
        let stage = Stage::new();
        let before = Before::Contents(Digest::of(b"old"));
        let failed = replace_asking(&stage.config(), b"new", before, Some(&stage.state()), &fail(*failing));
        let error = failed.unwrap_err();
        assert!(matches!(&error, SaveError::Io { step, target, source }
            if step == failing && *target == stage.config() && source.kind() == ErrorKind::StorageFull));
        let expected = if *failing == SaveStep::SyncDirectory { "new" } else { "old" };
        assert_eq!((stage.text().as_str(), stage.names()), (expected, vec!["config".into()]), "{failing:?}");
    }
}

#[test]
fn a_file_that_cannot_be_replaced_is_written_in_place_and_copied_first() {
    let stage = Stage::new();
    set_mode(&stage.config(), 0o644);
    let saved = stage.save_fixed("{}", |_| Ok(()), Some(&stage.state())).unwrap();
    assert_eq!(saved, Replaced { digest: Digest::of(b"{}"), atomic: false });
    assert_eq!((stage.text().as_str(), stage.names(), mode(&stage.config())), ("{}", vec!["config".into()], 0o644));
    assert_eq!(stage.copies(), ["old"]);
    let copy = fs::read_dir(stage.state()).unwrap().map(|entry| entry.unwrap().path());
    assert!(copy.into_iter().all(|path| mode(&path) == 0o600));
    assert_eq!(mode(&stage.state()), 0o700);

    // The next one takes its place.
    stage.save_fixed("newer", |_| Ok(()), Some(&stage.state())).unwrap();
    assert_eq!((stage.text().as_str(), stage.copies()), ("newer", vec!["{}".into()]));
}

#[test]
fn in_place_nothing_is_written_without_a_copy() {
    let stage = Stage::new();
    fs::write(stage.root.join("taken"), "").unwrap();
    for (state, step) in [(None, SaveStep::Rename), (Some(stage.root.join("taken")), SaveStep::BackUp)] {
        let error = stage.save_fixed("new", |_| Ok(()), state.as_deref()).unwrap_err();
        assert!(matches!(&error, SaveError::Io { step: at, .. } if *at == step), "{error:?}");
        assert_eq!((stage.text().as_str(), stage.names()), ("old", vec!["config".into()]));
    }
}

#[test]
fn in_place_a_step_that_fails_leaves_the_old_text() {
    for failing in &STEPS[9..] {
        let stage = Stage::new();
        let error = stage.save_fixed("new", fail(*failing), Some(&stage.state())).unwrap_err();
        assert!(matches!(&error, SaveError::Io { step, .. } if step == failing), "{error:?}");
        assert_eq!((stage.text().as_str(), stage.names()), ("old", vec!["config".into()]), "{failing:?}");
    }
}

#[test]
fn a_file_that_was_changed_meanwhile_is_not_overwritten() {
    let [old, other] = [b"old", b"oth"].map(|bytes| Digest::of(bytes));
    // What is expected, what is there, and what the error tells.
    let cases = [
        (Before::Contents(old), Some("old"), None),
        (Before::Contents(old), Some("oth"), Some(Some(other))),
        (Before::Contents(old), None, Some(None)),
        (Before::Nothing, None, None),
        (Before::Nothing, Some("oth"), Some(Some(other))),
        (Before::Any, Some("oth"), None),
    ];
    for (before, there, expected) in cases {
        let stage = Stage::empty();
        if let Some(there) = there {
            fs::write(stage.config(), there).unwrap();
        }
        let now = match stage.save_if(before, "new") {
            Ok(_) => None,
            Err(SaveError::ChangedOnDisk { now }) => Some(now),
            Err(error) => panic!("{error:?}"),
        };
        assert_eq!(now, expected, "{before:?} {there:?}");
        let after = fs::read_to_string(stage.config()).ok();
        assert_eq!(after.as_deref(), if expected.is_some() { there } else { Some("new") }, "{before:?} {there:?}");
        assert_eq!(stage.names().len(), usize::from(after.is_some()));
    }
}

#[test]
fn a_file_that_comes_into_being_at_the_last_moment_is_not_overwritten() {
    let stage = Stage::empty();
    let other = |step| if step == SaveStep::Rename { fs::write(stage.config(), "theirs") } else { Ok(()) };
    let error = replace_asking(&stage.config(), b"ours", Before::Nothing, None, &other).unwrap_err();
    assert!(matches!(error, SaveError::ChangedOnDisk { now } if now == Some(Digest::of(b"theirs"))), "{error:?}");
    assert_eq!((stage.text().as_str(), stage.names()), ("theirs", vec!["config".into()]));
}

#[test]
fn a_state_folder_that_cannot_be_had_does_not_stop_a_save() {
    let stage = Stage::new();
    assert!(replace(&stage.config(), b"new", Before::Any, Some(&stage.config().join("below"))).unwrap().atomic);
    assert_eq!(stage.text(), "new");
}

#[test]
fn temporary_files_that_were_left_for_a_day_are_removed() {
    let stage = Stage::new();
    let day = Duration::from_secs(24 * 60 * 60);
    for (name, age) in [
        (".config.12.0123456789abcdef.tmp", 2 * day),
        (".config.13.0123456789abcdef.tmp", day / 2),
        (".config.swp", 2 * day),
        (".other.12.0123456789abcdef.tmp", 2 * day),
    ] {
        let file = File::create(stage.home(name)).unwrap();
        file.set_times(FileTimes::new().set_modified(SystemTime::now() - age)).unwrap();
    }
    stage.save("new").unwrap();
    let left = [".config.13.0123456789abcdef.tmp", ".config.swp", ".other.12.0123456789abcdef.tmp", "config"];
    assert_eq!(stage.names(), left);
}

#[test]
fn in_place_no_rest_of_a_text_replaces_the_copy_of_a_whole_one() {
    let stage = Stage::new();
    let whole = r#"{ "version": 1 }"#;
    fs::write(stage.config(), whole).unwrap();
    stage.save_fixed("{}", |_| Ok(()), Some(&stage.state())).unwrap();
    // A kill left nothing, then a part; both times somebody saves again.
    for rest in ["", "{ \"vers", "{ # x"] {
        fs::write(stage.config(), rest).unwrap();
        stage.save_fixed("{}", |_| Ok(()), Some(&stage.state())).unwrap();
        let mut copies = stage.copies();
        copies.sort_by_key(|copy| copy != whole);
        assert_eq!(copies, [whole, rest]);
    }
    // A whole one does.
    stage.save_fixed("{ }", |_| Ok(()), Some(&stage.state())).unwrap();
    assert!(stage.copies().contains(&"{}".to_owned()) && !stage.copies().contains(&whole.to_owned()));
}
