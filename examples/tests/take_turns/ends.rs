//! Every way to end it while an agent works, one that ignores the end of its stdin and has a command in a session of its
//! own.

use crate::stage::{Run, agent};

/// Starts it, and waits until the agent works.
fn working(at_end: &str) -> Run {
    let at_prompt = "setsid sh -c 'echo $$ >working; exec sleep 1000'";
    let run = Run::start("work", &[agent("at work", at_prompt, at_end)]);
    run.until("it works", |run| run.home.path().join("working").exists());
    run
}

const DEAF: &str = "sleep 1000; sleep 1000";
const STUBBORN: &str = "trap '' TERM; sleep 1000; sleep 1000";

#[test]
fn a_signal_stops_it_politely() {
    for signal in ["TERM", "HUP"] {
        let mut run = working(":");
        run.signal(signal);
        assert_eq!(run.wait().code(), Some(1), "{signal}");
        run.nothing_is_left();
    }
}

#[test]
fn ctrl_c_again_and_again_ends_whatever_there_is() {
    for temper in [DEAF, STUBBORN] {
        let mut run = working(temper);
        while !run.is_over() {
            run.signal("INT");
            std::thread::yield_now();
        }
        assert_eq!(run.wait().code(), Some(1));
        run.nothing_is_left();
    }
}

#[test]
fn killed_itself_it_leaves_nothing_either() {
    for temper in [":", DEAF, STUBBORN] {
        let mut run = working(temper);
        run.signal("KILL");
        run.wait();
        run.nothing_is_left();
    }
}
