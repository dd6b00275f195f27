//! Keys, and what stands in their place.

use std::ops::Range;

use super::{Before, LONGEST_WORD, Parser};
use crate::Code;
use crate::syntax::text::{self, Literal, closers};

/// A key as it is written.
pub(super) struct Key {
    pub(super) value: String,
    pub(super) span: Range<usize>,
    pub(super) faults: Vec<(Code, Range<usize>)>,
    /// Whether it is known to be a key, and which. Otherwise it may be a value, even a secret one, and is not named.
    pub(super) certain: bool,
}

impl Parser<'_> {
    /// The key that stands here. Where there is none, tells of what there is and goes past it.
    ///
    /// After a slip, more of the kind is the same one: only what comes after a comma is told of.
    pub(super) fn key(&mut self, before: Before) -> Option<Key> {
        let c = self.peek()?;
        match closers(c) {
            Some(closers) => self.quoted_key(closers),
            None => self.bare_key().or_else(|| {
                if before != Before::Slip {
                    self.report(Code::MissingKey, self.at..self.at + c.len_utf8());
                }
                match c {
                    '{' | '[' => self.nameless_value(),
                    _ => self.phrase(self.at),
                }
                None
            }),
        }
    }

    fn quoted_key(&mut self, closers: &'static [char]) -> Option<Key> {
        let literal = text::read(self.text, self.at, closers);
        let next = self.past_blanks(literal.span.end);
        if self.is_colon(next) {
            let Literal { value, span, faults, broken } = literal;
            return Some(Key { value, span, faults, certain: !broken });
        }
        if let Some(key) = self.unclosed_key(&literal) {
            return Some(key);
        }
        if self.value_without_colon(next) && !literal.broken {
            let Literal { value, span, faults, .. } = literal;
            // Without a colon it has to look like a name, and not like half of something else.
            let certain = value.chars().all(is_of_name);
            return Some(Key { value, span, faults, certain });
        }
        self.at = literal.span.end;
        if literal.faults.is_empty() {
            self.report(Code::MissingColon, self.at..self.at);
        }
        for (code, span) in literal.faults {
            self.report(code, span);
        }
        // A comma where the colon should be: the value is not another key that lacks one.
        let value = self.past_blanks(next + usize::from(self.text[next..].starts_with(',')));
        let line = !self.text[next..value].contains(['\n', '\r']);
        if value > next && line && self.text[value..].starts_with('"') && !self.is_key_at(value) {
            self.at = value;
            self.nameless_value();
        }
        None
    }

    /// A key whose closing quote is missing, so that its colon and more came into it: `"command: "x"`.
    fn unclosed_key(&self, literal: &Literal) -> Option<Key> {
        let joined = text::joins(&self.text[literal.span.end..]);
        if !joined && !literal.broken {
            return None;
        }
        let open = literal.span.start + self.text[literal.span.start..].chars().next()?.len_utf8();
        let value = self.text[open..literal.span.end].split_once(':')?.0.trim_end();
        if value.is_empty() || !value.chars().all(is_of_name) {
            return None;
        }
        let span = literal.span.start..open + value.len();
        let faults = vec![(Code::UnclosedText, span.clone())];
        Some(Key { value: value.to_owned(), span, faults, certain: true })
    }

    /// A key without quotes, or with the second one only.
    fn bare_key(&self) -> Option<Key> {
        let mut span = self.bare(self.at);
        if span.is_empty() {
            return None;
        }
        let value = self.text[span.clone()].to_owned();
        let rest = &self.text[span.end..];
        if rest.starts_with(['"', '\'']) && self.is_colon(self.past_blanks(span.end + 1)) {
            span.end += 1;
        }
        let next = self.past_blanks(span.end);
        let faults = vec![(Code::UnquotedKey, span.clone())];
        if self.is_colon(next) && !self.text[next..].starts_with("://") {
            return Some(Key { value, span, faults, certain: true });
        }
        let gap = &self.text[span.end..next];
        if gap.is_empty() || gap.contains(['\n', '\r']) || value.contains(' ') {
            return None;
        }
        match self.text[next..].chars().next()? {
            '{' | '[' => Some(Key { value, span, faults, certain: true }),
            c if closers(c).is_some() && !self.is_key_at(next) => Some(Key { value, span, faults, certain: false }),
            _ => None,
        }
    }

    /// Words without quotes up to what cannot be in a key. They are asked for at each word of what may be a very long line,
    /// so that only the first of them are looked at.
    fn bare(&self, start: usize) -> Range<usize> {
        let rest = &self.text[start..];
        let ends = |c| matches!(c, ',' | ':' | ';' | '=' | '{' | '}' | '[' | ']' | '"' | '\'' | '#' | '\n' | '\r');
        let comment = |at: usize| rest[at..].starts_with("//") || rest[at..].starts_with("/*");
        let mut chars = rest.char_indices().take(LONGEST_WORD + 1);
        let end = chars.find(|(at, c)| ends(*c) || comment(*at)).or_else(|| rest.char_indices().nth(LONGEST_WORD));
        let end = end.map_or(rest.len(), |(at, _)| at);
        start..start + rest[..end].trim_end().len()
    }

    /// Whether a key and a colon come next: then what stands before them has no value, or is one itself.
    pub(super) fn is_key(&self) -> bool {
        self.is_key_at(self.at)
    }

    pub(super) fn is_key_at(&self, at: usize) -> bool {
        let Some(c) = self.text[at..].chars().next() else { return false };
        let end = match closers(c) {
            Some(closers) => text::read(self.text, at, closers).span.end,
            None => {
                let span = self.bare(at);
                if span.is_empty() {
                    return false;
                }
                span.end
            }
        };
        let rest = self.text[end..].trim_start_matches([' ', '\t']);
        rest.starts_with(':') && !rest.starts_with("://")
    }

    /// Whether the value of a key begins here, although no colon stands between.
    fn value_without_colon(&self, at: usize) -> bool {
        match self.text[at..].chars().next() {
            None | Some(',' | ';' | '}' | ']') => false,
            Some(_) => !self.is_key_at(at),
        }
    }

    fn is_colon(&self, at: usize) -> bool {
        self.text[at..].starts_with([':', '='])
    }

    /// Goes past the colon after a key, or what stands for one.
    pub(super) fn colon(&mut self, key: &Range<usize>) {
        if !self.is_colon(self.past_blanks(self.at)) {
            self.report(Code::MissingColon, key.end..key.end);
            return;
        }
        self.trivia();
        let start = self.at;
        self.take(|c| matches!(c, ':' | '=' | '>'));
        let marks = &self.text[start..self.at];
        if !marks.contains(':') {
            self.report(Code::MissingColon, key.end..key.end);
        } else if marks != ":" {
            let first = usize::from(marks.starts_with(':'));
            self.report(Code::Unexpected, start + first..start + first + 1);
        }
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | ' ')
}
