//! What stands without quotes where a value is due.

use serde_json::Number;

use super::{LONGEST_WORD, Parser};
use crate::Code;
use crate::syntax::trivia::is_odd_space;
use crate::syntax::{Kind, Node, text};

impl<'a> Parser<'a> {
    /// `true`, `false`, `null`, a number, or something that stands where one of them should.
    pub(super) fn word(&mut self) -> Node {
        let start = self.at;
        let word = self.word_at(start);
        if word.is_empty() {
            self.skip(Code::Unexpected); // So that it always goes on.
            return Node { kind: Kind::Broken, span: start..self.at, damaged: false };
        }
        self.at += word.len();
        let code = match plain(word) {
            Some(kind) if !self.is_phrase() => return Node { kind, span: start..self.at, damaged: false },
            None if is_numeric(word) && !self.is_phrase() => Code::BadNumber,
            _ => {
                self.phrase(start);
                Code::BareWord { nearest: foreign(&self.text[start..self.at]).map(str::to_owned) }
            }
        };
        self.report(code, start..self.at);
        Node { kind: Kind::Broken, span: start..self.at, damaged: false }
    }

    /// Whether a list item that needs no quotes, or a map or list, comes next.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.peek(), Some('{' | '[')) || plain(self.word_at(self.at)).is_some()
    }

    /// The word that begins here. What JSON has ends where a comment begins; a word of another kind may be an address.
    fn word_at(&self, start: usize) -> &'a str {
        let rest = &self.text[start..];
        let ends =
            |c: char| c.is_whitespace() || is_odd_space(c) || matches!(c, ',' | ':' | '{' | '}' | '[' | ']' | '"');
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let marks = word.char_indices().find(|(_, c)| matches!(c, '/' | '#' | ';'));
        match marks {
            Some((at, _))
                if begins_comment(&word[at..]) && (plain(&word[..at]).is_some() || is_numeric(&word[..at])) =>
            {
                &word[..at]
            }
            _ => word,
        }
    }

    /// Whether words of the same value follow on this line: `10 minutes`.
    fn is_phrase(&self) -> bool {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t']);
        let next = self.text.len() - rest.len();
        next > self.at
            && rest.starts_with(char::is_alphabetic)
            && plain(self.word_at(next)).is_none()
            && !self.is_key_at(next)
    }

    /// Goes to the end of a text that was begun without a quote: blanks may be in it, and a quote at its end.
    pub(super) fn phrase(&mut self, start: usize) {
        let line = &self.text[start..];
        let mut chars = line.char_indices();
        let mut before = ' ';
        let mut end = line.len();
        while let Some((at, c)) = chars.next() {
            let rest = &line[at..];
            let apart = before.is_whitespace();
            let ends = match c {
                ',' | '}' | ']' | '\n' | '\r' => true,
                ';' => rest[1..].starts_with([' ', '\t']) || text::closes(&rest[1..]),
                '/' | '#' => apart && at > 0 && begins_comment(rest),
                '"' if !apart && text::closes(&rest[1..]) => {
                    self.at = start + at + 1;
                    return;
                }
                '"' => true,
                // `${HOME}` and `opus[1m]` are one word.
                '{' | '[' if !apart => {
                    let closer = if c == '{' { '}' } else { ']' };
                    let mut word = rest.chars().take(LONGEST_WORD).take_while(|c| !matches!(c, '\n' | '\r'));
                    match word.position(|c| c == closer) {
                        Some(chars_before) => {
                            chars.nth(chars_before - 1);
                            false
                        }
                        None => true,
                    }
                }
                '{' | '[' => true,
                _ => false,
            };
            if ends {
                end = at;
                break;
            }
            before = c;
        }
        self.at = start + line[..end].trim_end().len();
    }
}

/// Whether a comment begins, or a semicolon stands where a comma should.
fn begins_comment(rest: &str) -> bool {
    ["//", "/*", "#", ";"].iter().any(|mark| rest.starts_with(mark))
}

/// The value that JSON writes so.
fn plain(word: &str) -> Option<Kind> {
    match word {
        "null" => Some(Kind::Null),
        "true" => Some(Kind::Bool(true)),
        "false" => Some(Kind::Bool(false)),
        _ => number(word).map(Kind::Number),
    }
}

/// The value of JSON that others write so.
fn foreign(word: &str) -> Option<&'static str> {
    let values = [("true", "true"), ("false", "false"), ("null", "null"), ("none", "null"), ("nil", "null")];
    values.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

/// A number as JSON writes it, if it is one that can be held.
fn number(word: &str) -> Option<Number> {
    if !word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return None;
    }
    serde_json::from_str(word).ok()
}

/// Whether someone meant a number: `+1`, `.5`, `007`, `0x1F`, `1e999`.
fn is_numeric(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-', '.']);
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-' | '_'))
}
