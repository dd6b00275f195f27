//! The syntax tree of a command line: the one place that knows the parser.
//!
//! The parser is young, so nothing is given to it that it was seen to fail on: only ASCII, no deep nesting, a bounded
//! length. Whatever it does not call clean is refused.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuck_ast as ast;
use shuck_parser::parser::Parser;

use super::text::{Span, Text};
use super::tree::{Input, Piece};

mod commands;
mod copies;
mod expansions;
mod redirects;
mod simple;
mod whole;
mod words;

/// No longer code is read.
pub(super) const MAX_LEN: usize = 64 * 1024;
/// So deep may one kind of bracket be nested, and both together.
const MAX_NESTING: usize = 20;
const MAX_NESTINGS: usize = 24;
/// The parser calls itself for each of these words.
const MAX_PREFIXES: usize = 60;
/// What follows is read anew for each here-document.
const MAX_DOCUMENTS: usize = 1000;

/// Why there is no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    TooComplex,
    Unreadable,
}

/// Reads `code` as a shell does.
pub(super) fn parse(code: &Text) -> Result<Vec<Piece>, Refused> {
    let source = code.as_str();
    let documents = source.matches("<<").count();
    if source.len() > MAX_LEN || documents > MAX_DOCUMENTS || is_nested(source) || prefixes(source) > MAX_PREFIXES {
        return Err(Refused::TooComplex);
    }
    let ascii: String = source.bytes().map(|byte| if byte.is_ascii() { char::from(byte) } else { 'x' }).collect();
    let pieces = catch_unwind(AssertUnwindSafe(|| copies::of(&ascii).find_map(|copy| read(code, &copy))));
    pieces.ok().flatten().ok_or(Refused::Unreadable)
}

/// `ascii` is what the parser sees, with a byte for each of `code`.
fn read(code: &Text, ascii: &str) -> Option<Vec<Piece>> {
    let parsed = Parser::new(ascii).parse();
    if !parsed.is_ok() {
        return None;
    }
    let mut lowering = Lowering { code, ascii, pieces: Vec::new(), broken: false };
    lowering.sequence(&parsed.file.body, &Input::Inherited);
    (!lowering.broken).then_some(lowering.pieces)
}

/// Brackets in quotes count too: only the parser knows quotes.
fn is_nested(source: &str) -> bool {
    let (mut round, mut curly, mut deepest_round, mut deepest_curly) = (0_usize, 0_usize, 0, 0);
    for byte in source.bytes() {
        match byte {
            b'(' => round += 1,
            b')' => round = round.saturating_sub(1),
            b'{' => curly += 1,
            b'}' => curly = curly.saturating_sub(1),
            _ => {}
        }
        deepest_round = deepest_round.max(round);
        deepest_curly = deepest_curly.max(curly);
    }
    deepest_round > MAX_NESTING || deepest_curly > MAX_NESTING || deepest_round + deepest_curly > MAX_NESTINGS
}

fn prefixes(source: &str) -> usize {
    source.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| matches!(*word, "time" | "coproc")).count()
}

struct Lowering<'a> {
    code: &'a Text,
    ascii: &'a str,
    pieces: Vec<Piece>,
    /// The parser read on where a shell does not, and may have lost something.
    broken: bool,
}

impl Lowering<'_> {
    /// Sees to it that what begins with a bracket ends with one, and where a shell sees its end.
    fn see_closed(&mut self, span: ast::Span) {
        let slice = span.slice(self.ascii);
        self.broken |= match slice.as_bytes() {
            [b'$', b'{', ..] => !slice.ends_with('}') || closes_early(slice),
            [b'$' | b'<' | b'>', b'(', ..] | [b'(', ..] => !slice.ends_with(')'),
            [b'$', b'[', ..] => !slice.ends_with(']'),
            [b'`', rest @ ..] => !rest.ends_with(b"`"),
            _ => false,
        };
    }

    fn origin(&self, span: ast::Span) -> Span {
        self.code.span(range(span))
    }

    fn source(&self, span: ast::Span) -> String {
        self.slice(range(span)).to_owned()
    }

    fn slice(&self, range: std::ops::Range<usize>) -> &str {
        self.code.as_str().get(range).unwrap_or_default()
    }
}

/// In `${x:-{}; y }` the first brace that closes ends it, though the parser reads on.
fn closes_early(expansion: &str) -> bool {
    let mut last = ' ';
    let bare = expansion.char_indices().skip(2).find(|&(_, character)| {
        let is = character == '{' && !matches!(last, '$' | '\\');
        last = character;
        is
    });
    let after = bare.and_then(|(at, _)| expansion[at..].split_once('}')).map_or("", |(_, after)| after);
    after.contains([' ', '\t', '\n', ';', '&', '|', '<', '>', '`', '(', '\'', '"'])
}

fn range(span: ast::Span) -> std::ops::Range<usize> {
    let range = span.to_range();
    range.start().to_u32() as usize..range.end().to_u32() as usize
}
