//! What stands beside a command and changes what it does.

use std::path::Path;

use serde_json::{Map, Value};

use super::resolved;
use crate::permission::{Danger, DangerLevel};

/// The dangers of what the input of a tool says beside a command: that it is run elsewhere, with variables, or that it is
/// given something to read.
pub(crate) fn beside<'a>(inputs: impl Iterator<Item = &'a Map<String, Value>>, cwd: &Path) -> Vec<Danger> {
    let (mut elsewhere, mut otherwise) = (false, false);
    let cwd = resolved(Path::new(""), cwd);
    for (key, value) in inputs.flatten().filter(|(_, value)| !is_blank(value)) {
        let name: String = key.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
        match (name.as_str(), value) {
            (
                "cwd" | "workdir" | "workingdir" | "workingdirectory" | "directory" | "dirpath",
                Value::String(folder),
            ) => {
                elsewhere |= !resolved(&cwd, Path::new(folder)).starts_with(&cwd);
            }
            ("env" | "environment" | "stdin", _) => otherwise = true,
            _ => {}
        }
    }
    let told = [(elsewhere, "outside-workspace"), (otherwise, "hidden-command")];
    told.iter().filter(|(is, _)| *is).map(|(_, code)| Danger::new(*code, DangerLevel::Unclear)).collect()
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
        let cases: [(Value, &[&str]); 9] = [
            (json!({"cwd": "/work"}), &[]),
            (json!({"cwd": "sub", "env": {}, "stdin": ""}), &[]),
            (json!({"cwd": "/work/sub/.."}), &[]),
            (json!({"cwd": "/work/.."}), &["outside-workspace"]),
            (json!({"working_directory": "~"}), &["outside-workspace"]),
            (json!({"dirPath": "../work2"}), &["outside-workspace"]),
            (json!({"env": {"PATH": "/tmp"}}), &["hidden-command"]),
            (json!({"stdin": "x", "cwd": "/"}), &["outside-workspace", "hidden-command"]),
            (json!({"timeout": 3, "cwd": null}), &[]),
        ];
        for (input, expected) in cases {
            let found = beside(input.as_object().into_iter(), Path::new("/work"));
            let codes: Vec<&str> = found.iter().map(|danger| danger.code.as_str()).collect();
            assert_eq!(codes, expected, "{input}");
        }
    }
}
