//! What stands in a file as a value is not told.

use proptest::prelude::*;

use super::mutants::{edits, slipped};
use crate::problem::placed;
use crate::syntax::read;
use crate::{Code, Language, Problem};

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

    /// Paths are left out: a slip may make any text a key, and keys are named.
    #[test]
    fn no_sentence_shows_a_value(file in prop::sample::select(&FILES[..]), edits in edits()) {
        for problem in problems(&slipped(&file.replace('@', SECRET), &edits)) {
            assert_silent(&problem);
        }
    }
}

#[test]
fn neither_sentence_nor_path_shows_a_value_of_these() {
    for file in FILES {
        for problem in problems(&file.replace('@', SECRET)) {
            assert_silent(&problem);
            assert!(!problem.path.contains(PART), "{} in {file}", problem.path);
        }
    }
}

/// A slip may leave some of it.
const PART: &str = "ZQXJK";

fn problems(text: &str) -> Vec<Problem> {
    placed(text, read(text).found)
}

fn assert_silent(problem: &Problem) {
    if matches!(problem.code, Code::DuplicateKey { .. }) {
        return; // It names a key.
    }
    let shown = [problem.message(Language::En), problem.message(Language::Fr), format!("{:?}", problem.code)];
    assert!(!shown.iter().any(|shown| shown.contains(PART)), "{shown:?}");
}
