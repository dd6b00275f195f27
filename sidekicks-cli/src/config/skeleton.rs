//! What may be shown of a line: its brackets and its keys, and never a value.
//!
//! A file holds keys and passwords, and who shows a problem shows the line to whoever looks over the shoulder, and to logs.
//! So a line is shown as its skeleton: `"command": "…", "env": { "…": "…" }`. Nothing that is not known beforehand, as the
//! keys of the format and the names of entries are, is ever shown; a `…` is as long for a long value as for a short one.
//! From the first place on that JSON does not have, where a quote may be one too many and everything the other way round,
//! nothing is shown at all.

use std::collections::HashSet;
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
    for (bytes, part) in parts(line) {
        let text = &line[bytes.clone()];
        let shown = match part {
            Part::Bare => text.to_owned(),
            Part::Key(key) if is_known(key) => text.to_owned(),
            Part::Key(_) | Part::Text => format!("\"{HIDDEN}\""),
            Part::Hidden => HIDDEN.to_owned(),
        };
        pieces.push(Piece { bytes, shown });
    }
    pieces
}

/// What is certainly a key in `text`: it stands in a map, after its bracket or a comma, and everything before it on its
/// line is as it should be.
pub(super) fn keys(text: &str) -> HashSet<&str> {
    let mut keys = HashSet::new();
    let mut open = Vec::new();
    for line in text.trim_start_matches('\u{feff}').split(['\n', '\r']) {
        let mut before = ',';
        for (bytes, part) in parts(line) {
            match part {
                Part::Key(key) if matches!(before, ',' | '{') && open.last() != Some(&'[') => drop(keys.insert(key)),
                Part::Bare => match &line[bytes.clone()] {
                    "{" => open.push('{'),
                    "[" => open.push('['),
                    "}" | "]" => drop(open.pop()),
                    _ => {}
                },
                _ => {}
            }
            before = line[bytes].trim_start().chars().next().unwrap_or(before);
        }
    }
    keys
}

enum Part<'a> {
    /// A blank, a bracket, a comma or a colon.
    Bare,
    /// A text in quotes before a colon.
    Key(&'a str),
    /// Another one.
    Text,
    /// Something else, and perhaps all the rest.
    Hidden,
}

/// The parts of a line.
fn parts(line: &str) -> impl Iterator<Item = (Range<usize>, Part<'_>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &line[at..];
        let (length, part) = part(rest, rest.chars().next()?).unwrap_or((rest.len(), Part::Hidden));
        let start = at;
        at += length;
        Some((start..at, part))
    })
}

/// How long the first part of `rest` is, and what it is; nothing where it is no JSON.
fn part(rest: &str, first: char) -> Option<(usize, Part<'_>)> {
    match first {
        ' ' | '\t' => Some((rest.find(|c| !matches!(c, ' ' | '\t')).unwrap_or(rest.len()), Part::Bare)),
        '{' | '}' | '[' | ']' | ':' | ',' => Some((1, Part::Bare)),
        '"' => {
            let length = 1 + closing(&rest[1..])? + 1;
            let (text, after) = (&rest[1..length - 1], &rest[length..]);
            let part = if follows(after) == Some(':') { Part::Key(text) } else { Part::Text };
            is_regular(after).then_some((length, part))
        }
        _ => {
            let length = rest.find(ends_word).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            (is_literal(word) && is_regular(after)).then_some((length, Part::Hidden))
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
            (r#"command: "a","#, "…"),
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

    #[test]
    fn keys_are_known_where_nothing_is_wrong_before_them() {
        let cases: [(&str, &[&str]); 8] = [
            (r#"{ "a": { "b": 1 }, "c": ["d", "e"] }"#, &["a", "b", "c"]),
            ("\"a\": 1,\r\n\"b\"", &["a"]),
            (r#""a": "b": 1"#, &["a"]),
            (r#""a" "b": 1"#, &[]),
            (r#""a": "x" "b": 1, "c": 1"#, &["a", "c"]),
            (r#""a: "b": "c": 1"#, &[]),
            (r#"a: 1, "b": 1"#, &[]),
            ("\"a\": [\n\"b\", \"c\": 1", &["a"]),
        ];
        for (text, expected) in cases {
            let mut found: Vec<&str> = keys(text).into_iter().collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{text}");
        }
    }
}
