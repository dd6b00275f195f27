//! The files that a call is about.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{FileChange, folded, levels};
use crate::part::ToolPart;

/// What tools call a file or folder, in the order in which they are told; in small letters and without `_`.
const NAMES: &[&str] = &[
    "path",
    "filepath",
    "abspath",
    "absolutepath",
    "file",
    "filename",
    "notebookpath",
    "targetfile",
    "oldpath",
    "newpath",
    "sourcepath",
    "destinationpath",
    "source",
    "destination",
    "paths",
    "files",
    "filepaths",
];

/// No system takes a longer path (Linux, `PATH_MAX`).
const LONGEST: usize = 4096;

/// The files that a call is about, each once: those it tells as places, then those it changes, then those in its input; and
/// whether that is all of them, since what is too long for a path, or is of several lines, may be one all the same.
pub(crate) fn paths(part: &ToolPart, changes: &[FileChange]) -> (Vec<String>, bool) {
    let told = part.locations.iter().map(|location| location.path.as_str());
    let changed = part.diffs.iter().map(|diff| &diff.path).chain(changes.iter().map(|change| &change.path));
    let (given, other): (Vec<&str>, Vec<&str>) = levels(&part.input).flat_map(given).partition(|it| may_be_a_path(it));
    let mut known = HashSet::new();
    let all = told.chain(changed.map(String::as_str)).chain(given);
    let paths = all.filter(|path| known.insert(*path)).map(str::to_owned).collect();
    (paths, other.iter().all(|text| text.trim().is_empty()))
}

fn given(input: &Map<String, Value>) -> Vec<&str> {
    let mut named: Vec<(usize, &Value)> = input.iter().filter_map(|(key, value)| Some((place(key)?, value))).collect();
    named.sort_by_key(|(place, _)| *place);
    // Alone they may be anything, as where a call comes from.
    let is_move = ["source", "destination"].iter().all(|key| input.get(*key).is_some_and(Value::is_string));
    let named = named.into_iter().filter(|(place, _)| is_move || !matches!(NAMES[*place], "source" | "destination"));
    let fetched = input.iter().filter(|(key, _)| matches!(folded(key).as_str(), "url" | "uri"));
    let fetched = fetched.filter_map(|(_, value)| value.as_str()).filter(|url| url.starts_with("file:"));
    named.flat_map(|(_, value)| one_or_more(value)).chain(fetched).collect()
}

fn place(key: &str) -> Option<usize> {
    let key = folded(key);
    NAMES.iter().position(|name| *name == key)
}

/// A text, or each of a list, which may also be objects with a path.
fn one_or_more(value: &Value) -> Vec<&str> {
    match value {
        Value::String(path) => vec![path],
        Value::Array(values) => {
            let named =
                |value| ["path", "filePath", "file_path"].iter().find_map(|key| Value::get(value, key)?.as_str());
            values.iter().filter_map(|value| value.as_str().or_else(|| named(value))).collect()
        }
        _ => Vec::new(),
    }
}

fn may_be_a_path(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= LONGEST && !text.contains(['\n', '\r', '\0'])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::part::{Diff, Location};
    use serde_json::json;

    fn of(input: Value) -> Vec<String> {
        paths(&ToolPart { input: Arc::new(input), ..ToolPart::default() }, &[]).0
    }

    #[test]
    fn the_paths_of_every_form() {
        let long = "x".repeat(LONGEST + 1);
        let cases: [(Value, &[&str]); 29] = [
            (json!({"path": "a"}), &["a"]),
            (json!({"file_path": "a"}), &["a"]),
            (json!({"filePath": "a"}), &["a"]),
            (json!({"filepath": "a"}), &["a"]),
            (json!({"abs_path": "/a"}), &["/a"]),
            (json!({"absolute_path": "/a"}), &["/a"]),
            (json!({"file": "a"}), &["a"]),
            (json!({"filename": "a b"}), &["a b"]),
            (json!({"notebook_path": "a.ipynb"}), &["a.ipynb"]),
            (json!({"target_file": "a"}), &["a"]),
            // In our order, whatever the agent's.
            (json!({"new_path": "b", "old_path": "a"}), &["a", "b"]),
            (json!({"destinationPath": "b", "sourcePath": "a"}), &["a", "b"]),
            (json!({"destination": "b", "source": "a"}), &["a", "b"]),
            (json!({"paths": ["b", "a", "b"], "path": "c"}), &["c", "b", "a"]),
            (
                json!({"files": ["a", {"path": "b", "line": 3}, {"filePath": "e"}, {"name": "c"}, 4, ["d"]]}),
                &["a", "b", "e"],
            ),
            (json!({"file_paths": ["a"]}), &["a"]),
            (json!({"url": "file:///work/a"}), &["file:///work/a"]),
            (json!({"url": "https://example.org/a"}), &[]),
            (json!({"path": "a", "arguments": {"path": "b"}, "input": {"file": "a"}}), &["a", "b"]),
            (json!({"params": {"paths": ["a"]}, "args": {"path": "b"}, "parameters": {"path": "c"}}), &["c", "b", "a"]),
            // No paths.
            (json!({"source": "startup", "command": "ls"}), &[]),
            (json!({"destination": "b", "source": 3}), &[]),
            (json!({"path": "", "file": " ", "files": ["\t"]}), &[]),
            (json!({"file": "one\ntwo", "path": "a\u{0}b"}), &[]),
            (json!({"path": 3, "file": {"path": "x"}, "files": {"a": "b"}, "paths": null}), &[]),
            (json!({"path": long}), &[]),
            (json!({"xpath": "a", "path_": "b", "profile": "c", "cwd": "/"}), &["b"]),
            (json!({"options": {"path": "a"}, "args": ["path"], "input": "a"}), &[]),
            (json!("a"), &[]),
        ];
        for (input, expected) in cases {
            assert_eq!(of(input.clone()), expected, "{input}");
        }
    }

    #[test]
    fn each_file_is_told_once_in_one_order() {
        let part = ToolPart {
            input: Arc::new(json!({"path": "given", "paths": ["place", "changed"]})),
            diffs: Arc::new([Diff::new("diff", ""), Diff::new("place", "")]),
            locations: Arc::new([Location::new("place"), Location::new("place")]),
            ..ToolPart::default()
        };
        let change = |path: &str| FileChange::of(path.to_owned(), false);
        let expected = ["place", "diff", "changed", "given"].map(str::to_owned).into();
        assert_eq!(paths(&part, &[change("changed"), change("diff")]), (expected, true));
    }

    #[test]
    fn what_may_be_one_more_is_told() {
        let long = "x/".repeat(LONGEST);
        for (input, all) in [
            (json!({"path": "a", "file": long}), false),
            (json!({"path": "a\nb"}), false),
            (json!({"path": "a", "file": " \n", "content": "a\nb"}), true),
        ] {
            let part = ToolPart { input: Arc::new(input.clone()), ..ToolPart::default() };
            assert_eq!(paths(&part, &[]).1, all, "{input:.40}");
        }
    }
}
