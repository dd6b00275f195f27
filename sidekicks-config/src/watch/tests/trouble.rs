//! Files that are gone or broken, and functions that panic, dawdle or stop the watch.

use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};

use super::*;

#[test]
fn what_is_gone_or_unreadable_is_told_once_and_again_when_it_is_back() {
    let room = Room::new(HASTY);
    let directory = || fs::create_dir(room.config()).unwrap();
    let pipe = || nix::unistd::mkfifo(&room.config(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let large = || fs::write(room.config(), vec![b' '; contents::MAX_LEN as usize + 1]).unwrap();
    let cases: [(&str, &dyn Fn()); 4] = [
        ("missing", &|| {}),
        ("unreadable: IsADirectory", &directory),
        ("unreadable: InvalidInput", &pipe),
        ("unreadable: FileTooLarge", &large),
    ];
    for (expected, make) in cases {
        fs::rename(room.config(), room.path("away")).unwrap();
        make();
        // Between the two it may have been seen as gone.
        let told = room.next();
        let told = if told == "missing" && expected != told { room.next() } else { told };
        assert_eq!(told, expected);
        fs::write(room.path("home/unrelated"), expected).unwrap(); // A hint, and nothing new.
        if expected != "missing" {
            fs::rename(room.config(), room.path(&expected.replace(": ", " "))).unwrap();
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
        room.write("{"); // Not told, or told: it is as broken as what follows.
        room.write(text);
        let told = room.next();
        assert_eq!(if told == "{" { room.next() } else { told }, text);
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
    let room = Room::new(BY_HINTS);
    for number in 1..=10 {
        room.write(&format!("{{{number}}}"));
        assert_eq!(room.next(), format!("{{{number}}}"));
    }
    let reads = room.reads.try_iter().count();
    assert!(reads <= 30, "{reads}");
}

#[test]
fn the_timer_alone_is_enough_and_reads_only_what_has_changed() {
    // Hints come, but settling takes no time, and so much is read by the timer that hints do not matter.
    let timing = Timing { timer: Duration::from_millis(1), ..BY_HINTS };
    let room = Room::new(timing);
    for text in ["{1}", "{2}"] {
        room.write(text);
        assert_eq!(room.next(), text);
    }
    let reads = room.reads.try_iter().count();
    assert!(reads <= 6, "{reads}");
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
        tell.send(words(&change)).unwrap();
        if words(&change) != "{marker}" {
            crate::replace::replace(&config, b"{formatted}", crate::replace::Before::Any, None).unwrap();
        }
    });
    room.write("{1}");
    for expected in ["{1}", "{formatted}"] {
        assert_eq!(told.recv_timeout(PATIENCE).unwrap(), expected);
    }
    room.has_read("{formatted}");
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
