//! Goes through all that a command line runs.
//!
//! Nothing here calls itself: what is found inside something else waits in a list, so that no input is too deep for the
//! stack. How deep, and how much in all, is bounded.

use std::rc::Rc;

use crate::permission::Danger;

use super::output;
use super::parse::{self, MAX_LEN, Refused};
use super::reason::{Found, Reason, told};
use super::rules;
use super::text::{Span, Text};
use super::tree::{Input, Piece, Redirect, Step, Word, Writes};
use super::wrap;
use super::{Simple, UNKNOWN};

/// So often may code stand in code.
const MAX_DEPTH: usize = 10;
/// So often may a command run another, as `sudo env nice` do.
const MAX_WRAPPERS: usize = 40;
/// So many bytes of code are read in all.
const MAX_WORK: usize = 8 * MAX_LEN;

/// What a command reads, as far as the text shows.
#[derive(Debug, Clone)]
pub(super) enum Stdin {
    /// What the whole reads: a terminal perhaps.
    Unknown,
    Fixed(Rc<Text>),
    /// The output of something.
    Hidden,
    File,
}

enum Job {
    Code { code: Text, stdin: Stdin, depth: usize },
    Words { words: Vec<Word>, stdin: Stdin, depth: usize, wrappers: usize },
}

/// What is found, in no order yet.
#[derive(Default)]
pub(super) struct Walk {
    jobs: Vec<Job>,
    work: usize,
    dangers: Vec<(Reason, Span)>,
    commands: Vec<(Span, Simple)>,
}

impl Walk {
    /// All that `command` runs.
    pub(super) fn through(command: &str) -> Self {
        let mut walk = Self::default();
        if command.len() > MAX_LEN {
            walk.dangers.push((Reason::TooComplex, (0, command.len())));
            return walk;
        }
        walk.jobs.push(Job::Code { code: Text::of(command), stdin: Stdin::Unknown, depth: 0 });
        while let Some(job) = walk.jobs.pop() {
            match job {
                Job::Code { code, stdin, depth } => walk.code(&code, &stdin, depth),
                Job::Words { words, stdin, depth, wrappers } => {
                    walk.run(&words, &stdin, depth, wrappers);
                }
            }
        }
        walk
    }

    /// Each danger once, in the order in which they stand.
    pub(super) fn dangers(&self) -> Vec<Danger> {
        let mut dangers: Vec<Danger> = self.dangers.iter().map(|&(reason, span)| told(reason, span)).collect();
        dangers.sort_by(|a, b| (a.start, a.end, &a.code).cmp(&(b.start, b.end, &b.code)));
        dangers.dedup();
        dangers
    }

    /// Every simple command, where none can be hidden.
    pub(super) fn commands(mut self) -> Option<Vec<Simple>> {
        if self.dangers.iter().any(|(reason, _)| reason.hides_commands()) {
            return None;
        }
        self.commands.sort_by_key(|&((start, end), _)| (start, std::cmp::Reverse(end)));
        Some(self.commands.into_iter().map(|(_, command)| command).collect())
    }

    fn code(&mut self, code: &Text, stdin: &Stdin, depth: usize) {
        let whole = code.span(0..code.as_str().len());
        self.work += code.as_str().len();
        if depth > MAX_DEPTH || self.work > MAX_WORK {
            return self.dangers.push((Reason::TooComplex, whole));
        }
        let pieces = match parse::parse(code) {
            Ok(pieces) => pieces,
            Err(Refused::TooComplex) => return self.dangers.push((Reason::TooComplex, whole)),
            Err(Refused::Unreadable) => return self.dangers.push((Reason::Unreadable, whole)),
        };
        for piece in &pieces {
            match piece {
                Piece::Code(code) => {
                    self.jobs.push(Job::Code { code: code.clone(), stdin: stdin.clone(), depth: depth + 1 });
                }
                Piece::Step(step) => {
                    step.writes.iter().for_each(|redirect| self.redirect(redirect));
                    let appends = step.writes.iter().any(|redirect| redirect.writes == Writes::Into);
                    self.commands.push((step.span, simple(step.written.clone(), &step.words, appends)));
                    self.words(&step.words, &input(&pieces, step, stdin), depth, 0);
                }
            }
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        match redirect.writes {
            Writes::Into => {}
            Writes::Over => self.dangers.push((Reason::OverwritesFile, redirect.span)),
            Writes::Perhaps => self.dangers.push((Reason::HiddenCommand, redirect.span)),
        }
    }

    /// What another command runs.
    fn run(&mut self, words: &[Word], stdin: &Stdin, depth: usize, wrappers: usize) {
        if let Some((first, last)) = words.first().zip(words.last()) {
            let written: Vec<&str> = words.iter().map(|word| &*word.source).collect();
            self.commands.push(((first.span.0, last.span.1), simple(written.join(" "), words, false)));
            self.words(words, stdin, depth, wrappers);
        }
    }

    fn words(&mut self, words: &[Word], stdin: &Stdin, depth: usize, wrappers: usize) {
        let Some(first) = words.first() else { return };
        if wrappers > MAX_WRAPPERS {
            return self.dangers.push((Reason::TooComplex, first.span));
        }
        if first.hidden {
            return self.dangers.push((Reason::HiddenCommand, first.span));
        }
        let mut found = Found::default();
        let inner = wrap::unwrap(words, stdin, &mut found);
        rules::look(words, stdin, &mut found);
        self.dangers.append(&mut found.dangers);
        let stdin = inner.unwrap_or_else(|| stdin.clone());
        for code in found.code {
            self.jobs.push(Job::Code { code, stdin: stdin.clone(), depth: depth + 1 });
        }
        for words in found.run {
            let stdin = stdin.clone();
            self.jobs.push(Job::Words { words, stdin, depth, wrappers: wrappers + 1 });
        }
    }
}

fn simple(written: String, words: &[Word], appends: bool) -> Simple {
    let plain: Vec<&str> = words.iter().map(Word::plain).collect();
    let name = wrap::name(words);
    // `git -C x push` pushes.
    let from = if name == "git" { rules::git_verb(words) } else { 1 };
    let rest = || words.get(from..).unwrap_or_default().iter();
    let bare: Vec<&str> = std::iter::once(name).chain(rest().map(Word::plain)).collect();
    let mark = |word: &Word| if word.hidden { UNKNOWN.to_string() } else { word.text().to_owned() };
    let unknown = words.iter().any(|word| word.hidden);
    let guessed =
        unknown.then(|| std::iter::once(name.to_owned()).chain(rest().map(mark)).collect::<Vec<_>>().join(" "));
    Simple { written, plain: plain.join(" "), bare: bare.join(" "), guessed, appends }
}

/// What a step reads; `whole` is what all of them read.
fn input(pieces: &[Piece], step: &Step, whole: &Stdin) -> Stdin {
    let mut input = &step.input;
    loop {
        return match input {
            Input::Inherited => whole.clone(),
            Input::Text(text) => Stdin::Fixed(Rc::clone(text)),
            Input::File => Stdin::File,
            Input::Pipe(None) => Stdin::Hidden,
            Input::Pipe(Some(place)) => {
                let Some(Piece::Step(writer)) = pieces.get(*place) else { return Stdin::Hidden };
                if output::is_copy(&writer.words) {
                    // What goes into `cat` comes out of it.
                    match &writer.input {
                        Input::File => return Stdin::Hidden,
                        Input::Inherited if matches!(whole, Stdin::Unknown | Stdin::File) => return Stdin::Hidden,
                        through => input = through,
                    }
                    continue;
                }
                output::of(&writer.words).map_or(Stdin::Hidden, |text| Stdin::Fixed(Rc::new(text)))
            }
        };
    }
}
