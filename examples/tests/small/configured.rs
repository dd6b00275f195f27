//! `configured`: the agents of a file, and of the file as it becomes.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use crate::stage::Stage;

/// A configuration with one agent of this name, which says so in its answers, and what else is to be in `agents`.
fn file(name: &str, others: &str) -> String {
    let program = env!("CARGO_BIN_EXE_scripted-agent");
    format!(
        r#"{{
  "version": 1,
  "workspaces": {{ "shop": {{ "path": "shop" }} }},
  "agents": {{
    "riker": {{ "command": "{program}", "args": ["echo", "{name}"], "workspace": "shop" }},
    {others}
  }}
}}"#
    )
}

fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir(stage.folder().join("shop")).unwrap();
    stage
}

#[test]
fn a_mistake_costs_one_agent() {
    let stage = stage();
    let file = file("Will", r#""data": { "comand": "x" }"#);
    fs::write(stage.folder().join("sidekicks.jsonc"), file).unwrap();
    let prompts = "make it so\n@data hello\n@riker again\n";
    let ended = stage.run_with(env!("CARGO_BIN_EXE_configured"), &["sidekicks.jsonc"], prompts);
    insta::assert_snapshot!(ended, @r"
    -- stdout
    I am Will in shop; 1: make it so
    I am Will in shop; 2: again
    -- stderr
    sidekicks.jsonc:6:5: agents.data: the key “command” is missing
    sidekicks.jsonc:6:15: agents.data.comand: the key “comand” is unknown here; did you mean “command”?
    [agents: riker]
    there is no such agent
    -- exit code 0
    ");
}

#[test]
fn what_is_saved_counts_at_the_next_line() {
    let stage = stage();
    let path = stage.folder().join("sidekicks.jsonc");
    fs::write(&path, file("Will", "")).unwrap();
    let mut child = stage.start(env!("CARGO_BIN_EXE_configured"), &["sidekicks.jsonc"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(told.next().unwrap().unwrap(), "[agents: riker]");

    writeln!(stdin, "one").unwrap();
    assert_eq!(said.next().unwrap().unwrap(), "I am Will in shop; 1: one");
    // A file that is cut off takes nobody away.
    fs::write(&path, r#"{ "version": 1, "agents": {"#).unwrap();
    assert!(told.next().unwrap().unwrap().starts_with("sidekicks.jsonc:1:"));
    writeln!(stdin, "two").unwrap();
    assert_eq!(said.next().unwrap().unwrap(), "I am Will in shop; 2: two");
    assert!(told.next().unwrap().unwrap().starts_with("sidekicks.jsonc:1:"));
    assert_eq!(told.next().unwrap().unwrap(), "[agents: riker]");
    // Another program of the same name: a new process from the next turn on.
    fs::write(&path, file("Thomas", "")).unwrap();
    assert_eq!(told.next().unwrap().unwrap(), "[agents: riker]");
    writeln!(stdin, "three").unwrap();
    assert_eq!(said.next().unwrap().unwrap(), "I am Thomas in shop; 1: three");

    drop(stdin);
    assert!(child.wait().unwrap().success());
    stage.nothing_is_left();
}
