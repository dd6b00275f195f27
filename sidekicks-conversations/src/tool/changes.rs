//! Which files the input of a tool says it changes.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{levels, patch};

/// A file that is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    pub(crate) is_deleted: bool,
    /// It stays, with nothing in it.
    pub(crate) is_emptied: bool,
    /// Where the command says so, in bytes; `0..0` where it is said elsewhere.
    pub(crate) at: Range<usize>,
}

impl FileChange {
    pub(super) fn of(path: String, is_deleted: bool) -> Self {
        Self { path, is_deleted, is_emptied: false, at: 0..0 }
    }
}

/// The files that `input` says are changed: as a map, as a patch, or in `command` as a patch.
pub(crate) fn changes(input: &Value, command: Option<&str>) -> Vec<FileChange> {
    let mapped = levels(input).filter_map(|input| input.get("changes")?.as_object()).flat_map(of_map);
    let texts = levels(input)
        .flat_map(|input| ["patch", "patchText", "diff", "input"].iter().filter_map(|key| input.get(*key)));
    let patched = texts.chain([input]).filter_map(Value::as_str).flat_map(patch::patched);
    mapped.chain(patched).chain(command.into_iter().flat_map(patch::in_envelopes)).collect()
}

/// A path, and what is done there. Other things are called changes too.
fn of_map(changes: &Map<String, Value>) -> Vec<FileChange> {
    let mut found = Vec::new();
    for (path, change) in changes {
        // Older agents tell what is done as the one name in there, and the rest below that.
        let outside = change.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next());
        let (done, change) = match (&change["type"], outside) {
            (Value::String(done), _) => (done, change),
            (_, Some((done, change))) if change.is_object() => (done, change),
            _ => continue,
        };
        if path.is_empty() || !matches!(done.as_str(), "add" | "delete" | "update") {
            continue;
        }
        let is_emptied = change["unified_diff"].as_str().is_some_and(patch::empties);
        found.push(FileChange { is_emptied, ..FileChange::of(path.clone(), done == "delete") });
        if let Some(target) = change["move_path"].as_str().filter(|target| !target.is_empty()) {
            found.push(FileChange::of(target.to_owned(), false));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Each file, with `-` before one that is deleted, and `0` before one that is emptied.
    fn shown(input: &Value, command: Option<&str>) -> Vec<String> {
        let shown = |FileChange { path, is_deleted, is_emptied, .. }: FileChange| {
            let mark = if is_deleted { "-" } else { "" };
            format!("{mark}{}{path}", if is_emptied { "0" } else { "" })
        };
        changes(input, command).into_iter().map(shown).collect()
    }

    #[test]
    fn changes_of_every_form() {
        let diff = "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n";
        let patch = "*** Begin Patch\n*** Add File: y\n+1\n*** End Patch\n";
        let cases: [(Value, &[&str]); 22] = [
            (
                json!({"changes": {"/w/b": {"type": "add", "content": "1"}, "/w/a": {"type": "delete", "content": ""}}}),
                &["/w/b", "-/w/a"],
            ),
            (json!({"changes": {"a": {"type": "update", "unified_diff": "@@", "move_path": "b"}}}), &["a", "b"]),
            (json!({"changes": {"a": {"type": "update", "move_path": null}}}), &["a"]),
            (json!({"changes": {"a": {"type": "update", "unified_diff": "@@ -1,2 +0,0 @@\n-1\n-2\n"}}}), &["0a"]),
            (json!({"diff": "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-1\n"}), &["0x"]),
            (
                json!({"diff": "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-1\n 2\n--- a/y\n+++ b/y\n@@ -1 +0,0 @@\n-1"}),
                &["x", "0y"],
            ),
            (json!({"changes": {"a": {"delete": {"content": "1"}}, "b": {"add": {"content": "1"}}}}), &["-a", "b"]),
            (json!({"changes": {"a": {"update": {"unified_diff": "@@", "move_path": "b"}}}}), &["a", "b"]),
            (json!({"arguments": {"changes": {"a": {"type": "delete"}}}}), &["-a"]),
            (json!({"diff": diff}), &["-x"]),
            (json!({"patch": patch}), &["y"]),
            (json!({"input": patch}), &["y"]),
            (json!({"patchText": patch}), &["y"]),
            (json!({"params": {"input": diff}}), &["-x"]),
            (json!(patch), &["y"]),
            // Other things are called so too.
            (json!({"changes": [{"oldString": "a", "newString": "b"}]}), &[]),
            (json!({"changes": {"colour": "red", "size": {"type": "number"}, "": {"type": "add"}}}), &[]),
            (json!({"changes": {"a": {"delete": true}, "b": {"delete": {}, "x": {}}, "c": {"colour": {}}}}), &[]),
            (json!({"input": "Delete File: a", "diff": 3, "patch": [patch]}), &[]),
            (json!({"content": patch, "text": diff}), &[]),
            (json!(["a"]), &[]),
            (json!(null), &[]),
        ];
        for (input, expected) in cases {
            assert_eq!(shown(&input, None), expected, "{input}");
        }
    }

    #[test]
    fn a_command_may_hold_a_patch() {
        let command = "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE\n";
        let found = changes(&json!({"cmd": command}), Some(command));
        let [change] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((change.path.as_str(), &command[change.at.clone()]), ("a", "*** Delete File: a"));
        assert!(shown(&json!({}), Some("--- a/x\n+++ /dev/null\n")).is_empty());
    }
}
