//! The command in the input of a tool.

use serde_json::{Map, Value};

use super::beside::is_any_beside;
use super::{folded, levels};
use crate::part::ToolPart;

/// What the input of a tool says of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Absent,
    /// There is one, in a form that nobody knows.
    Unreadable,
    /// As a shell would read it.
    Line(String),
}

/// The command in the input of a tool. Where several are given it is all of them, one a line: which of them is run is not
/// known.
pub(crate) fn command(part: &ToolPart) -> Command {
    let is_word = |input: &Map<String, Value>, name: &str| {
        name == "command" && part.tool_kind != "execute" && is_of_an_editor(input)
    };
    let given = levels(&part.input).flat_map(|input| given(input).map(move |(name, value)| (input, name, value)));
    let mut found: Vec<Vec<String>> = Vec::new();
    for (input, name, value) in given.filter(|(input, name, _)| !is_word(input, name)) {
        let Some(commands) = of_fields(name, value, input) else { return Command::Unreadable };
        if !found.contains(&commands) {
            found.push(commands);
        }
    }
    match found.is_empty() {
        true => Command::Absent,
        false => Command::Line(one_a_line(&found.concat())),
    }
}

/// The names that a command has, and what is under each.
fn given(input: &Map<String, Value>) -> impl Iterator<Item = (&'static str, &Value)> {
    let names = ["command", "cmd", "shellcommand", "commandline", "commands"];
    let keyed = |name| input.iter().filter(move |(key, _)| folded(key) == name).map(move |(_, value)| (name, value));
    names.into_iter().flat_map(keyed).filter(|(_, value)| !is_blank(value))
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => true,
    }
}

/// Editors for texts call that a command which they do to a file.
fn is_of_an_editor(input: &Map<String, Value>) -> bool {
    let word = input.get("command").and_then(Value::as_str);
    word.is_some_and(|word| matches!(word, "view" | "create" | "str_replace" | "insert" | "undo_edit" | "edit"))
        && ["path", "file_path"].iter().any(|key| input.contains_key(*key))
}

fn of_fields(name: &str, command: &Value, input: &Map<String, Value>) -> Option<Vec<String>> {
    let beside = arguments(input)?;
    match command {
        Value::Array(commands) if name == "commands" && beside.is_empty() => {
            commands.iter().map(one_of_many).collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
        Value::Array(_) if name == "commands" => None,
        // A program, and its words beside it. It stays as it is: some put a word or two of their own there.
        Value::String(command) => Some(vec![command.clone() + &beside]),
        Value::Array(words) => Some(vec![of_words(words, &beside)?]),
        _ => None,
    }
}

/// What stands beside a program, each with a blank before it; none where that cannot be read.
fn arguments(input: &Map<String, Value>) -> Option<String> {
    let mut beside = String::new();
    for args in ["args", "arguments"].iter().filter_map(|key| input.get(*key)) {
        match args {
            Value::Null | Value::Object(_) => {}
            Value::String(args) => beside.extend([" ", args.as_str()]),
            Value::Array(args) => {
                for arg in args {
                    beside.extend([" ", &quoted(arg.as_str()?)]);
                }
            }
            _ => return None,
        }
    }
    Some(beside)
}

/// A command in a list of several.
fn one_of_many(command: &Value) -> Option<Vec<String>> {
    match command {
        Value::String(command) => Some(vec![command.clone()]),
        Value::Array(words) => Some(vec![of_words(words, "")?]),
        // What stands beside it there is shown nowhere.
        Value::Object(fields) if is_any_beside(fields) => None,
        Value::Object(fields) => {
            let all = given(fields).map(|(name, command)| of_fields(name, command, fields));
            all.collect::<Option<Vec<_>>>().map(|all| all.concat()).filter(|all| !all.is_empty())
        }
        _ => None,
    }
}

/// Several commands, one a line. One that might go on in the line below, as a here-document does, would make a mere text
/// of that; so it is given to a shell of its own, which is what the tool does with it.
fn one_a_line(commands: &[String]) -> String {
    let line = |command: &String| match commands.len() == 1 || ends(command) {
        true => command.clone(),
        false => format!("sh -c {}", quoted(command)),
    };
    commands.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether a command surely ends where its text does.
fn ends(command: &str) -> bool {
    if ["<<", "`", "(", "{", "[", "$'", "$\""].iter().any(|sign| command.contains(sign)) {
        return false;
    }
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                let Some(_) = chars.next() else { return false };
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    quote.is_none()
}

fn of_words(words: &[Value], beside: &str) -> Option<String> {
    let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    match words?.as_slice() {
        [] => None,
        // A shell that is given one line is that line.
        [shell, "-c" | "-lc", line] if beside.is_empty() && is_shell(shell) => Some((*line).to_owned()),
        words => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ") + beside),
    }
}

/// One of the system: any other file may be called so too.
fn is_shell(program: &str) -> bool {
    let (folder, name) = program.rsplit_once('/').unwrap_or(("/bin", program));
    matches!(folder, "/bin" | "/usr/bin" | "/usr/local/bin" | "/opt/homebrew/bin")
        && matches!(name, "sh" | "bash" | "zsh" | "dash")
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

    /// What is there; `Some("?")` where it cannot be read.
    fn shown(kind: &str, input: &Value) -> Option<String> {
        let part = ToolPart { tool_kind: kind.to_owned(), input: Arc::new(input.clone()), ..ToolPart::default() };
        match command(&part) {
            Command::Absent => None,
            Command::Unreadable => Some("?".to_owned()),
            Command::Line(line) => Some(line),
        }
    }

    #[test]
    fn the_command_of_every_form() {
        let cases = [
            (json!({"command": "ls -l"}), Some("ls -l")),
            (json!({"cmd": "ls"}), Some("ls")),
            (json!({"shell_command": "ls"}), Some("ls")),
            (json!({"ShellCommand": "ls"}), Some("ls")),
            (json!({"CMD": "ls", "commandLine": "pwd"}), Some("ls\npwd")),
            (json!({"commands": [{"command": "make", "cwd": "/tmp"}]}), Some("?")),
            (json!({"command": ["/bin/bash", "-lc", "echo hi > out; cat out"]}), Some("echo hi > out; cat out")),
            (json!({"command": ["git", "commit", "-m", "it's done"]}), Some(r"git commit -m 'it'\''s done'")),
            (json!({"command": null, "cmd": ["ls", ""]}), Some("ls ''")),
            (json!({"command": ["ls", 3]}), Some("?")),
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
            (json!({"command": "ls", "args": [3]}), Some("?")),
            (json!({"command": "ls", "args": null}), Some("ls")),
            (json!({"command": "rm", "args": null, "arguments": ["a"]}), Some("rm a")),
            (json!({"command": "git", "args": ["log"], "arguments": "-p"}), Some("git log -p")),
            (json!({"command": ["rm"], "args": "-r a"}), Some("rm -r a")),
            (json!({"command": "kill", "args": 9}), Some("?")),
            // Not what a shell of that name elsewhere does.
            (json!({"command": ["/usr/bin/bash", "-c", "ls"]}), Some("ls")),
            (json!({"command": ["/tmp/bash", "-c", "ls"]}), Some("/tmp/bash -c ls")),
            (json!({"command": ["./bash", "-lc", "ls"]}), Some("./bash -lc ls")),
            // Several.
            (json!({"commands": ["make", ["git", "add", "a b"]]}), Some("make\ngit add 'a b'")),
            (
                json!({"commands": [["bash", "-c", "make; ls"], {"command": "rm", "args": ["a"]}]}),
                Some("make; ls\nrm a"),
            ),
            (
                json!({"commands": [{"commands": [{"commands": ["cat <<E", "E"]}, "ls"]}, {"cmd": "a", "command": "b"}]}),
                Some("sh -c 'cat <<E'\nE\nls\nb\na"),
            ),
            (json!({"commands": ["make", {"args": ["x"]}]}), Some("?")),
            (json!({"commands": ["ls"], "args": ["x"]}), Some("?")),
            (json!({"commands": "ls"}), Some("ls")),
            (json!({"commands": ["ls", 3]}), Some("?")),
            (json!({"commands": ["ls", []]}), Some("?")),
            (json!({"commands": []}), None),
            // Which one is run is not known.
            (json!({"command": "ls", "commands": ["make"]}), Some("ls\nmake")),
            (json!({"command": "ls", "cmd": "rm a", "commands": ["ls", "pwd"]}), Some("ls\nrm a\nls\npwd")),
            (json!({"command": ["bash", "-c", "ls"], "cmd": "ls"}), Some("ls")),
            (json!({"command": 3, "cmd": "ls"}), Some("ls")),
            (json!({"command": "", "cmd": "ls"}), Some("ls")),
            (json!({"command": [], "cmd": "ls"}), Some("ls")),
            (json!({"command": "ls", "cmd": {"x": "y"}}), Some("?")),
            // One takes the next for a text.
            (json!({"commands": ["cat <<E", "rm a", "E"]}), Some("sh -c 'cat <<E'\nrm a\nE")),
            (json!({"command": "echo '", "cmd": "rm a"}), Some("sh -c 'echo '\\'''\nrm a")),
            (json!({"commands": ["echo \\", "rm a"]}), Some("sh -c 'echo \\'\nrm a")),
            (json!({"commands": ["echo $'\\'", "rm a", "'"]}), Some("sh -c 'echo $'\\''\\'\\'''\nrm a\nsh -c ''\\'''")),
            (json!({"commands": ["echo \"a\\\"\"", "echo 'b\\' \"'\""]}), Some("echo \"a\\\"\"\necho 'b\\' \"'\"")),
            // For a tool behind this one.
            (json!({"tool": "shell", "input": {"command": "ls"}}), Some("ls")),
            (json!({"tool": "shell", "arguments": {"cmd": ["ls"]}}), Some("ls")),
            (json!({"parameters": {"commands": ["ls", "pwd"]}}), Some("ls\npwd")),
            (json!({"args": {"command": "git", "args": ["log"]}}), Some("git log")),
            (json!({"params": {"command": "ls"}}), Some("ls")),
            (json!({"command": "ls", "params": {"command": "pwd"}}), Some("ls\npwd")),
            (json!({"params": {"input": {"command": "ls"}}}), None),
            (json!({"params": [{"command": "ls"}]}), None),
            (json!({"options": {"command": "ls"}}), None),
            (json!({"path": "x"}), None),
            (json!("ls"), None),
        ];
        for (input, expected) in cases {
            assert_eq!(shown("other", &input).as_deref(), expected, "{input}");
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
            ("edit", json!({"command": "view", "path": "/a", "cmd": "ls"}), Some("ls")),
            // Programs may be called so too.
            ("execute", json!({"command": "view", "path": "/a"}), Some("view")),
            ("edit", json!({"command": "view"}), Some("view")),
            ("edit", json!({"command": "View", "path": "/a"}), Some("View")),
            ("edit", json!({"command": "view x", "path": "/a"}), Some("view x")),
            ("edit", json!({"command": ["view"], "path": "/a"}), Some("view")),
            ("edit", json!({"command": "rm", "path": "/a"}), Some("rm")),
        ];
        for (kind, input, expected) in cases {
            assert_eq!(shown(kind, &input).as_deref(), expected, "{kind} {input}");
        }
    }
}
