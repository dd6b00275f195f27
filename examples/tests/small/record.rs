//! `record` and `replay`: nothing is lost on the way.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use sidekicks_conversations::{Event, PartKind};

use crate::stage::{Ended, Stage, agent};

const RECORD: &str = env!("CARGO_BIN_EXE_record");

fn record(arguments: &[&str]) -> Ended {
    Stage::new().run(RECORD, arguments)
}

fn replay(recorded: &str) -> Ended {
    Stage::new().run_with(env!("CARGO_BIN_EXE_replay"), &[], recorded)
}

/// The fragment of a text that the event tells.
fn said(event: &Event) -> Option<&str> {
    match event {
        Event::MessageDelta { kind: PartKind::Text, text: Some(text), .. } => Some(text),
        _ => None,
    }
}

#[test]
fn what_was_recorded_reads_as_it_was_said() {
    let recorded = record(&[&agent("tool", ""), "what is this?"]);
    insta::assert_snapshot!(replay(recorded.stdout()), @"
    -- stdout
    > you
    what is this?
    > agent
    - Look around
    - Tell
    [ls �: failed]
    You chose no.
    -- stderr
    -- exit code 0
    ");
    let recorded = record(&[&agent("echo", "Ann"), "hello", "and again"]);
    insta::assert_snapshot!(replay(recorded.stdout()), @"
    -- stdout
    > you
    hello
    > agent
    I am Ann in here; 1: hello
    > you
    and again
    > agent
    I am Ann in here; 2: and again
    -- stderr
    -- exit code 0
    ");
}

#[test]
fn every_fragment_of_a_fast_agent_is_there() {
    const COUNT: usize = 20_000; // More than a subscriber may be behind.
    let recorded = record(&[&agent("count", &COUNT.to_string()), "count", "again"]);
    let events: Vec<Event> = recorded.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<String> = events.iter().filter_map(|event| said(event).map(str::to_owned)).collect();
    let numbers: Vec<String> = (0..COUNT).chain(0..COUNT).map(|number| format!("{number} ")).collect();
    assert_eq!(said.len(), numbers.len());
    assert!(said == numbers);
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Reset(_))).count(), 1);
}

#[test]
fn a_line_is_there_as_soon_as_it_happened() {
    let stage = Stage::new();
    let mut program = stage.start(RECORD, &[&agent("wait", "go on"), "hello"]);
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    // The agent says no more until it sees the file.
    let first = lines.find_map(|line| said(&serde_json::from_str(&line.unwrap()).unwrap()).map(str::to_owned));
    assert_eq!(first.as_deref(), Some("one"));
    fs::write(stage.folder().join("go on"), "").unwrap();
    let rest = lines.find_map(|line| said(&serde_json::from_str(&line.unwrap()).unwrap()).map(str::to_owned));
    assert_eq!(rest.as_deref(), Some(", two"));
    assert_eq!(lines.count(), 2, "the whole message, and the end of the turn");
    assert!(program.wait().unwrap().success());
    stage.nothing_is_left();
}

#[test]
fn a_signal_ends_it_and_the_agent_politely() {
    let stage = Stage::new();
    let mut program = stage.start(RECORD, &[&agent("stall", ""), "hello"]);
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| said(&serde_json::from_str(&line.unwrap()).unwrap()) == Some("one")));
    let killed = Command::new("kill").args(["-s", "TERM", &program.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let output = program.wait_with_output().unwrap();
    assert_eq!(str::from_utf8(&output.stderr), Ok("Error: \"terminated\"\n"));
    assert_eq!(output.status.code(), Some(1));
    stage.nothing_is_left();
}

#[test]
fn an_agent_that_leaves_is_in_the_record() {
    let recorded = record(&[&agent("leave", ""), "hello", "are you there?"]);
    insta::assert_snapshot!(replay(recorded.stdout()), @"
    -- stdout
    > you
    hello
    > agent
    Half an ans
    [the agent exited (exit code 3)]
    > you (not sent)
    are you there?
    -- stderr
    -- exit code 0
    ");
}

#[test]
fn what_comes_after_a_broken_line_is_not_made_up() {
    let recorded = record(&[&agent("count", "3"), "count"]);
    let fragment = r#"{"event":"message:delta""#;
    let second = recorded.stdout().match_indices(fragment).nth(1).unwrap().0;
    let mut broken = recorded.stdout().to_owned();
    broken.replace_range(second..second + 20, "");
    insta::assert_snapshot!(replay(&broken), @r#"
    -- stdout
    > you
    count
    > agent
    0 
    -- stderr
    Error: "line 7 is no event: expected value at line 1 column 1"
    -- exit code 1
    "#);
    insta::assert_snapshot!(replay(&recorded.stdout()[..second + 20]), @r#"
    -- stdout
    > you
    count
    > agent
    0 
    -- stderr
    Error: "line 7 is no event: EOF while parsing a string at line 1 column 20"
    -- exit code 1
    "#);
    insta::assert_snapshot!(replay(""), @"
    -- stdout
    -- stderr
    -- exit code 0
    ");
}

#[test]
fn one_who_reads_no_more_ends_it() {
    let stage = Stage::new();
    let mut program = stage.start(RECORD, &[&agent("count", "1000000"), "count"]);
    drop(program.stdout.take());
    let mut stderr = String::new();
    program.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(!program.wait().unwrap().success());
    assert!(stderr.contains("BrokenPipe"), "{stderr}");
    stage.nothing_is_left();
}
