//! What is made of mistakes, and how long that takes.

mod brackets;
mod commas;
mod conflicts;
mod differential;
mod keys;
mod laws;
mod limits;
mod mutants;
mod numbers;
mod outside;
mod secrets;
mod texts;
mod time;

use serde_json::Value;

use crate::problem::placed;
use crate::syntax::read;

/// What was found, as `missing-comma 1:8 agents.a`, and the value.
fn outcome(text: &str) -> (Vec<String>, Value) {
    let document = read(text);
    let value = document.root.to_value();
    let told = placed(text, document.found).into_iter().map(|problem| {
        let told = format!("{} {}:{} {}", problem.id(), problem.start.line, problem.start.column, problem.path);
        told.trim_end().to_owned()
    });
    (told.collect(), value)
}

/// That each text is read so: what is found, and what is made of it.
fn assert_read(cases: &[(&str, &[&str], &str)]) {
    for (text, found, value) in cases {
        let (told, read) = outcome(text);
        let value: Value = serde_json::from_str(value).expect("a JSON value");
        assert_eq!((told, read), (found.iter().map(ToString::to_string).collect(), value), "{text}");
    }
}
