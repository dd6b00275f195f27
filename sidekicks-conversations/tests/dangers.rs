//! What is said of commands, over tables of them.

#![cfg(feature = "dangers")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use sidekicks_conversations::{DANGER_CODES, Danger, DangerLevel, dangers};

/// A command, and what is right to say of it.
struct Case {
    command: String,
    level: String,
    span: Option<(usize, usize)>,
    code: Option<String>,
    why: String,
}

fn cases(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).expect("a table of cases");
    let case = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case on each line");
        let at = |place: usize| case["span"][place].as_u64().map(|at| at as usize);
        let word = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
        Case {
            command: command(&case["command"]),
            level: word("level"),
            span: at(0).zip(at(1)),
            code: case["code"].as_str().map(str::to_owned),
            why: word("why"),
        }
    };
    text.lines().map(case).collect()
}

/// A list of words is run without a shell; what is shown is a line that does the same.
fn command(given: &Value) -> String {
    let quoted = |word: &Value| format!("'{}'", word.as_str().unwrap_or_default().replace('\'', r"'\''"));
    match given {
        Value::Array(words) => words.iter().map(quoted).collect::<Vec<_>>().join(" "),
        text => text.as_str().unwrap_or_default().to_owned(),
    }
}

fn level(found: &[Danger]) -> &'static str {
    let has = |level| found.iter().any(|danger| danger.level == level);
    match (has(DangerLevel::Destructive), has(DangerLevel::Unclear)) {
        (true, _) => "destructive",
        (false, true) => "unclear",
        (false, false) => "none",
    }
}

/// What is wrong about what was found, if anything.
fn wrong(case: &Case, found: &[Danger]) -> Option<String> {
    let destructive = || found.iter().filter(|danger| danger.level == DangerLevel::Destructive);
    let touches = |&(start, end): &(usize, usize)| {
        destructive().any(|danger| danger.start >= start && danger.start < end && danger.end > start)
    };
    let coded = |code: &String| found.iter().any(|danger| danger.code == *code);
    let right = level(found) == case.level
        && case.span.as_ref().is_none_or(touches)
        && case.code.as_ref().is_none_or(coded)
        && found.iter().all(|danger| danger.start <= danger.end && danger.end <= case.command.len())
        && found.iter().all(|danger| DANGER_CODES.contains(&&*danger.code));
    (!right).then(|| {
        format!("{}\n  {} {:?} {:?} {}\n  {found:?}", case.command, case.level, case.span, case.code, case.why)
    })
}

fn check(cases: &[Case]) {
    let wrong: Vec<String> = cases.iter().filter_map(|case| wrong(case, &dangers(&case.command))).collect();
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn the_shared_cases_are_right() {
    let Some(folder) = std::env::var_os("SIDEKICKS_CASES").map(PathBuf::from) else {
        return println!("skipped: SIDEKICKS_CASES does not name a folder of cases");
    };
    let cases = cases(&folder.join("commands/cases.jsonl"));
    assert!(cases.len() >= 260, "only {} cases", cases.len());
    check(&cases);
}
