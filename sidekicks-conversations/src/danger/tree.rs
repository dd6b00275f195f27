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

/// A simple command, or what a compound one adds to those inside it.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// All of it on one line.
    pub(super) written: String,
    pub(super) span: Span,
    /// None where it only sets variables or writes files.
    pub(super) words: Vec<Word>,
    pub(super) writes: Vec<Redirect>,
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

impl Word {
    pub(super) fn text(&self) -> &str {
        self.value.as_str()
    }

    /// Without its quotes, where nothing else is done to it.
    pub(super) fn plain(&self) -> &str {
        if self.hidden { &self.source } else { self.text() }
    }

    /// What is written there is kept: it goes neither to another command nor to nowhere.
    pub(super) fn keeps(&self) -> bool {
        let text = self.text();
        let passing = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
        // `/dev/fd/../../..` leads to every file.
        let descriptor = text.strip_prefix("/dev/fd/").is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_digit()));
        !self.process && !passing.contains(&text) && !descriptor
    }

    /// With a hole for each `mark`.
    pub(super) fn filled(&self, mark: &str) -> Self {
        let hidden = self.hidden || (!mark.is_empty() && self.text().contains(mark));
        let value = if mark.is_empty() { self.value.clone() } else { self.value.filled(mark) };
        Self { value, hidden, ..self.clone() }
    }
}

/// A redirect that writes.
#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) writes: Writes,
    pub(super) span: Span,
}

/// What a redirect does to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writes {
    Over,
    /// It appends, or keeps what it does not reach.
    Into,
    /// `>&$x`, which is a file or a descriptor.
    Perhaps,
}

/// What a command reads.
#[derive(Debug, Clone, Default)]
pub(super) enum Input {
    /// What the whole reads.
    #[default]
    Inherited,
    /// A here-document or a here-string.
    Text(Rc<Text>),
    /// The output of that step; of something else where there is none.
    Pipe(Option<usize>),
    File,
}
