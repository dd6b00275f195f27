//! What a tool is to be given, as the agent sent it.

use std::io::{self, Write};

use serde_json::Value;

use super::{Look, bounded};
use crate::style::Line;

/// How much of it is shown, in bytes. It may be as large as a message.
const BYTES: usize = 4096;

/// The lines of `input`, if there is any.
pub(super) fn input(input: &Value, look: &Look<'_>) -> Vec<Line> {
    let nothing = match input {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    if nothing {
        return Vec::new();
    }
    let mut text = Bounded(Vec::new());
    let whole = serde_json::to_writer_pretty(&mut text, input).is_ok();
    let mut text = String::from_utf8_lossy(&text.0).into_owned();
    if !whole {
        text.truncate(text.trim_end_matches('\u{FFFD}').len()); // Half a character.
        text.push_str("\n…");
    }
    bounded(&text, look)
}

/// What stands beside a command and changes what it does, in the input and in what that passes on: where it is run if not
/// in the folder of the agent, with which variables, and what it reads.
pub(super) fn beside(input: &Value, look: &Look<'_>) -> Vec<Line> {
    let nested = ["input", "arguments", "parameters", "args", "params"];
    let levels = std::iter::once(input).chain(nested.iter().map(|key| &input[*key])).filter_map(Value::as_object);
    let told = levels.map(|level| {
        let told = level.iter().filter(|(key, value)| counts(key, value, look));
        Value::Object(told.map(|(key, value)| (key.clone(), value.clone())).collect())
    });
    told.flat_map(|told| self::input(&told, look)).collect()
}

fn counts(key: &str, value: &Value, look: &Look<'_>) -> bool {
    let letters: String = key.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
    let is_blank = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    match letters.as_str() {
        "cwd" | "workdir" | "workingdir" | "workingdirectory" | "directory" | "dirpath" => {
            !is_blank && value.as_str().is_none_or(|folder| look.folder.join(folder) != look.folder.join(""))
        }
        "env" | "environment" | "stdin" => !is_blank,
        _ => false,
    }
}

/// Takes so many bytes and no more.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = BYTES - self.0.len();
        if room == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = room.min(bytes.len());
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
