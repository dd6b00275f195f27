//! The quirks of real agents that concern a conversation, each with the tests that hold what is right for the person.
//!
//! Agents differ in what ACP leaves open, and in what it does not. The quirks were found by running agents; their numbers
//! are those of the list that they were written down in. Those below 18 are of the process and of the wire, which
//! `sidekicks-acp` knows of and a conversation does not. For each other one [`QUIRKS`] names the tests that hold it, and a
//! test sees to it that they are there and that they are run. What is not right yet is in [`NOT_YET`].

#[path = "../common/mod.rs"]
mod common;

mod questions;
mod sessions;
mod settings;
mod table;
mod tools;
mod turns;

use std::fs;
use std::path::Path;

use table::{Held, QUIRKS};

#[test]
fn each_quirk_is_held_by_tests_that_are_there() {
    let numbers: Vec<u8> = QUIRKS.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, (18..=56).collect::<Vec<u8>>(), "each once");
    for (number, quirk, held) in QUIRKS {
        match held {
            Held::Elsewhere(why) => assert!(!why.is_empty(), "{number}: {quirk}"),
            Held::By(tests) => {
                assert!(!tests.is_empty(), "{number}: {quirk}");
                for test in *tests {
                    assert_ne!(is_ignored(test), Some(true), "{number}: {test} is not run");
                }
            }
        }
    }
}

/// Whether this test is ignored; it must be there. `None` where its package is not here.
fn is_ignored(test: &str) -> Option<bool> {
    let (file, name) = test.split_once("::").expect("a file and a function");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = file.starts_with("sidekicks-");
    let path = match beside {
        true => here.join("..").join(file),
        false if file.starts_with("src/") => here.join(file),
        false => here.join("tests").join(file),
    };
    let Ok(source) = fs::read_to_string(path.with_extension("rs")) else {
        assert!(beside, "there is no {file}.rs");
        println!("skipped: {test} is in a package that is not here");
        return None;
    };
    let begins = |line: &&str| {
        let line = line.trim_start();
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("fn ").and_then(|line| line.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('))
    };
    let lines: Vec<&str> = source.lines().collect();
    let at = lines.iter().position(begins).unwrap_or_else(|| panic!("there is no {test}"));
    let attributes = lines[..at].iter().rev().map(|line| line.trim()).take_while(|line| line.starts_with("#["));
    let attributes: Vec<&str> = attributes.collect();
    let has = |begin: &str| attributes.iter().any(|attribute| attribute.starts_with(begin));
    assert!(has("#[test]") || has("#[tokio::test"), "{test} is no test");
    Some(has("#[ignore"))
}
