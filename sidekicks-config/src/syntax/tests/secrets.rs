//! What stands in a file as a value is not told.

use proptest::prelude::*;

use super::mutants::{edits, slipped};
use crate::Language;
use crate::problem::placed;
use crate::syntax::read;

/// No letter of it is in any sentence, nor in the name of a key.
const SECRET: &str = "ZQXJKZQXJK";

/// How a secret comes to stand in a file; `@` is it.
const FILES: [&str; 9] = [
    r#"{"env": {"API_KEY": "@", "DEBUG": "1"}, "args": ["--key", "@", "--x"], "a": {"command": "@"}}"#,
    "{\n  \"env\": {\n    \"API_KEY\": \"@\",\n    \"DEBUG\": \"@\"\n  },\n  \"args\": [\n    \"@\",\n    \"@\"\n  ]\n}\n",
    r#"{"env": {"API_KEY": @, "DEBUG": "1"}, "args": [@, "x", @]}"#,
    r#"{"env": {'API_KEY': '@', API: “@”}, "args": ['@ @', "x@"]}"#,
    r#"{"env": {"API_KEY": "Bearer @, "b": "say "@" x"}, "url": "https://@/x?@"}"#,
    r#"{"env": {@, "b": 1, "@", "c" @, @}, "d": {{ "a": "@" }}, @ }"#,
    "API_KEY=@\n",
    "\"@\"",
    "{\"a\": 1} // @\n/* @ */ # @\n@",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_problem_shows_a_value(file in prop::sample::select(&FILES[..]), edits in edits()) {
        assert_secret(&slipped(&file.replace('@', SECRET), &edits));
    }
}

#[test]
fn no_problem_shows_a_value_of_these() {
    for file in FILES {
        assert_secret(&file.replace('@', SECRET));
    }
}

fn assert_secret(text: &str) {
    // A slip may leave some of it.
    let part = &SECRET[..5];
    let named = is_key(text);
    for problem in placed(text, read(text).found) {
        let mut shown = vec![problem.message(Language::En), problem.message(Language::Fr)];
        shown.extend(problem.hint().map(str::to_owned));
        shown.push(problem.path.clone());
        shown.push(format!("{:?}", problem.code));
        assert!(named || !shown.iter().any(|shown| shown.contains(part)), "{shown:?} of {text:?}");
    }
}

/// Whether a slip made the secret a key: a colon, an equals sign or a bracket comes after it, or a value after a text that
/// it is in.
fn is_key(text: &str) -> bool {
    text.match_indices("ZQ").any(|(at, _)| {
        let rest = text[at..].trim_start_matches(|c: char| SECRET.contains(c));
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "\"'”".contains(c));
        rest.starts_with([':', '=', '{', '['])
    })
}
