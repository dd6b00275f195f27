//! Files in the state folder that no program of ours left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use sidekicks_acp::Guard;

use crate::marks::BY_MARKER;

/// A process, in a group of its own, that must not be ended.
struct Bystander(Child);

impl Bystander {
    fn start() -> Self {
        use std::os::unix::process::CommandExt;
        Self(Command::new("sleep").arg("300").process_group(0).stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_that_is_another_process_now_is_spared() {
    let state = tempfile::tempdir().unwrap();
    let mut bystander = Bystander::start();
    let (us, other) = (std::process::id(), bystander.0.id());
    let boot = match BY_MARKER {
        true => {
            let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
            format!("{} {}", boot.trim(), fs::read_link("/proc/self/ns/pid").unwrap().display())
        }
        false => "any".to_owned(),
    };
    // The owner is dead, since we started at another time; and so is its agent, since `sleep` did.
    let dead = state.path().join(format!("{us}.1.0.run"));
    fs::write(&dead, format!("{boot}\n+ {other} 1\n+ {us} 1\n")).unwrap();
    let guard = Guard::start(state.path()).await.unwrap();
    assert_eq!((guard.swept().programs, guard.swept().processes), (0, 0));
    assert!(!dead.exists());
    assert_eq!(bystander.0.try_wait().unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_file_of_ours_is_passed_over() {
    let state = tempfile::tempdir().unwrap();
    let path = |name: &str| state.path().join(name);
    let mut bystander = Bystander::start();
    let other = bystander.0.id();
    for name in ["notes", "1.2.run", "a.b.c.run", ".run"] {
        fs::write(path(name), "+ 1 1\n").unwrap();
    }
    fs::create_dir(path("999999.1.0.run")).unwrap();
    nix::unistd::mkfifo(&path("999998.1.0.run"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink(path("notes"), path("999997.1.0.run")).unwrap();
    // These are named as ours are, and belong to nobody who lives.
    fs::write(path("999996.1.0.run"), [0xFF, b'\n', b'+', 0]).unwrap();
    fs::write(path("999995.1.0.run"), "").unwrap();
    fs::write(path("999994.1.0.run"), format!("another boot\n+ {other} 1\n")).unwrap();
    let guard = Guard::start(state.path()).await.unwrap();
    assert_eq!((guard.swept().programs, guard.swept().processes), (0, 0));
    assert_eq!(bystander.0.try_wait().unwrap(), None);
    drop(guard);
    let mut left: Vec<_> =
        fs::read_dir(state.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, [".run", "1.2.run", "999997.1.0.run", "999998.1.0.run", "999999.1.0.run", "a.b.c.run", "notes"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_used_is_named_in_the_error() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("file");
    fs::write(&file, "").unwrap();
    for folder in [file.clone(), file.join("below")] {
        let error = Guard::start(&folder).await.map(drop).unwrap_err();
        assert!(error.to_string().contains(&*folder.to_string_lossy()), "{error}");
    }
    let sealed = state.path().join("sealed");
    fs::create_dir(&sealed).unwrap();
    fs::set_permissions(&sealed, fs::Permissions::from_mode(0o500)).unwrap();
    match Guard::start(&sealed).await {
        Err(error) => assert!(error.to_string().contains(&*sealed.to_string_lossy()), "{error}"),
        Ok(_) if nix::unistd::Uid::effective().is_root() => eprintln!("skipped: root may write to every folder"),
        Ok(guard) => panic!("{guard:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_is_for_our_user_alone() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("sidekicks");
    let _guard = Guard::start(&folder).await.unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}
