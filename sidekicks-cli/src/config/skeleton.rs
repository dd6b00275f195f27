//! What may be shown of a line: its brackets and its keys, and never a value.
//!
//! A file holds keys and passwords, and who shows a problem shows the line to whoever looks over the shoulder, and to logs.
//! So a line is shown as its skeleton: `"command": "…", "env": { "…": "…" }`. Nothing that is not known beforehand, as the
//! keys of the format and the names of entries are, is ever shown; a `…` is as long for a long value as for a short one.
//! From the first place on that JSON does not have, where a quote may be one too many and everything the other way round,
//! nothing is shown at all.

use std::ops::Range;

/// What stands for what is not shown.
const HIDDEN: &str = "…";

/// A piece of a line, and what is shown of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Which part of the line it is.
    pub(super) bytes: Range<usize>,
    pub(super) shown: String,
}

/// The skeleton of `line`, in which `is_known` tells the keys that may be shown.
pub(super) fn skeleton(line: &str, is_known: &dyn Fn(&str) -> bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let (end, shown) = match piece(&line[at..], first, is_known) {
            Some((length, shown)) => (at + length, shown),
            None => (line.len(), HIDDEN.to_owned()),
        };
        pieces.push(Piece { bytes: at..end, shown });
        at = end;
    }
    pieces
}

/// How long the first piece of `rest` is, and what is shown of it; nothing where it is no JSON.
fn piece(rest: &str, first: char, is_known: &dyn Fn(&str) -> bool) -> Option<(usize, String)> {
    match first {
        ' ' | '\t' => {
            let length = rest.find(|c| !matches!(c, ' ' | '\t')).unwrap_or(rest.len());
            Some((length, rest[..length].to_owned()))
        }
        '{' | '}' | '[' | ']' | ':' | ',' => Some((1, first.to_string())),
        '"' => {
            let length = 1 + closing(&rest[1..])? + 1;
            let known = Some(&rest[1..length - 1]).filter(|key| follows(&rest[length..]) == Some(':') && is_known(key));
            is_regular(&rest[length..]).then(|| (length, format!("\"{}\"", known.unwrap_or(HIDDEN))))
        }
        _ => {
            let length = rest.find(ends_word).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            let key = follows(after) == Some(':') && is_known(word);
            (key || is_literal(word) && is_regular(after))
                .then(|| (length, if key { word.to_owned() } else { HIDDEN.to_owned() }))
        }
    }
}

/// Where the text ends that begins here, before its closing quote.
fn closing(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(at)
    })
}

/// What comes next but blanks.
fn follows(rest: &str) -> Option<char> {
    rest.trim_start_matches([' ', '\t']).chars().next()
}

/// Whether a value or a key may be followed by this. Another text may, after a blank: a comma is missing between them.
fn is_regular(rest: &str) -> bool {
    match follows(rest) {
        None | Some(':' | ',' | '}' | ']') => true,
        Some('"') => rest.starts_with([' ', '\t']),
        Some('/') => {
            let rest = rest.trim_start_matches([' ', '\t']);
            rest.starts_with("//") || rest.starts_with("/*")
        }
        Some(_) => false,
    }
}

fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '{' | '}' | '[' | ']' | ':' | ',' | '"')
}

fn is_literal(word: &str) -> bool {
    matches!(word, "true" | "false" | "null") || serde_json::from_str::<serde_json::Number>(word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let known = |key: &str| ["command", "env", "riker", "args"].contains(&key);
        skeleton(line, &known).into_iter().map(|piece| piece.shown).collect()
    }

    #[test]
    fn keys_are_shown_and_values_are_not() {
        let cases = [
            ("", ""),
            ("  },", "  },"),
            (
                r#""riker": { "command": "codex", "args": ["a", "command"] },"#,
                r#""riker": { "command": "…", "args": ["…", "…"] },"#,
            ),
            (r#""env": { "KEY": "sk-secret" }, "x": 12"#, r#""env": { "…": "…" }, "…": …"#),
            ("\t\"enabled\" : true,", "\t\"…\" : …,"),
            (r#""command": "a\"b\\", "env": {}"#, r#""command": "…", "env": {}"#),
            (r#""command": "a" "env": {"#, r#""command": "…" "env": {"#),
            (r#"command: "a","#, r#"command: "…","#),
            (r#""command": "a", // sk-secret"#, r#""command": "…", …"#),
            // Nothing after what JSON does not have.
            (r#""env": { "KEY": sk:se,cret }"#, r#""env": { "…": …"#),
            (r#""env": { "KEY": 'sk:se,cret' }"#, r#""env": { "…": …"#),
            (r#""env": { "KEY: "sk:se,cret" }"#, r#""env": { …"#),
            (r#""env": { "KEY": "sk:se,cret }, "command": 1"#, r#""env": { "…": …"#),
            (r#""env": { "KEY": "sk"se,cret" }"#, r#""env": { "…": …"#),
            (r#""env": { "KEY": “sk:se,cret” }"#, r#""env": { "…": …"#),
            ("# sk: secret", "…"),
            ("\u{a0}\"command\": 1", "…"),
        ];
        for (line, expected) in cases {
            assert_eq!(shown(line), expected, "{line}");
        }
    }
}
