//! What is wrong, and where.

mod code;
mod message;
mod shown;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::Range;

pub use code::{Advice, CODES, Code, Expected};

pub(crate) use shown::{cut, escaped};

use crate::language::Language;
use crate::pointer::Pointer;
use crate::position::{Lines, Position};
use crate::syntax::Finding;

/// How many problems are told of one text at most; what else there may be is [`Code::TooManyProblems`].
pub const MAX_PROBLEMS: usize = 100;

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// The file can be used as it is; something in it is probably not what was meant.
    Warning,
    /// The file cannot be used, or not all of it.
    Error,
}

/// One thing that is wrong with a text, at its place.
///
/// No value that stands in the text is ever in it, only names: of agents, workspaces, channels, servers and keys. Nor is a
/// name of a variable or a header that is none, for it may be a secret that was put in the wrong place. An amount of time or
/// memory, such as `1m`, is the one value that a hint is made of: `1min`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// What it is, with what there is to know about it.
    pub code: Code,
    /// Which value or key it is about, as `agents.riker.args[0]` or `agents["two words"]`; empty for the whole text. A key
    /// of more than 80 characters ends with `…`, and the path of a name that may be a secret ends at the map.
    pub path: String,
    /// The bytes of the text that it is about; empty where something is missing.
    pub span: Range<usize>,
    /// Where that begins.
    pub start: Position,
    /// Where it ends: the place after its last character.
    pub end: Position,
    /// The other place of a problem that has two: the first of two equal keys.
    pub related: Option<Position>,
}

impl Problem {
    /// The name of its kind, in kebab-case, one of [`CODES`].
    pub fn id(&self) -> &'static str {
        self.code.id()
    }

    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// One sentence about it, without a full stop. It does not name the place.
    pub fn message(&self, language: Language) -> String {
        self.code.message(language)
    }

    /// What could stand there instead, where one thing is likely: the closest name that there is, what others call so, or
    /// the same amount as it is written here.
    pub fn hint(&self) -> Option<&str> {
        self.code.hint()
    }

    /// Whether it is more than a warning: the file cannot be used, or not all of it.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }
}

/// Counts the lines of what was found, and puts it in the order of the text.
///
/// Of more than [`MAX_PROBLEMS`], the errors are told first, and that there may be more comes last.
pub(crate) fn placed(text: &str, mut found: Vec<Finding>) -> Vec<Problem> {
    if found.is_empty() {
        return Vec::new();
    }
    let is_more = |finding: &Finding| finding.code == Code::TooManyProblems;
    let mut more = found.iter().position(is_more).map(|at| found.swap_remove(at));
    found.retain(|finding| !is_more(finding));
    found.sort_by_key(|finding| (Reverse(finding.code.severity()), finding.span.start));
    if let Some(over) = found.get(MAX_PROBLEMS) {
        let (span, code) = (over.span.clone(), Code::TooManyProblems);
        more.get_or_insert(Finding { code, pointer: Pointer::default(), span, related: None });
        found.truncate(MAX_PROBLEMS);
    }
    found.sort_by_key(|finding| finding.span.start);
    found.extend(more);
    let has_slip = found.iter().any(|finding| finding.code.is_syntax());
    let lines = Lines::of(text);
    let place = |finding: Finding| {
        let public = finding.pointer.public(has_slip);
        Problem {
            code: if public == finding.pointer { finding.code } else { finding.code.nameless() },
            path: public.to_string(),
            start: lines.position(finding.span.start),
            end: lines.position(finding.span.end),
            related: finding.related.map(|span| lines.position(span.start)),
            span: finding.span,
        }
    };
    found.into_iter().map(place).collect()
}
