//! Values, and what to make of something else.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Number;

use super::text::{Literal, closers};
use super::{DEPTH, Document, Finding, Kind, Member, Node, text};
use crate::pointer::Pointer;
use crate::{Code, MAX_PROBLEMS};

/// Reads the whole text.
pub(crate) fn read(text: &str) -> Document {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut parser =
        Parser { text, at, found: Vec::new(), pointer: Pointer::default(), open: Vec::new(), stopped: false };
    let root = parser.root();
    Document { root, found: parser.found }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Finding>,
    pointer: Pointer,
    /// The bracket that each map and list that is open waits for, the innermost last.
    open: Vec<char>,
    /// Nothing more is read, nor told.
    stopped: bool,
}

impl Parser<'_> {
    fn root(&mut self) -> Node {
        self.trivia();
        let root = match self.peek() {
            None => {
                self.report(Code::Empty, self.at..self.at);
                Node { kind: Kind::Broken, span: self.at..self.at, damaged: true }
            }
            Some(_) => self.value(),
        };
        self.trivia();
        while let Some(c) = self.peek() {
            if matches!(c, '}' | ']') {
                self.skip(Code::StrayBracket);
            } else {
                self.report(Code::TrailingContent, self.at..self.at + c.len_utf8());
                self.stop();
            }
            self.trivia();
        }
        root
    }

    fn value(&mut self) -> Node {
        match self.peek() {
            Some('{') => self.nested('}', Self::map),
            Some('[') => self.nested(']', Self::list),
            Some(c) => match closers(c) {
                Some(closers) => {
                    let literal = text::read(self.text, self.at, closers);
                    self.tell(&literal);
                    let kind = if literal.broken { Kind::Broken } else { Kind::Text(literal.value) };
                    Node { kind, span: literal.span, damaged: false }
                }
                None => self.word(),
            },
            None => Node { kind: Kind::Broken, span: self.at..self.at, damaged: false },
        }
    }

    /// A map or a list: `body` reads what comes after its opening bracket, up to the closing one with it.
    fn nested(&mut self, closer: char, body: fn(&mut Self) -> (Kind, bool)) -> Node {
        let start = self.at;
        if self.open.len() == DEPTH {
            self.report(Code::TooDeep, start..start + 1);
            self.stop();
            return Node { kind: Kind::Broken, span: start..self.at, damaged: true };
        }
        self.at += 1;
        self.open.push(closer);
        let (kind, mut damaged) = body(self);
        self.open.pop();
        if self.peek() == Some(closer) {
            self.at += 1;
        } else {
            damaged = true;
            self.report(Code::UnclosedBracket, start..start + 1);
        }
        Node { kind, span: start..self.at, damaged }
    }

    /// Whether a map or list that waits for `closer` ends here: at that bracket, or where one further out ends.
    fn ends(&mut self, closer: char) -> bool {
        match self.peek() {
            None => true,
            Some(c @ ('}' | ']')) => c == closer || self.open.contains(&c),
            Some(_) => false,
        }
    }

    fn map(&mut self) -> (Kind, bool) {
        let mut members: Vec<Member> = Vec::new();
        let mut seen = Seen::default();
        let mut damaged = false;
        let mut comma = true; // Nothing has to part the first one from what was before.
        loop {
            self.trivia();
            if self.ends('}') {
                return (Kind::Map(members), damaged);
            }
            match self.peek() {
                Some(',') if comma => self.skip(Code::ExtraComma),
                Some(',') => {
                    self.at += 1;
                    comma = true;
                }
                Some(']') => {
                    self.skip(Code::StrayBracket);
                    damaged = true;
                }
                Some(':' | '=') => {
                    self.skip(Code::Unexpected);
                    damaged = true;
                }
                _ => {
                    if !comma && let Some(last) = members.last() {
                        let end = last.value.span.end.max(last.key_span.end);
                        let pointer = self.pointer.key(&last.key);
                        self.report_at(Code::MissingComma, pointer, end..end, None);
                    }
                    comma = false;
                    match self.member() {
                        Some(mut member) => {
                            damaged |= member.value.is_broken();
                            if let Some(first) = seen.first(&members, &member.key) {
                                let pointer = self.pointer.key(&member.key);
                                let code = Code::DuplicateKey { key: member.key.clone() };
                                let related = Some(members[first].key_span.clone());
                                self.report_at(code, pointer, member.key_span.clone(), related);
                                member.again = true;
                            }
                            members.push(member);
                        }
                        None => {
                            damaged = true;
                            comma = true; // It was told of: what comes next is not wrong as well.
                            self.eat(',');
                        }
                    }
                }
            }
        }
    }

    /// A key and its value; nothing where something stands here that is none.
    fn member(&mut self) -> Option<Member> {
        let start = self.at;
        let first = self.peek()?;
        let (key, bare) = match closers(first) {
            Some(closers) => {
                let literal = text::read(self.text, start, closers);
                self.at = literal.span.end;
                (literal, false)
            }
            None => {
                self.take(|c| !c.is_whitespace() && !matches!(c, ',' | ':' | '=' | '{' | '}' | '[' | ']' | '"' | '\''));
                let value = self.text[start..self.at].to_owned();
                (Literal { value, span: start..self.at, faults: Vec::new(), broken: false }, true)
            }
        };
        let line = self.line_end();
        self.trivia();
        let followed = matches!(self.peek(), Some(':' | '='));
        let value_follows = self.at <= line
            && match self.peek() {
                None | Some(',' | '}' | ']') => false,
                Some(c) => !bare || matches!(c, '"' | '{' | '['),
            };
        if bare && (key.value.is_empty() || !followed && !value_follows) {
            // A value without a key. It may be a secret: nothing more is said of it.
            self.at = start;
            self.report(Code::MissingKey, start..start + first.len_utf8());
            let told = self.found.len();
            self.value();
            self.found.truncate(told);
            return None;
        }
        if !followed && !value_follows {
            self.report(Code::MissingColon, key.span.end..key.span.end);
            return None;
        }
        self.pointer.push_key(key.value.clone());
        if bare {
            self.report(Code::UnquotedKey, key.span.clone());
        }
        for (code, span) in &key.faults {
            self.report(code.clone(), span.clone());
        }
        if self.peek() != Some(':') {
            self.report(Code::MissingColon, key.span.end..key.span.end);
        }
        if followed {
            self.at += 1;
        }
        let value = self.value_of_key();
        self.pointer.pop();
        Some(Member { key: key.value, key_span: key.span, value, again: false })
    }

    /// The value after a colon.
    fn value_of_key(&mut self) -> Node {
        let colon = self.at;
        let line = self.line_end();
        self.trivia();
        if self.peek() == Some(':') {
            self.skip(Code::Unexpected);
            self.trivia();
        }
        let missing = match self.peek() {
            None | Some(',' | '}' | ']') => true,
            Some(_) => self.at > line && self.is_key(),
        };
        if !missing {
            return self.value();
        }
        self.report(Code::MissingValue, colon..colon);
        Node { kind: Kind::Broken, span: colon..colon, damaged: false }
    }

    /// Whether a key and a colon come next: then what stands before them has no value.
    fn is_key(&self) -> bool {
        let Some(closers) = self.peek().and_then(closers) else { return false };
        let literal = text::read(self.text, self.at, closers);
        self.text[literal.span.end..].trim_start_matches([' ', '\t']).starts_with(':')
    }

    fn list(&mut self) -> (Kind, bool) {
        let mut items: Vec<Node> = Vec::new();
        let mut damaged = false;
        let mut comma = true;
        loop {
            self.trivia();
            if self.ends(']') {
                return (Kind::List(items), damaged);
            }
            match self.peek() {
                Some(',') if comma => self.skip(Code::ExtraComma),
                Some(',') => {
                    self.at += 1;
                    comma = true;
                }
                Some('}') => {
                    self.skip(Code::StrayBracket);
                    damaged = true;
                }
                Some(':') => {
                    self.skip(Code::Unexpected);
                    damaged = true;
                    comma = true;
                }
                _ => {
                    if !comma && let Some(last) = items.last() {
                        let end = last.span.end;
                        let pointer = self.pointer.index(items.len() - 1);
                        self.report_at(Code::MissingComma, pointer, end..end, None);
                    }
                    comma = false;
                    self.pointer.push_index(items.len());
                    let item = self.value();
                    self.pointer.pop();
                    damaged |= item.is_broken();
                    items.push(item);
                }
            }
        }
    }

    /// `true`, `false`, `null`, a number, or something that stands where one of them should.
    fn word(&mut self) -> Node {
        let start = self.at;
        self.take(|c| !c.is_whitespace() && !ends_word(c));
        let word = &self.text[start..self.at];
        let kind = match word {
            "null" => Some(Kind::Null),
            "true" => Some(Kind::Bool(true)),
            "false" => Some(Kind::Bool(false)),
            _ => number(word).map(Kind::Number),
        };
        if let Some(kind) = kind {
            return Node { kind, span: start..self.at, damaged: false };
        }
        let code = if is_numeric(word) { Code::BadNumber } else { Code::BareWord };
        if code == Code::BareWord {
            self.phrase(start);
        }
        self.report(code, start..self.at);
        Node { kind: Kind::Broken, span: start..self.at, damaged: false }
    }

    /// Goes to the end of a text that was begun without a quote: blanks may be in it, and a quote at its end.
    fn phrase(&mut self, start: usize) {
        let line = self.line_end();
        let rest = &self.text[start..line];
        let comment = ["//", "/*"].iter().filter_map(|mark| {
            rest.match_indices(mark).map(|(at, _)| at).find(|at| rest[..*at].ends_with(char::is_whitespace))
        });
        let rest = &rest[..comment.min().unwrap_or(rest.len())];
        let end = rest.find([',', '{', '}', '[', ']', '"']).unwrap_or(rest.len());
        let closed = rest[end..].starts_with('"')
            && !rest[..end].ends_with(char::is_whitespace)
            && rest[end + 1..].trim_start().chars().next().is_none_or(|c| matches!(c, ',' | '}' | ']'));
        let end = if closed { end + 1 } else { rest[..end].trim_end().len() };
        self.at = self.at.max(start + end);
    }

    /// Skips blanks and comments, and tells of those that JSONC does not have.
    fn trivia(&mut self) {
        while let Some(c) = self.peek() {
            let rest = &self.text[self.at..];
            match c {
                ' ' | '\t' | '\n' | '\r' => self.at += 1,
                '/' if rest.starts_with("//") => self.at = self.line_end(),
                '/' if rest.starts_with("/*") => match rest[2..].find("*/") {
                    Some(end) => self.at += 2 + end + 2,
                    None => {
                        self.report(Code::UnclosedComment, self.at..self.at + 2);
                        self.stop();
                    }
                },
                '#' => {
                    let end = self.line_end();
                    self.report(Code::HashComment, self.at..end);
                    self.at = end;
                }
                _ if is_odd_space(c) => {
                    let start = self.at;
                    self.take(is_odd_space);
                    self.report(Code::OddSpace, start..self.at);
                }
                _ => return,
            }
        }
    }

    fn tell(&mut self, literal: &Literal) {
        self.at = literal.span.end;
        for (code, span) in &literal.faults {
            self.report(code.clone(), span.clone());
        }
    }

    fn report(&mut self, code: Code, span: Range<usize>) {
        self.report_at(code, self.pointer.clone(), span, None);
    }

    fn report_at(&mut self, code: Code, pointer: Pointer, span: Range<usize>, related: Option<Range<usize>>) {
        if self.stopped {
            return;
        }
        if self.found.len() == MAX_PROBLEMS {
            self.found.push(Finding { code: Code::TooManyProblems, pointer: Pointer::default(), span, related: None });
            self.stop();
            return;
        }
        self.found.push(Finding { code, pointer, span, related });
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.at = self.text.len();
    }

    /// Tells of one character and goes on after it.
    fn skip(&mut self, code: Code) {
        let width = self.peek().map_or(0, char::len_utf8);
        self.report(code, self.at..self.at + width);
        self.at = self.text.len().min(self.at + width);
    }

    fn eat(&mut self, c: char) {
        self.trivia();
        if self.peek() == Some(c) {
            self.at += c.len_utf8();
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, more: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !more(c)).unwrap_or(rest.len());
    }

    /// Where the line ends in which we are.
    fn line_end(&self) -> usize {
        self.text[self.at..].find(['\n', '\r']).map_or(self.text.len(), |end| self.at + end)
    }
}

/// Which keys stood before. A list is enough for a few, and a map for the rest: a file of thousands must not take the square.
#[derive(Default)]
struct Seen {
    places: HashMap<String, usize>,
}

impl Seen {
    /// The first of these members that has this key, which is about to be added to them.
    fn first(&mut self, members: &[Member], key: &str) -> Option<usize> {
        const FEW: usize = 16;
        if members.len() < FEW {
            return members.iter().position(|member| member.key == key);
        }
        if self.places.is_empty() {
            for (at, member) in members.iter().enumerate() {
                self.places.entry(member.key.clone()).or_insert(at);
            }
        }
        let first = self.places.get(key).copied();
        if first.is_none() {
            self.places.insert(key.to_owned(), members.len());
        }
        first
    }
}

/// What ends a word beside blanks.
fn ends_word(c: char) -> bool {
    matches!(c, ',' | ':' | '{' | '}' | '[' | ']' | '"')
}

/// A space to the eye that is none in JSON, as comes along when text is copied from a page.
fn is_odd_space(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{feff}' | '\u{b}' | '\u{c}') || (c.is_whitespace() && !c.is_ascii())
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
