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
