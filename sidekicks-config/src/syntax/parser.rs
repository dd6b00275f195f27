//! Values, and what to make of something else.

mod conflict;
mod key;
mod list;
mod map;
mod trivia;
mod word;

use std::cell::OnceCell;
use std::mem;
use std::ops::Range;

use super::brackets::Brackets;
use super::text::{self, closers};
use super::{DEPTH, Document, Finding, Kind, Node};
use crate::pointer::Pointer;
use crate::{Code, MAX_PROBLEMS};

/// How many characters are looked at to see what a word without quotes is. A line may be very long, and have many words.
const LONGEST_WORD: usize = 256;

/// Reads the whole text.
pub(crate) fn read(text: &str) -> Document {
    let mut parser = Parser {
        text,
        at: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 },
        found: Vec::new(),
        pointer: Pointer::default(),
        open: Vec::new(),
        left: Before::Value,
        brackets: OnceCell::new(),
        conflict: false,
        quiet: false,
        stopped: false,
    };
    let root = parser.root();
    Document { root, found: parser.found }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Finding>,
    pointer: Pointer,
    /// The maps and lists that are open, the innermost last.
    open: Vec<Open>,
    /// What the value that was read last leaves before the next one.
    left: Before,
    brackets: OnceCell<Brackets>,
    /// The marks of a merge were passed.
    conflict: bool,
    /// What is read is told of already.
    quiet: bool,
    /// Nothing more is read, nor told.
    stopped: bool,
}

/// A map or a list that is not closed yet.
struct Open {
    closer: char,
    damaged: bool,
    /// Another bracket stands where its own should.
    mistyped: bool,
}

/// What stands before a member or an item. Only after a value is a comma missing, and only after a comma is one too many.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A comma, or the opening bracket.
    Comma,
    Value,
    /// Something that was told of, and may have taken the comma with it.
    Slip,
    /// A text that ended with its line for want of a quote: what comes next may be more of it.
    Unclosed,
}

impl Parser<'_> {
    fn root(&mut self) -> Node {
        if self.is_another_encoding() {
            self.report(Code::NotUtf8, self.at..self.at + self.peek().map_or(0, char::len_utf8));
            self.stop();
        }
        self.trivia();
        while let Some(c) = self.peek().filter(|c| matches!(c, ',' | ':' | ';' | '=' | '}' | ']')) {
            self.skip(stray(c));
            self.trivia();
        }
        let root = match self.peek() {
            None => {
                if self.found.is_empty() {
                    self.report(Code::Empty, self.at..self.at);
                }
                Node { kind: Kind::Broken, span: self.at..self.at, damaged: true }
            }
            Some(_) => self.value(),
        };
        if root.is_broken() {
            self.stop(); // A file of some other kind, perhaps; it was told of.
        }
        self.trivia();
        while let Some(c) = self.peek() {
            if matches!(c, '}' | ']') {
                self.skip(stray(c));
            } else {
                self.report(Code::TrailingContent, self.at..self.at + c.len_utf8());
                self.stop();
            }
            self.trivia();
        }
        root
    }

    /// Whether the text begins as one in UTF-16 does: with a mark of two bytes that UTF-8 does not have, which were replaced,
    /// or with every other byte zero.
    fn is_another_encoding(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.starts_with("\u{fffd}\u{fffd}") || rest.chars().take(2).any(|c| c == '\0')
    }

    fn value(&mut self) -> Node {
        self.left = Before::Value;
        match self.peek() {
            Some('{') => self.nested('}', Self::map),
            Some('[') => self.nested(']', Self::list),
            Some(c) => match closers(c) {
                Some(closers) => self.text(closers),
                None => self.word(),
            },
            None => Node { kind: Kind::Broken, span: self.at..self.at, damaged: false },
        }
    }

    /// A map or a list: `body` reads what comes after its opening bracket, up to the closing one.
    fn nested(&mut self, closer: char, body: fn(&mut Self) -> Kind) -> Node {
        let start = self.at;
        if self.open.len() == DEPTH {
            self.report(Code::TooDeep, start..start + 1);
            self.stop();
            return Node { kind: Kind::Broken, span: start..self.at, damaged: true };
        }
        self.at += 1;
        self.open.push(Open { closer, damaged: false, mistyped: false });
        let kind = body(self);
        self.conflict = false;
        self.left = Before::Value;
        let mut damaged = true;
        if let Some(open) = self.open.pop() {
            damaged = open.damaged;
            if self.peek() == Some(closer) || (open.mistyped && !self.stopped) {
                self.at += 1;
            } else {
                damaged = true;
                self.left = Before::Slip;
                let bracket = if closer == '}' { '{' } else { '[' };
                self.report(Code::UnclosedBracket { bracket }, start..start + 1);
            }
        }
        Node { kind, span: start..self.at, damaged }
    }

    /// Goes to the next thing in the map or list that waits for `closer`; nothing when it ends, at its closing bracket,
    /// where one further out ends, or at the end of the text.
    fn next(&mut self, closer: char) -> Option<char> {
        loop {
            self.trivia();
            let c = self.peek()?;
            if c == closer {
                return None;
            }
            if !matches!(c, '}' | ']') {
                return Some(c);
            }
            match self.other_bracket(c) {
                Bracket::OfAnother => return None,
                Bracket::Mistyped => {
                    self.report(Code::WrongBracket { expected: closer }, self.at..self.at + 1);
                    if let Some(open) = self.open.last_mut() {
                        (open.damaged, open.mistyped) = (true, true);
                    }
                    return None;
                }
                Bracket::Stray => {
                    self.skip(stray(c));
                    self.damage();
                }
            }
        }
    }

    /// What to make of a closing bracket that is not the one that is due: what lets the brackets after it come out even.
    fn other_bracket(&self, c: char) -> Bracket {
        let brackets = self.brackets.get_or_init(|| Brackets::of(self.text));
        let after = brackets.opened_after(self.at);
        let depth = self.open.len() as isize;
        let outer = self.open.iter().rposition(|open| open.closer == c);
        match outer {
            Some(outer) if outer as isize + after == 0 => Bracket::OfAnother,
            _ if depth - 1 + after == 0 => Bracket::Mistyped,
            _ if depth + after == 0 => Bracket::Stray,
            Some(_) => Bracket::OfAnother,
            None => Bracket::Stray,
        }
    }

    /// Whether the brackets after here come out even if the innermost list ends here, and a map goes on.
    fn lacks_end(&self) -> bool {
        let brackets = self.brackets.get_or_init(|| Brackets::of(self.text));
        let [.., outer, _] = self.open.as_slice() else { return false };
        outer.closer == '}' && self.open.len() as isize - 1 + brackets.opened_after(self.at) == 0
    }

    fn text(&mut self, closers: &'static [char]) -> Node {
        let literal = text::read_value(self.text, self.at, closers);
        self.at = literal.span.end;
        for (code, span) in literal.faults {
            if code == Code::UnclosedText {
                self.left = Before::Unclosed;
            }
            self.report(code, span);
        }
        let kind = if literal.broken { Kind::Broken } else { Kind::Text(literal.value) };
        Node { kind, span: literal.span, damaged: false }
    }

    /// Goes past more lines of a text that was not closed on its first one, if that is what comes next.
    fn more_of_text(&mut self) {
        let rest = &self.text[self.at..self.line_end()];
        match text::closing_quote(rest) {
            Some(end) => {
                self.at += end;
                self.left = Before::Slip;
            }
            None => {
                self.at += rest.len();
                self.left = Before::Unclosed;
            }
        }
    }

    /// Whether a text that was closed nowhere is closed here.
    fn at_late_quote(&self) -> bool {
        self.peek() == Some('"') && text::closes(&self.text[self.at + 1..])
    }

    fn left(&mut self) -> Before {
        mem::replace(&mut self.left, Before::Value)
    }

    /// More may have been meant to be in the innermost map or list.
    fn damage(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.damaged = true;
        }
    }

    fn report(&mut self, code: Code, span: Range<usize>) {
        if !self.quiet {
            self.report_at(code, self.pointer.clone(), span, None);
        }
    }

    fn report_at(&mut self, code: Code, pointer: Pointer, span: Range<usize>, related: Option<Range<usize>>) {
        if self.stopped {
            return;
        }
        if self.found.len() == MAX_PROBLEMS {
            let span = self.at..self.at;
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
        let end = self.at + self.peek().map_or(0, char::len_utf8);
        self.report(code, self.at..end);
        self.at = self.at.max(end);
    }

    /// The next character; nothing once it stopped.
    fn peek(&self) -> Option<char> {
        if self.stopped { None } else { self.text[self.at..].chars().next() }
    }

    fn take(&mut self, more: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !more(c)).unwrap_or(rest.len());
    }
}

enum Bracket {
    OfAnother,
    Mistyped,
    Stray,
}

/// What a mark is that has nothing to part, to close or to introduce.
fn stray(c: char) -> Code {
    match c {
        '}' | ']' => Code::StrayBracket { bracket: c },
        ',' => Code::ExtraComma,
        _ => Code::Unexpected,
    }
}
