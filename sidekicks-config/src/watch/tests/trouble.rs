//! Files that are gone or broken, and functions that panic, dawdle or stop the watch.

use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};

use super::*;

#[test]
fn what_is_gone_or_unreadable_is_told_once_and_again_when_it_is_back() {
    let room = Room::new(HASTY);
    let pipe = || nix::unistd::mkfifo(&room.config(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let large = || {
        fs::write(room.path("large"), vec![b' '; contents::MAX_LEN as usize + 1]).unwrap();
        fs::rename(room.path("large"), room.config()).unwrap();
    };
    let cases: [(&str, &dyn Fn()); 4] = [
        ("missing", &|| {}),
        ("unreadable: IsADirectory", &|| fs::create_dir(room.config()).unwrap()),
        ("unreadable: InvalidInput", &pipe),
        ("unreadable: FileTooLarge", &large),
    ];
    for (expected, make) in cases {
        fs::rename(room.config(), room.path("away")).unwrap();
        make();
        while room.next() != expected {} // On a slow machine it is seen as missing before.
        while room.reads.try_recv().is_ok() {}
        fs::write(room.path("home/unrelated"), expected).unwrap();
        room.reads.recv_timeout(PATIENCE).unwrap();
        if expected != "missing" {
            fs::rename(room.config(), room.path(expected)).unwrap();
            assert_eq!(room.next(), "missing");
        }
        fs::rename(room.path("away"), room.config()).unwrap();
        assert_eq!(room.next(), "{0}");
    }
}

#[test]
fn a_broken_or_empty_text_that_stays_is_told() {
    let room = Room::new(HASTY);
    for text in ["{ broken", "", "{whole}", "broken too"] {
        room.write(text);
        while room.next() != text {} // On a slow machine it is seen as empty before.
    }
}

#[test]
fn what_changed_before_the_watch_is_told() {
    let room = Room::prepared(HASTY, |root| fs::write(root.join("home/config"), "{0}").unwrap());
    let (tell, told) = channel();
    let loaded = Digest::of(b"{before}");
    let _watch = watcher(&room.config(), loaded, BY_HINTS).start(move |change| tell.send(words(&change)).unwrap());
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "{0}");
}

#[test]
fn one_write_is_read_three_times_at_most() {
    let at_once = Duration::from_millis(1);
    // Neither our own reading, which is an event too, nor the timer makes it read again.
    for timer in [NEVER, at_once] {
        let room = Room::new(Timing { quiet: at_once, timer, ..BY_HINTS });
        fs::write(room.path("new"), "{1}").unwrap();
        fs::rename(room.path("new"), room.config()).unwrap();
        assert_eq!(room.next(), "{1}");
        // Time passes: another watch settles ten times.
        let other = Room::new(BY_HINTS);
        for number in 1..=10 {
            other.write(&format!("{{{number}}}"));
            assert_eq!(other.next(), format!("{{{number}}}"));
        }
        let reads = room.reads.try_iter().count();
        assert!(reads <= 3, "{reads} with {timer:?}");
    }
}

#[test]
fn what_no_hint_tells_is_found_by_the_timer() {
    let deep = |root: &Path, name: &str, text: &str| {
        fs::create_dir_all(root.join(name).join("folder")).unwrap();
        fs::write(root.join(name).join("folder/config"), text).unwrap();
    };
    let room = Room::prepared(Timing { timer: Duration::from_millis(10), ..BY_HINTS }, |root| {
        deep(root, "deep", "{0}");
        symlink("../deep/folder/config", root.join("home/config")).unwrap();
    });
    for text in ["{1}", "{2}", "{3}"] {
        deep(&room.root, "new", text);
        // The folder above the one that is watched.
        fs::rename(room.path("deep"), room.path(text)).unwrap();
        fs::rename(room.path("new"), room.path("deep")).unwrap();
        assert_eq!(room.next(), text);
    }
    let reads = room.reads.try_iter().count();
    assert!(reads <= 9, "{reads}");
}

#[test]
fn a_panic_costs_one_event() {
    let room = Room::new(BY_HINTS);
    let (tell, told) = channel();
    let _watch = watcher(&room.config(), Digest::of(b"{0}"), BY_HINTS).start(move |change| {
        tell.send(words(&change)).unwrap();
        assert_ne!(words(&change), "{1}", "not a failure: the panic that this test is about");
    });
    for text in ["{1}", "{2}"] {
        room.write(text);
        assert_eq!(told.recv_timeout(PATIENCE).unwrap(), text);
    }
}

#[test]
fn a_slow_function_delays_and_loses_nothing_that_is_still_true() {
    let room = Room::new(BY_HINTS);
    let (tell, told) = channel();
    let (go_on, wait) = channel::<()>();
    let _watch = watcher(&room.config(), Digest::of(b"{0}"), BY_HINTS).start(move |change| {
        tell.send(words(&change)).unwrap();
        let _ = wait.recv_timeout(PATIENCE);
    });
    room.write("{1}");
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "{1}");
    for number in 2..=1000 {
        room.write(&format!("{{{number}}}"));
    }
    drop(go_on);
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "{1000}");
}

#[test]
fn a_function_that_saves_does_not_call_itself_for_ever() {
    let room = Room::new(BY_HINTS);
    let (tell, told) = channel();
    let config = room.config();
    let _watch = watcher(&config.clone(), Digest::of(b"{0}"), BY_HINTS).start(move |change| {
        if words(&change) != "{marker}" {
            crate::replace::replace(&config, b"{formatted}", crate::replace::Before::Any, None).unwrap();
        }
        tell.send(words(&change)).unwrap();
    });
    room.write("{1}");
    for expected in ["{1}", "{formatted}"] {
        assert_eq!(told.recv_timeout(PATIENCE).unwrap(), expected);
    }
    room.write("{marker}");
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "{marker}");
}

#[test]
fn stopping_waits_and_dropping_does_not() {
    let mut room = Room::new(BY_HINTS);
    room.watch.take().unwrap().stop();
    assert!(room.told.try_recv().is_err());
    assert!(room.reads.try_iter().all(|read| read == "{0}"));
    assert_eq!(room.told.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Disconnected));

    let mut room = Room::new(BY_HINTS);
    drop(room.watch.take());
    assert_eq!(room.told.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn the_function_itself_may_stop_the_watch() {
    let room = Room::new(BY_HINTS);
    let (tell, told) = channel();
    let own = Arc::new(Mutex::new(None::<Watch>));
    let watch = own.clone();
    *own.lock().unwrap() = Some(watcher(&room.config(), Digest::of(b"{0}"), BY_HINTS).start(move |change| {
        watch.lock().unwrap().take().unwrap().stop();
        tell.send(words(&change)).unwrap();
    }));
    room.write("{1}");
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "{1}");
    assert_eq!(told.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
}
