//! What is not told, since it may be a secret or say something to a terminal.

use std::path::Path;

use crate::{Language, Problem, check_environment, validate};

/// Everything that a problem tells, in one text.
fn told(problem: &Problem) -> String {
    let (english, french) = (problem.message(Language::En), problem.message(Language::Fr));
    format!("{english}\n{french}\n{:?}\n{problem:?}", problem.hint())
}

#[test]
fn no_name_that_is_none_is_told_of_variables_and_headers() {
    let agent = |env: &str| format!(r#"{{ "version": 1, "agents": {{ "a": {{ "command": "x", "env": {env} }} }} }}"#);
    let server = |headers: &str| {
        let server = format!(r#""m": {{ "type": "http", "url": "https://x", "headers": {headers} }}"#);
        format!(
            r#"{{ "version": 1, "agents": {{ "a": {{ "command": "x", "mcp_servers": ["m"] }} }}, "mcp_servers": {{ {server} }} }}"#
        )
    };
    let cases: [(String, &[&str]); 7] = [
        (agent(r#"{ "KEY=sk-CANARY": "" }"#), &["bad-variable agents.a.env"]),
        (agent(r#"{ "sk-CANARY": 2 }"#), &["bad-variable agents.a.env", "wrong-type agents.a.env"]),
        (
            agent(r#"{ "A": "1" "sk-CANARY": 2 }"#),
            &["missing-comma agents.a.env.A", "bad-variable agents.a.env", "wrong-type agents.a.env"],
        ),
        (
            agent(r#"{ "sk-CANARY": "", "sk-CANARY": "" }"#),
            &["bad-variable agents.a.env", "duplicate-key agents.a.env"],
        ),
        (agent(r#"{ "sk-CANARY": opus }"#), &["bad-variable agents.a.env", "bare-word agents.a.env"]),
        (server(r#"{ "Bearer CANARY": "" }"#), &["bad-header mcp_servers.m.headers"]),
        (
            r#"{ "version": 1, "defaults": { "env": { "sk CANARY" 1 } }, "agents": { "a": { "command": "x" } } }"#
                .to_owned(),
            &["bad-variable defaults.env", "missing-colon defaults.env", "wrong-type defaults.env"],
        ),
    ];
    for (text, expected) in cases {
        let problems = validate(&text);
        let mut found: Vec<String> = problems.iter().map(|p| format!("{} {}", p.id(), p.path)).collect();
        found.sort_by_key(|line| expected.iter().position(|expected| line == expected));
        assert_eq!(found, expected, "{text}");
        for problem in problems.iter().chain(&check_environment(&text, Path::new("/x/sidekicks.jsonc"), &|_| None)) {
            assert!(!told(problem).contains("CANARY"), "{}", told(problem));
        }
    }
}

#[test]
fn no_argument_is_told() {
    for command in ["nope --key sk-CANARY", "nope\\t--key=CANARY", "KEY=CANARY nope", "KEY=CANARY"] {
        let text = format!(r#"{{ "version": 1, "agents": {{ "a": {{ "command": "{command}" }} }} }}"#);
        let problems = check_environment(&text, Path::new("/x/sidekicks.jsonc"), &|_| None);
        assert_eq!(problems.len(), 1, "{command}");
        assert!(!told(&problems[0]).contains("CANARY"), "{}", told(&problems[0]));
    }
}

#[test]
fn no_sentence_and_no_path_says_something_to_a_terminal_or_is_long() {
    let long = "x".repeat(100_000);
    for key in [r"\u001b[2J\u0007", r"\u009b\u007f", "\u{202e}\u{9b}\u{7f}", &long, "é\u{301}\u{85}"] {
        let texts = [
            format!(r#"{{ "version": 1, "{key}": 1, "{key}": 2, "agents": {{ "a": {{ "command": "x" }} }} }}"#),
            format!(r#"{{ "version": 1, "agents": {{ "{key}": {{ "command": "x", "workspace": "{key}" }} }} }}"#),
            format!(
                r#"{{ "version": 1, "agents": {{ "a{key}": {{ "command": "x" }} }}, "channels": {{ "c": {{ "members": ["a"] }} }} }}"#
            ),
        ];
        for problem in texts.iter().flat_map(|text| validate(text)) {
            let shown = [problem.message(Language::En), problem.message(Language::Fr), problem.path.clone()];
            for shown in shown.iter().map(String::as_str).chain(problem.hint()) {
                assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'), "{shown:?}");
                assert!(shown.chars().count() < 300, "{shown:.80}");
            }
        }
    }
}
