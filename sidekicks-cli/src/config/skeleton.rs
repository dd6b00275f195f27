//! What may be shown of a line: its brackets and its keys, and never a value.
//!
//! A file holds keys and passwords, and who shows a problem shows the line to whoever looks over the shoulder, and to logs.
//! So a line is shown as its skeleton: `"command": "…", "env": { "…": "…" }`. Nothing that is not known beforehand, as the
//! keys of the format and the names of entries are, is ever shown; a `…` is as long for a long value as for a short one.
//! From the first place on that JSON does not have, where a quote may be one too many and everything the other way round,
//! nothing is shown at all. Comments, which may be over several lines, are passed over.

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

/// A line of a text.
pub(super) struct Row<'a> {
    /// Where it begins.
    pub(super) start: usize,
    pub(super) text: &'a str,
    parts: Vec<(Range<usize>, Part<'a>)>,
}

impl Row<'_> {
    /// The skeleton of some of it, in which `is_known` tells the keys that may be shown: the piece with the byte `at` of the
    /// line, and so many pieces before it and behind it as there are columns to be filled, at most.
    pub(super) fn around(&self, at: usize, columns: usize, is_known: &dyn Fn(&str) -> bool) -> Vec<Piece> {
        let middle = self.parts.partition_point(|(bytes, _)| bytes.end <= at);
        // Each of them has a column at least.
        let some = middle.saturating_sub(columns)..(middle + columns).min(self.parts.len());
        self.parts[some].iter().map(|(bytes, part)| self.piece(bytes, part, is_known)).collect()
    }

    fn piece(&self, bytes: &Range<usize>, part: &Part<'_>, is_known: &dyn Fn(&str) -> bool) -> Piece {
        let text = &self.text[bytes.clone()];
        let shown = match part {
            Part::Bare => text.to_owned(),
            Part::Key(key) if is_known(key) => text.to_owned(),
            Part::Key(_) | Part::Text => format!("\"{HIDDEN}\""),
            Part::Hidden | Part::Comment => HIDDEN.to_owned(),
        };
        Piece { bytes: bytes.clone(), shown }
    }
}

/// The lines of a text, in which a comment may be over several.
pub(super) struct Rows<'a> {
    /// What is still to be read; nothing after the last line.
    rest: Option<&'a str>,
    /// Where that begins.
    at: usize,
    in_comment: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let rest = text.trim_start_matches('\u{feff}');
        Self { rest: Some(rest), at: text.len() - rest.len(), in_comment: false }
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        let rest = self.rest?;
        let end = rest.find(['\n', '\r']);
        let (start, text) = (self.at, &rest[..end.unwrap_or(rest.len())]);
        self.rest = end.map(|end| &rest[end + 1..]);
        self.at += text.len() + 1;
        let mut parts = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let (length, part) = match self.in_comment {
                true => (rest.find("*/").map(|end| end + 2), Part::Comment),
                false if rest.starts_with("/*") => (rest[2..].find("*/").map(|end| end + 4), Part::Comment),
                false => part(rest).map_or((None, Part::Hidden), |(length, part)| (Some(length), part)),
            };
            self.in_comment = length.is_none() && matches!(part, Part::Comment);
            let end = at + length.unwrap_or(rest.len());
            parts.push((at..end, part));
            at = end;
        }
        Some(Row { start, text, parts })
    }
}

/// What is certainly a key in `text`: it stands in a map, after its bracket or a comma, and everything before it on its
/// line is as it should be.
pub(super) fn keys(text: &str) -> HashSet<&str> {
    let mut keys = HashSet::new();
    let mut open = Vec::new();
    for row in Rows::of(text) {
        let mut before = ',';
        for (bytes, part) in row.parts {
            let text = &row.text[bytes];
            match part {
                Part::Comment => continue,
                Part::Key(key) if matches!(before, ',' | '{') && open.last() != Some(&'[') => drop(keys.insert(key)),
                Part::Bare => match text {
                    "{" => open.push('{'),
                    "[" => open.push('['),
                    "}" | "]" => drop(open.pop()),
                    _ => {}
                },
                _ => {}
            }
            before = text.trim_start().chars().next().unwrap_or(before);
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
    /// A comment, or what is of it on this line.
    Comment,
    /// Something else, and perhaps all the rest.
    Hidden,
}

/// So many blanks are one part, at most: few columns are enough for a line of blanks.
const BLANKS: usize = 32;

/// How long the first part of `rest` is, and what it is; nothing where it is no JSON.
fn part(rest: &str) -> Option<(usize, Part<'_>)> {
    match rest.chars().next()? {
        ' ' | '\t' => {
            let blanks = rest.bytes().take(BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t'));
            Some((blanks.count(), Part::Bare))
        }
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

    /// The lines of a text, as they are shown.
    fn shown(text: &str) -> String {
        let known = |key: &str| ["command", "env", "riker", "args"].contains(&key);
        let line = |row: Row<'_>| row.around(0, row.text.len(), &known).into_iter().map(|piece| piece.shown).collect();
        Rows::of(text).map(line).collect::<Vec<String>>().join("\n")
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
            (r#""command": "a", // sk-secret /* "env""#, r#""command": "…", …"#),
            // After a comment it goes on.
            (r#"/* "sk" " */ "command": /**/ "a" /* b */, "env": {}"#, r#"… "command": … "…" …, "env": {}"#),
            (r#""command": "/* a", "env": {}"#, r#""command": "…", "env": {}"#),
            ("/* sk\n\"env\": {\n sk\" */ \"args\": [] /*/ \"env\"\n*/ \"env\"", "…\n…\n… \"args\": [] …\n… \"…\""),
            ("\"command\": 1 /* sk", "\"command\": … …"),
            // A blank more or less.
            (&" ".repeat(100), &" ".repeat(100)),
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
        let cases: [(&str, &[&str]); 10] = [
            (r#"{ "a": { "b": 1 }, "c": ["d", "e"] }"#, &["a", "b", "c"]),
            (r#"{ /* "x": */ "a": 1, /* */ "b": 1 }"#, &["a", "b"]),
            ("{ /*\n\"x\": 1,\n*/ \"a\": 1 }", &["a"]),
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
