//! What a save does to each kind of file.

use std::os::unix::fs::{MetadataExt, symlink};

use super::*;

#[test]
fn modes_stay_and_a_new_file_is_private() {
    for (old, expected) in [(None, 0o600), (Some(0o600), 0o600), (Some(0o640), 0o640), (Some(0o664), 0o664)] {
        let stage = Stage::empty();
        if let Some(old) = old {
            fs::write(stage.config(), "old").unwrap();
            set_mode(&stage.config(), old);
        }
        assert!(stage.save("new").unwrap().atomic);
        assert_eq!((mode(&stage.config()), stage.text()), (expected, "new".into()), "{old:?}");
        assert_eq!(stage.names(), ["config"]);
    }
}

#[test]
fn the_owner_stays() {
    if !nix::unistd::geteuid().is_root() {
        println!("skipped: only root gives files away");
        return;
    }
    let stage = Stage::new();
    std::os::unix::fs::chown(stage.config(), Some(12), Some(34)).unwrap();
    stage.save("new").unwrap();
    let found = fs::metadata(stage.config()).unwrap();
    assert_eq!((found.uid(), found.gid(), stage.text()), (12, 34, "new".into()));
}

#[test]
fn bytes_are_saved_as_given() {
    let stage = Stage::new();
    let text = "\u{feff}{ // why\r\n}\r\n\t";
    assert_eq!(stage.save(text).unwrap().digest, Digest::of(text.as_bytes()));
    assert_eq!(stage.text(), text);
}

#[test]
fn links_stay_and_what_they_lead_to_is_written() {
    // The links, and what is there before: a file, or nothing.
    for dangling in [false, true] {
        for links in [&[("config", "../real/file")][..], &[("config", "hop"), ("hop", "../real/file")]] {
            let stage = Stage::empty();
            let real = stage.root.join("real/file");
            fs::create_dir(stage.root.join("real")).unwrap();
            if !dangling {
                fs::write(&real, "old").unwrap();
                set_mode(&real, 0o640);
            }
            for (link, to) in links {
                symlink(to, stage.home(link)).unwrap();
            }
            stage.save("new").unwrap();
            assert!(links.iter().all(|(link, to)| fs::read_link(stage.home(link)).unwrap() == Path::new(to)));
            assert_eq!(fs::read_to_string(&real).unwrap(), "new");
            assert_eq!(mode(&real), if dangling { 0o600 } else { 0o640 });
            assert_eq!(stage.names().len(), links.len());
        }
    }
}

#[test]
fn a_hard_link_is_split() {
    let stage = Stage::new();
    fs::hard_link(stage.config(), stage.home("other")).unwrap();
    stage.save("new").unwrap();
    assert_eq!((stage.text().as_str(), fs::read(stage.home("other")).unwrap().as_slice()), ("new", &b"old"[..]));
}

#[test]
fn what_is_not_a_file_is_refused() {
    for kind in ["directory", "pipe", "socket"] {
        let stage = Stage::empty();
        let _socket = match kind {
            "directory" => fs::create_dir(stage.config()).map(|()| None).unwrap(),
            "pipe" => nix::unistd::mkfifo(&stage.config(), nix::sys::stat::Mode::S_IRWXU).map(|()| None).unwrap(),
            _ => Some(std::os::unix::net::UnixListener::bind(stage.config()).unwrap()),
        };
        let error = stage.save("new").unwrap_err();
        assert!(matches!(&error, SaveError::NotAFile { target } if *target == stage.config()), "{error:?}");
        assert_eq!(stage.names(), ["config"]);
    }
}

#[test]
fn a_folder_that_is_missing_is_not_made() {
    let stage = Stage::empty();
    let error = replace(&stage.home("none/config"), b"new", Before::Any, None).unwrap_err();
    assert!(matches!(error, SaveError::Io { step: SaveStep::CreateTemporary, .. }), "{error:?}");
    assert_eq!(stage.names(), [""; 0]);
}

/// The user `nobody` where we are root, who may write everything.
const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

#[test]
fn what_is_read_only_is_refused() {
    let stage = Stage::new();
    set_mode(&stage.root, 0o777);
    let program = if nix::unistd::geteuid().is_root() { &NOBODY[..] } else { &[] };
    let exe = env::current_exe().unwrap();
    if can_run(&[program, &[exe.to_str().unwrap(), "--list"]].concat()) {
        pass(stage.process_in(program, "table::refuses_what_is_read_only").env("TMPDIR", &stage.root));
    }
}

#[test]
#[ignore = "run by what_is_read_only_is_refused, not as root"]
fn refuses_what_is_read_only() {
    if Stage::inherited().is_none() {
        return;
    }
    let stage = Stage::new();
    symlink(stage.config(), stage.home("link")).unwrap();
    set_mode(&stage.config(), 0o444);
    let error = replace(&stage.home("link"), b"new", Before::Any, None).unwrap_err();
    assert!(matches!(&error, SaveError::ReadOnly { target } if *target == stage.config()), "{error:?}");

    set_mode(&stage.config(), 0o644);
    set_mode(&stage.root.join("home"), 0o555);
    let error = stage.save("new").unwrap_err();
    assert!(matches!(error, SaveError::Io { step: SaveStep::CreateTemporary, .. }), "{error:?}");
    assert_eq!((stage.text(), stage.names()), ("old".into(), vec!["config".into(), "link".into()]));

    // A directory that may be written but not read.
    set_mode(&stage.root.join("home"), 0o333);
    stage.save("new").unwrap();
    set_mode(&stage.root.join("home"), 0o755);
    assert_eq!(stage.text(), "new");
}
