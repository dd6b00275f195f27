//! Which files the input of a tool says it changes.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{levels, patch};

/// A file that is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    pub(crate) is_deleted: bool,
    /// Where the command says so, in bytes; `0..0` where it is said elsewhere.
    pub(crate) at: Range<usize>,
}

/// The files that `input` says are changed: as a map, as a patch, or in `command` as a patch.
pub(crate) fn changes(input: &Value, command: Option<&str>) -> Vec<FileChange> {
    let mapped = levels(input).filter_map(|input| input.get("changes")?.as_object()).flat_map(of_map);
    let texts = levels(input).flat_map(|input| ["patch", "diff", "input"].iter().filter_map(|key| input.get(*key)));
    let patched = texts.chain([input]).filter_map(Value::as_str).flat_map(patch::patched);
    mapped.chain(patched).chain(command.into_iter().flat_map(patch::in_envelopes)).collect()
}

/// A path, and what is done there. Other things are called changes too.
fn of_map(changes: &Map<String, Value>) -> Vec<FileChange> {
    let mut found = Vec::new();
    for (path, change) in changes {
        let done = change["type"].as_str().filter(|done| matches!(*done, "add" | "delete" | "update"));
        let Some(done) = done.filter(|_| !path.is_empty()) else { continue };
        let mut add = |path: &str, is_deleted| found.push(FileChange { path: path.to_owned(), is_deleted, at: 0..0 });
        add(path, done == "delete");
        if let Some(target) = change["move_path"].as_str().filter(|target| !target.is_empty()) {
            add(target, false);
        }
    }
    found
}
