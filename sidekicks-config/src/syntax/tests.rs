//! What is made of mistakes, and how long that takes.

mod differential;
mod laws;
mod mutants;
mod probe;
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
