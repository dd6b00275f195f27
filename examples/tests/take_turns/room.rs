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

#[test]
fn one_that_lets_nobody_say_no_is_cancelled() {
    let at_prompt = r#"
      printf '{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}\n'
      while read -r answer; do case $answer in *session/cancel*) break ;; esac; done"#;
    let mut run = Run::start("hello", &[agent("pushy", at_prompt, ":")]);
    let (status, _, printed) = run.watched();
    assert!(status.success());
    assert_eq!(printed.matches("I am pushy\n").count(), 2, "{printed}");
    run.nothing_is_left();
}
