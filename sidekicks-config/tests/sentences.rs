//! What is said of some of our own cases, in both languages.

use std::fs;
use std::path::Path;

use sidekicks_config::{Language, validate};

/// `line:column id`, and what is said in English and in French.
fn told(case: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(case).with_extension("jsonc");
    let problems = validate(&fs::read_to_string(file).expect("a case"));
    let line = |p: &sidekicks_config::Problem| {
        let (place, english, french) = (p.start, p.message(Language::En), p.message(Language::Fr));
        let other = p.related.map(|other| format!(" ({}:{})", other.line, other.column)).unwrap_or_default();
        format!("{}:{}{other} {}\n  {english}\n  {french}\n", place.line, place.column, p.id())
    };
    problems.iter().map(line).collect()
}

#[test]
fn sentences_are_these() {
    for case in ["kinds-of-problems", "rules", "nobody-enabled-and-unused", "mcp-servers", "pasted-zed-entries"] {
        insta::assert_snapshot!(case, told(case));
    }
}
