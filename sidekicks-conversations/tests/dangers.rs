//! What is said of commands, over tables of them.

#![cfg(feature = "dangers")]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
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
    let exact = |&(start, end): &(usize, usize)| {
        // Ours name the code, and then the span is the whole truth.
        case.code.is_none() || destructive().any(|danger| (danger.start, danger.end) == (start, end))
    };
    let right = level(found) == case.level
        && case.span.as_ref().is_none_or(touches)
        && case.span.as_ref().is_none_or(exact)
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

#[test]
fn our_own_cases_are_right() {
    let cases = own();
    let harmless = cases.iter().filter(|case| case.level == "none").count();
    assert!(cases.len() >= 250 && harmless >= 100, "{harmless} of {} are harmless", cases.len());
    check(&cases);
}

#[test]
fn every_code_is_told_of_some_command() {
    let cases = own();
    let told = |code: &str| cases.iter().any(|case| case.code.as_deref() == Some(code));
    // What is said where there is no command, or of files.
    let elsewhere = ["not-analysed", "outside-workspace", "touches-git", "touches-keys", "touches-shell-start"];
    let missing: Vec<_> = DANGER_CODES.iter().filter(|code| !elsewhere.contains(code) && !told(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(DANGER_CODES.is_sorted());
}

fn own() -> Vec<Case> {
    cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dangers/cases.jsonl"))
}

#[test]
fn each_danger_has_its_flag() {
    let command = "rm a; cat b > c && sudo rm d; sh -c 'mv e f; rm g'; git reset; git push -f; rm h";
    let found = dangers(command);
    let told: Vec<(&str, &str)> = found.iter().map(|it| (&*it.code, &command[it.start..it.end])).collect();
    assert_eq!(
        told,
        [
            ("deletes-files", "rm"),
            ("overwrites-file", "> c"),
            ("deletes-files", "rm"),
            ("moves-files", "mv"),
            ("deletes-files", "rm"),
            ("resets-index", "git reset"),
            ("rewrites-remote", "git push -f"),
            ("deletes-files", "rm"),
        ]
    );
}

/// Commands that can stand anywhere, each with what is said of it.
const PARTS: &[(&str, &str)] = &[
    ("echo rm", "none"),
    ("ls -l \"a b\"", "none"),
    ("grep 'mv x' f", "none"),
    ("cat >> log", "none"),
    ("git status", "none"),
    ("echo \"$(date)\"", "none"),
    ("make 2>&1", "none"),
    ("[[ a > b ]]", "none"),
    ("sh -c 'echo hi'", "none"),
    ("git reset -q", "unclear"),
    ("$tool x", "unclear"),
    ("eval \"$x\"", "unclear"),
    ("bash -c \"$y\"", "unclear"),
    ("rm -f x", "destructive"),
    ("sudo mv a b", "destructive"),
    ("date > now", "destructive"),
    ("git push --force", "destructive"),
    ("find . -exec rm {} \\;", "destructive"),
    ("sh -c \"unlink 'a b'\"", "destructive"),
    ("psql -c 'DROP TABLE x'", "destructive"),
];

fn composed() -> impl Strategy<Value = (String, &'static str)> {
    let leaf = proptest::sample::select(PARTS).prop_map(|(command, level)| (command.to_owned(), level));
    leaf.prop_recursive(5, 24, 3, |inner| {
        let two =
            (proptest::sample::select(&["; ", " && ", " || ", " | ", "\n", " & "][..]), inner.clone(), inner.clone());
        let joined = two.prop_map(|(between, a, b)| (format!("{}{between}{}", a.0, b.0), highest(a.1, b.1)));
        let around = [
            ("( ", " )"),
            ("{ ", "; }"),
            ("echo \"$( ", ")\""),
            ("x=$( ", ")"),
            ("if true; then ", "; fi"),
            ("for i in a b; do ", "; done"),
            ("case x in y) ", " ;; esac"),
            ("f() { ", "; }"),
            ("while ", "; do :; done"),
            // A longer text has another mark.
            ("{ bash <<'E@'\n", "\nE@\n}"),
            ("{ cat <<E@\n$( ", ")\nE@\n}"),
        ];
        let wrapped = (proptest::sample::select(around.to_vec()), inner).prop_map(|((before, after), it)| {
            let mark = |text: &str| text.replace('@', &it.0.len().to_string());
            (format!("{}{}{}", mark(before), it.0, mark(after)), it.1)
        });
        prop_oneof![2 => joined, 1 => wrapped]
    })
}

fn highest(a: &'static str, b: &'static str) -> &'static str {
    let rank = |level| ["none", "unclear", "destructive"].iter().position(|it| *it == level);
    if rank(a) >= rank(b) { a } else { b }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Wherever a command stands, it is as dangerous as by itself, and the whole as its most dangerous part.
    #[test]
    fn the_whole_is_as_dangerous_as_its_parts((command, expected) in composed()) {
        let found = dangers(&command);
        prop_assert_eq!(level(&found), expected, "{}: {:?}", command, found);
        let ordered = found.windows(2).all(|pair| pair[0].start <= pair[1].start && pair[0] != pair[1]);
        prop_assert!(ordered, "{:?}", found);
    }
}
