//! The command in the input of a tool.

use serde_json::{Map, Value};

use super::levels;
use crate::part::ToolPart;

/// The command in the input of a tool, as a shell would read it.
pub(crate) fn command(part: &ToolPart) -> Option<String> {
    let is_word = |input: &&Map<String, Value>| part.tool_kind != "execute" && is_of_an_editor(input);
    let input = levels(&part.input).filter(|input| !is_word(input)).find(|input| given(input).is_some())?;
    of_fields(input).filter(|command| !command.trim().is_empty())
}

/// The first of the names that a command has, and what is under it.
fn given(input: &Map<String, Value>) -> Option<(&'static str, &Value)> {
    let names = ["command", "cmd", "shell_command", "command_line", "commandLine", "commands"];
    let mut given = names.into_iter().filter_map(|name| Some((name, input.get(name)?)));
    given.find(|(_, value)| !value.is_null())
}

/// Editors for texts call that a command which they do to a file.
fn is_of_an_editor(input: &Map<String, Value>) -> bool {
    let word = input.get("command").and_then(Value::as_str);
    word.is_some_and(|word| matches!(word, "view" | "create" | "str_replace" | "insert" | "undo_edit" | "edit"))
        && ["path", "file_path"].iter().any(|key| input.contains_key(*key))
}

fn of_fields(input: &Map<String, Value>) -> Option<String> {
    let beside = ["args", "arguments"].iter().find_map(|key| input.get(*key).filter(|value| !value.is_object()));
    match given(input)? {
        ("commands", Value::Array(commands)) => {
            let lines: Option<Vec<String>> = commands.iter().map(one_of_many).collect();
            Some(lines?.join("\n"))
        }
        (_, Value::String(command)) => match beside {
            // A program, and its words beside it. It stays as it is: some put a word or two of their own there.
            Some(Value::Array(args)) => {
                args.iter().try_fold(command.clone(), |line, arg| Some(line + " " + &quoted(arg.as_str()?)))
            }
            Some(Value::String(args)) => Some(format!("{command} {args}")),
            _ => Some(command.clone()),
        },
        (_, Value::Array(words)) => {
            let args = beside.and_then(Value::as_array).into_iter().flatten();
            of_words(words.iter().chain(args))
        }
        _ => None,
    }
}

/// A command in a list of several.
fn one_of_many(command: &Value) -> Option<String> {
    match command {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => of_words(words.iter()),
        Value::Object(fields) => of_fields(fields),
        _ => None,
    }
}

fn of_words<'a>(words: impl Iterator<Item = &'a Value>) -> Option<String> {
    let words: Option<Vec<&str>> = words.map(Value::as_str).collect();
    match words?.as_slice() {
        [] => None,
        // A shell that is given one line is that line.
        [shell, "-c" | "-lc", line] if is_shell(shell) => Some((*line).to_owned()),
        words => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    }
}

fn is_shell(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash"))
}

/// A word as a POSIX shell takes it for one word (2.2.2, single quotes).
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use serde_json::json;

    fn of(kind: &str, input: &Value) -> Option<String> {
        command(&ToolPart { tool_kind: kind.to_owned(), input: Arc::new(input.clone()), ..ToolPart::default() })
    }

    #[test]
    fn the_command_of_every_form() {
        let cases = [
            (json!({"command": "ls -l"}), Some("ls -l")),
            (json!({"cmd": "ls"}), Some("ls")),
            (json!({"shell_command": "ls"}), Some("ls")),
            (json!({"command": ["/bin/bash", "-lc", "echo hi > out; cat out"]}), Some("echo hi > out; cat out")),
            (json!({"command": ["git", "commit", "-m", "it's done"]}), Some(r"git commit -m 'it'\''s done'")),
            (json!({"command": null, "cmd": ["ls", ""]}), Some("ls ''")),
            (json!({"command": ["ls", 3]}), None),
            (json!({"command": []}), None),
            (json!({"command": " \n"}), None),
            (json!({"command": "git", "args": ["reset", "--hard"]}), Some("git reset --hard")),
            (json!({"command": "git", "arguments": ["reset", "--hard"]}), Some("git reset --hard")),
            (json!({"cmd": "/bin/sh", "args": ["-c", "rm a; ls"]}), Some("/bin/sh -c 'rm a; ls'")),
            (json!({"command": "rm -r", "args": ["a"]}), Some("rm -r a")),
            (json!({"command": "rm", "args": ["a b"]}), Some("rm 'a b'")),
            (json!({"command": "rm", "args": "-r a"}), Some("rm -r a")),
            (json!({"command": ["git", "-P"], "args": ["log"]}), Some("git -P log")),
            (json!({"command": ["sh", "-c", "ls"], "args": ["x y"]}), Some("sh -c ls 'x y'")),
            (json!({"command": "ls -l", "args": []}), Some("ls -l")),
            (json!({"command": "ls", "args": [3]}), None),
            (json!({"command": "ls", "args": null}), Some("ls")),
            // Several.
            (json!({"commands": ["make", ["git", "add", "a b"]]}), Some("make\ngit add 'a b'")),
            (
                json!({"commands": [["bash", "-c", "make; ls"], {"command": "rm", "args": ["a"]}]}),
                Some("make; ls\nrm a"),
            ),
            (json!({"commands": "ls"}), Some("ls")),
            (json!({"commands": ["ls", 3]}), None),
            (json!({"commands": ["ls", []]}), None),
            (json!({"commands": []}), None),
            (json!({"command": "ls", "commands": ["make"]}), Some("ls")),
            // For a tool behind this one.
            (json!({"tool": "shell", "input": {"command": "ls"}}), Some("ls")),
            (json!({"tool": "shell", "arguments": {"cmd": ["ls"]}}), Some("ls")),
            (json!({"parameters": {"commands": ["ls", "pwd"]}}), Some("ls\npwd")),
            (json!({"args": {"command": "git", "args": ["log"]}}), Some("git log")),
            (json!({"params": {"command": "ls"}}), Some("ls")),
            (json!({"command": "ls", "params": {"command": "pwd"}}), Some("ls")),
            (json!({"params": {"input": {"command": "ls"}}}), None),
            (json!({"params": [{"command": "ls"}]}), None),
            (json!({"options": {"command": "ls"}}), None),
            (json!({"path": "x"}), None),
            (json!("ls"), None),
        ];
        for (input, expected) in cases {
            assert_eq!(of("other", &input).as_deref(), expected, "{input}");
        }
    }

    #[test]
    fn what_an_editor_calls_a_command_is_none() {
        let cases = [
            ("edit", json!({"command": "str_replace", "path": "/a", "old_str": "x"}), None),
            ("other", json!({"command": "view", "file_path": "/a"}), None),
            ("read", json!({"arguments": {"command": "view", "path": "/a"}}), None),
            ("edit", json!({"command": "undo_edit", "path": "/a"}), None),
            ("edit", json!({"command": "insert", "path": "/a", "input": {"command": "ls"}}), Some("ls")),
            // Programs may be called so too.
            ("execute", json!({"command": "view", "path": "/a"}), Some("view")),
            ("edit", json!({"command": "view"}), Some("view")),
            ("edit", json!({"command": "View", "path": "/a"}), Some("View")),
            ("edit", json!({"command": "view x", "path": "/a"}), Some("view x")),
            ("edit", json!({"command": ["view"], "path": "/a"}), Some("view")),
            ("edit", json!({"command": "rm", "path": "/a"}), Some("rm")),
        ];
        for (kind, input, expected) in cases {
            assert_eq!(of(kind, &input).as_deref(), expected, "{kind} {input}");
        }
    }
}
