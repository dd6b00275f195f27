//! Real mounts, in a user namespace where one may be had.

use super::*;

/// Runs a test after a shell line that mounts something, in a namespace that ends with it.
fn run_mounted(stage: &Stage, mount: &str, test: &str) {
    // The first time without the test, to see whether the mount is allowed here.
    let line = format!("cd \"${FOLDER}\" && {mount} && exec \"$@\"");
    let namespace = ["unshare", "-Urm", "sh", "-c", &line, "sh"];
    let probe = format!("{FOLDER}='{}'; {line}", stage.root.display());
    if can_run(&["unshare", "-Urm", "sh", "-c", &probe, "sh", "true"]) {
        pass(&mut stage.process_in(&namespace, test));
    }
}

#[test]
fn a_file_that_is_a_mount_is_written_in_place() {
    let stage = Stage::new();
    fs::write(stage.root.join("outside"), "longer than the new text").unwrap();
    run_mounted(&stage, "mount --bind outside home/config", "mounts::saves_over_a_mount");
}

#[test]
#[ignore = "run by a_file_that_is_a_mount_is_written_in_place"]
fn saves_over_a_mount() {
    let Some(stage) = Stage::inherited() else { return };
    let error = replace(&stage.config(), b"new", Before::Any, None).unwrap_err();
    assert!(matches!(error, SaveError::Io { step: SaveStep::Rename, .. }), "{error:?}");
    assert!(!stage.save("new").unwrap().atomic);
    assert_eq!(fs::read_to_string(stage.root.join("outside")).unwrap(), "new");
    assert_eq!((stage.copies(), stage.names()), (vec!["longer than the new text".into()], vec!["config".into()]));
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let stage = Stage::empty();
    run_mounted(&stage, "mount -t tmpfs -o size=16k none home", "mounts::saves_on_a_full_disk");
}

#[test]
#[ignore = "run by a_full_disk_leaves_the_old_file"]
fn saves_on_a_full_disk() {
    let Some(stage) = Stage::inherited() else { return };
    fs::write(stage.config(), "old").unwrap();
    let error = stage.save(&"new".repeat(10_000)).unwrap_err();
    assert!(matches!(error, SaveError::Io { step: SaveStep::Write, .. }), "{error:?}");
    assert_eq!((stage.text().as_str(), stage.names()), ("old", vec!["config".into()]));
}

#[test]
fn in_place_a_full_disk_gets_the_old_text_back() {
    let stage = Stage::new();
    fs::create_dir(stage.root.join("small")).unwrap();
    let mount =
        "mount -t tmpfs -o size=16k none small && printf old > small/file && mount --bind small/file home/config";
    run_mounted(&stage, mount, "mounts::saves_in_place_on_a_full_disk");
}

#[test]
#[ignore = "run by in_place_a_full_disk_gets_the_old_text_back"]
fn saves_in_place_on_a_full_disk() {
    let Some(stage) = Stage::inherited() else { return };
    let error = stage.save(&"new".repeat(10_000)).unwrap_err();
    assert!(matches!(error, SaveError::Io { step: SaveStep::WriteInPlace, .. }), "{error:?}");
    assert_eq!((stage.text().as_str(), stage.copies()), ("old", vec!["old".into()]));
}
