//! What the input of a tool says beside its command, and what changes what that does.

use serde_json::{Map, Value};

use super::{folded, levels};

/// How a command is run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Beside<'a> {
    /// In this folder, where one is told.
    pub(crate) folder: Option<&'a str>,
    /// With variables, with something to read, or in a folder that cannot be read or is told in two ways.
    pub(crate) otherwise: bool,
}

/// What is told beside the command in `input`.
pub(crate) fn beside(input: &Value) -> Beside<'_> {
    let mut told = Beside::default();
    for (key, value) in levels(input).flatten().filter(|(key, value)| is_beside(key, value)) {
        match (is_folder(&folded(key)), value) {
            (true, Value::String(folder)) if told.folder.is_none_or(|known| known == folder) => {
                told.folder = Some(folder);
            }
            _ => told.otherwise = true,
        }
    }
    told
}

/// Whether any of these is told.
pub(super) fn is_any_beside(input: &Map<String, Value>) -> bool {
    input.iter().any(|(key, value)| is_beside(key, value))
}

fn is_beside(key: &str, value: &Value) -> bool {
    let key = folded(key);
    (is_folder(&key) || matches!(key.as_str(), "env" | "environment" | "stdin")) && !is_blank(value)
}

fn is_folder(key: &str) -> bool {
    matches!(key, "cwd" | "workdir" | "workingdir" | "workingdirectory" | "directory" | "dirpath")
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn where_and_how_it_is_run() {
        let cases = [
            (json!({"command": "ls", "timeout": 3}), None, false),
            (json!({"cwd": "/work", "env": {}, "stdin": "", "directory": null}), Some("/work"), false),
            (json!({"working_directory": "a", "arguments": {"dirPath": "a"}}), Some("a"), false),
            (json!({"cwd": "a", "arguments": {"cwd": "b"}}), Some("a"), true),
            (json!({"cwd": ["a"]}), None, true),
            (json!({"Env": {"PATH": "/tmp"}}), None, true),
            (json!({"params": {"stdin": "x"}}), None, true),
            (json!("ls"), None, false),
        ];
        for (input, folder, otherwise) in cases {
            assert_eq!(beside(&input), Beside { folder, otherwise }, "{input}");
        }
    }
}
