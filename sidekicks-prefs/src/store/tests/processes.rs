//! Several processes at once, and killed ones. They are this test program again.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::*;

/// Names the file to a process that was started to change it.
const FILE: &str = "SIDEKICKS_PREFS_TEST_FILE";
/// How many changes it makes; for ever, if that is not set.
const CHANGES: &str = "SIDEKICKS_PREFS_TEST_CHANGES";

/// Counts in a field that is not ours, where no change can hide another.
fn count(store: &Store) -> Updated {
    store.edit(|document| {
        let next = counter(document) + 1;
        document.insert("counter", &next.into())
    })
}

fn counter(document: &Document) -> u64 {
    document.field("counter").flatten().and_then(|counter| counter.as_u64()).unwrap_or_default()
}

fn counted(place: &Place) -> u64 {
    counter(&load(place.file()).unwrap().expect("the file can be read at any time"))
}

/// What the processes do: no test by itself.
#[test]
fn changer() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let changes = std::env::var(CHANGES).map_or(u64::MAX, |changes| changes.parse().unwrap());
    let store = Store { patience: Duration::from_secs(60), ..Store::at(file) };
    for _ in 0..changes {
        let updated = count(&store);
        assert!(updated.saved && updated.notices.is_empty(), "{updated:?}");
        println!("changed");
    }
}

fn start(place: &Place, changes: Option<u64>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["store::tests::processes::changer", "--exact", "--nocapture"]).env(FILE, place.file());
    if let Some(changes) = changes {
        command.env(CHANGES, changes.to_string());
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
fn no_change_is_lost() {
    let place = Place::new();
    let children: Vec<_> = (0..3).map(|_| start(&place, Some(100))).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    assert_eq!(counted(&place), 300);
    assert_eq!(place.names(), ["preferences.json", "preferences.json.lock"]);
}

#[test]
fn a_killed_process_leaves_a_whole_file_and_no_lock() {
    let place = Place::new();
    for round in 1..=30 {
        let before = counted(&place);
        let mut child = start(&place, None);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let seen = lines.by_ref().filter(|line| line.as_ref().unwrap().ends_with("changed")).take(round).count();
        child.kill().unwrap(); // With SIGKILL, wherever it is in its next change.
        child.wait().unwrap();
        assert_eq!(seen, round);
        assert!(counted(&place) >= before + round as u64);
        assert!(count(&place.store).saved, "the lock is free at once");
    }
}
