//! What a command line comes to: simple commands in order, each with its words, redirects and input.

use std::rc::Rc;

use super::text::{Span, Text};

/// A piece of a command line that is run.
#[derive(Debug)]
pub(super) enum Piece {
    Step(Step),
    /// Code that was quoted once more, as between backticks.
    Code(Text),
}

/// A simple command, or the redirects of a compound one.
#[derive(Debug)]
pub(super) struct Step {
    /// Its assignments, as they are written.
    pub(super) assignments: Vec<String>,
    pub(super) words: Vec<Word>,
    /// All its redirects but here-documents, as they are written.
    pub(super) redirections: Vec<String>,
    pub(super) overwrites: Vec<Redirect>,
    pub(super) input: Input,
}

/// A word after quoting, with a hole for each expansion.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) value: Text,
    /// It holds an expansion, so it may become any other word.
    pub(super) hidden: bool,
    /// It is, or holds, `<( )` or `>( )`.
    pub(super) process: bool,
    pub(super) span: Span,
    /// As it is written.
    pub(super) source: String,
}

impl Step {
    /// The whole of it on one line.
    pub(super) fn text(&self) -> String {
        let words = self.words.iter().map(|word| &word.source);
        let all: Vec<&str> = self.assignments.iter().chain(words).chain(&self.redirections).map(|it| &**it).collect();
        all.join(" ")
    }
}

impl Word {
    pub(super) fn text(&self) -> &str {
        self.value.as_str()
    }

    /// With a hole for each `mark`.
    pub(super) fn filled(&self, mark: &str) -> Self {
        let hidden = self.hidden || (!mark.is_empty() && self.text().contains(mark));
        let value = if mark.is_empty() { self.value.clone() } else { self.value.filled(mark) };
        Self { value, hidden, ..self.clone() }
    }
}

/// A redirect that writes over what is there.
#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) writes: Writes,
    pub(super) target: Word,
    pub(super) span: Span,
}

/// What a redirect does to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writes {
    Over,
    /// `>&$x`, which is a file or a descriptor.
    Perhaps,
}

/// What a command reads.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// What the whole reads.
    Inherited,
    /// A here-document or a here-string.
    Text(Rc<Text>),
    /// The output of that step; of something else where there is none.
    Pipe(Option<usize>),
    File,
}
