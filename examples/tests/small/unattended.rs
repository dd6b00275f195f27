//! `unattended`: what rules and code decide, with nobody there.

use crate::stage::{Ended, Stage, agent};

const RULES: &str = r#"[
    {"decide": "deny", "path": "**/.env"},
    {"decide": "allow", "command": "make *"},
    {"decide": "ask", "command": "ls"}
]"#;

fn unattended(arguments: &[&str]) -> Ended {
    Stage::new().run(env!("CARGO_BIN_EXE_unattended"), arguments)
}

#[test]
fn each_decision_is_told() {
    let asks = agent("ask", "make test\nmake test && ls\nmake test; rm a\nwho");
    insta::assert_snapshot!(unattended(&["go", &asks, RULES]), @r#"
    -- stdout
    yes no yes no no no 
    -- stderr
    [Read a: allow_once, by Decider]
    [Read b/.env: reject_once, by {"decide":"deny","path":"**/.env"}]
    [make test: allow_once, by {"decide":"allow","command":"make *"}]
    [make test && ls: nobody is there]
    [make test; rm a: reject_once, by Decider]
    [who: reject_once, by Decider]
    -- exit code 0
    "#);
}

#[test]
fn a_rule_with_a_wrong_word_is_an_error_before_anything_is_started() {
    let asks = agent("ask", "make");
    insta::assert_snapshot!(unattended(&["go", &asks, r#"[{"decide": "allow", "comand": "make"}]"#]), @r#"
    -- stdout
    -- stderr
    Error: Error("unknown field `comand`, expected one of `decide`, `action`, `command`, `path`", line: 1, column: 29)
    -- exit code 1
    "#);
}
