//! Room for one.

use crate::stage::{Run, agent};

#[test]
fn agents_that_are_hard_to_end_take_turns_and_never_two_are_there() {
    let agents = [
        agent("polite", ":", ":"),
        agent("deaf to the end of its stdin", "setsid sleep 1000 &", "sleep 1000; sleep 1000"),
        agent("one that leaves children", "sleep 1000 & (setsid sh -c 'sleep 1000; :' &)", ":"),
    ];
    let mut run = Run::start("hello", &agents);
    let (status, most, printed) = run.watched();
    assert!(status.success());
    for name in ["polite", "deaf to the end of its stdin", "one that leaves children"] {
        assert_eq!(printed.matches(&format!("I am {name}\n")).count(), 2, "{printed}");
    }
    assert_eq!(most, 1);
    run.nothing_is_left();
}
