//! What changes in a file, as a person reads it: a few lines around each change, and words for the whole file.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use sidekicks_conversations::{Action, Diff};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use super::block::{GOES_ON, INDENT};
use super::{LINES, Look};
use crate::columns::{cells, rows};
use crate::harmless::Reading;
use crate::say::Say;
use crate::style::{Line, Style};

/// How many lines that stay are shown around a change.
const CONTEXT: usize = 3;

/// Where more lines than this may have changed they are not compared, but shown as taken away and added.
const COMPARED: usize = 100_000;

/// How long comparing may take, for all files together; what is left then counts as changed.
const PATIENCE: Duration = Duration::from_millis(200);

/// How many lines of the terminal one line of a file may take.
const ROWS: usize = 5;

/// The changes of all files, in about [`LINES`] lines.
pub(super) fn changes(diffs: &[Diff], action: Action, look: &Look<'_>) -> Vec<Line> {
    let deadline = Instant::now() + PATIENCE;
    let (mut lines, mut more) = (Vec::new(), 0);
    for diff in diffs {
        let change = Change::of(diff, deadline);
        let heading = heading(diff, action, &change, look);
        for piece in std::iter::once(heading).chain(change.pieces) {
            match lines.len() < LINES {
                true => lines.extend(piece.lines(look)),
                false => more += 1,
            }
        }
        more += change.more;
    }
    if more > 0 {
        lines.push(Line::of(Style::Plain, format!("{INDENT}{}", Say::MoreLines(more).text(look.lang))));
    }
    lines
}

/// The name of the file, and what becomes of it where that is more than a change.
fn heading(diff: &Diff, action: Action, change: &Change<'_>, look: &Look<'_>) -> Piece<'static> {
    let emptied = diff.new_text.is_empty();
    let word = match &diff.old_text {
        _ if emptied && action == Action::DeleteFile => Some(Say::FileDeleted),
        None if emptied => Some(Say::FileNewEmpty),
        None => Some(Say::FileNew),
        Some(old) if emptied && !old.is_empty() => Some(Say::FileEmptied),
        Some(_) if change.pieces.is_empty() => Some(Say::FileSameLines),
        Some(_) => None,
    };
    let path = look.path(&diff.path);
    Piece::Place(match word {
        Some(word) => format!("{path} ({})", word.text(look.lang)),
        None => path,
    })
}

/// Something to be shown.
enum Piece<'a> {
    /// A file, or where in it the lines below are, as `diff -u` tells it.
    Place(String),
    Stays(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

impl Piece<'_> {
    fn lines(&self, look: &Look<'_>) -> Vec<Line> {
        let (sign, style, text, reading) = match self {
            Self::Place(text) => ("", Style::Place, text.as_str(), Reading::Exact),
            Self::Stays(text) => (" ", Style::Plain, *text, Reading::Content),
            Self::Removed(text) => ("-", Style::Removed, *text, Reading::Content),
            Self::Added(text) => ("+", Style::Added, *text, Reading::Content),
        };
        if text.is_empty() {
            return vec![Line::of(style, format!("{INDENT}{sign}"))];
        }
        let most = if sign.is_empty() { usize::MAX } else { ROWS };
        let mut rows = rows(text, look.room().saturating_sub(sign.len()), reading);
        let mut lines = Vec::new();
        for row in rows.by_ref().take(most) {
            let mut line = if row.continued { GOES_ON } else { INDENT }.to_owned();
            line.push_str(sign);
            cells(&text[row.bytes], reading).for_each(|cell| cell.push_to(&mut line));
            lines.push(Line::of(style, line));
        }
        if let Some(rest) = rows.next() {
            let count = text[rest.bytes.start..].chars().count();
            lines.push(Line::of(style, format!("{INDENT}{}", Say::MoreCharacters(count).text(look.lang))));
        }
        lines
    }
}

/// What changes in one file.
struct Change<'a> {
    pieces: Vec<Piece<'a>>,
    /// How many lines there are besides.
    more: usize,
}

impl<'a> Change<'a> {
    fn of(diff: &'a Diff, deadline: Instant) -> Self {
        let texts = Texts::new(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text);
        let (old, new) = texts.middle();
        if old.len() + new.len() > COMPARED { texts.uncompared(old, new) } else { texts.compared(old, new, deadline) }
    }
}

/// A file before and after.
struct Texts<'a> {
    old: &'a str,
    new: &'a str,
    /// Whether the ends of lines are of one kind in both, so that nothing need be said of them.
    same_ends: bool,
}

impl<'a> Texts<'a> {
    fn new(old: &'a str, new: &'a str) -> Self {
        let same_ends = old.is_empty() || new.is_empty() || old.contains("\r\n") == new.contains("\r\n");
        Self { old, new, same_ends }
    }

    /// The lines of each that are not the same at the beginning or at the end, and a few around them.
    fn middle(&self) -> (Range<usize>, Range<usize>) {
        let (olds, news) = (lines(self.old).count(), lines(self.new).count());
        let before = lines(self.old).zip(lines(self.new)).take_while(|(old, new)| old == new).count();
        let after = lines(self.old).rev().zip(lines(self.new).rev()).take(olds.min(news) - before);
        let after = after.take_while(|(old, new)| old == new).count();
        let around = |all: usize| before.saturating_sub(CONTEXT)..(all - after + CONTEXT).min(all);
        (around(olds), around(news))
    }

    fn compared(&self, old: Range<usize>, new: Range<usize>, deadline: Instant) -> Change<'a> {
        let (from_old, from_new) = (old.start, new.start);
        let (old, new) = (part(self.old, old), part(self.new, new));
        // Numbers are compared faster than lines.
        let mut numbers = HashMap::new();
        let mut numbered = |lines: &[&'a str]| -> Vec<usize> {
            let number = |line: &&'a str| {
                let next = numbers.len();
                *numbers.entry(*line).or_insert(next)
            };
            lines.iter().map(number).collect()
        };
        let (olds, news) = (numbered(&old), numbered(&new));
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &olds, &news, Some(deadline));
        let mut pieces = Vec::new();
        // Where all of a file is shown there is no place to tell.
        let whole = self.old.is_empty() || self.new.is_empty();
        for hunk in group_diff_ops(ops, CONTEXT) {
            if let (Some(first), Some(last), false) = (hunk.first(), hunk.last(), whole) {
                let range = |from: usize, first: Range<usize>, last: Range<usize>| unified(from, first.start..last.end);
                pieces.push(Piece::Place(format!(
                    "@@ -{} +{} @@",
                    range(from_old, first.old_range(), last.old_range()),
                    range(from_new, first.new_range(), last.new_range())
                )));
            }
            for op in hunk {
                let (before, after) = (op.old_range(), op.new_range());
                match op {
                    DiffOp::Equal { .. } => pieces.extend(old[before].iter().map(|line| Piece::Stays(bare(line)))),
                    _ => {
                        pieces.extend(old[before].iter().map(|line| Piece::Removed(self.shown(line))));
                        pieces.extend(new[after].iter().map(|line| Piece::Added(self.shown(line))));
                    }
                }
            }
        }
        Change { pieces, more: 0 }
    }

    /// The first lines that are taken away and added.
    fn uncompared(&self, old: Range<usize>, new: Range<usize>) -> Change<'a> {
        let first = |range: &Range<usize>| range.start..range.end.min(range.start + LINES);
        let removed = part(self.old, first(&old)).into_iter().map(|line| Piece::Removed(self.shown(line)));
        let added = part(self.new, first(&new)).into_iter().map(|line| Piece::Added(self.shown(line)));
        let pieces: Vec<Piece<'a>> = removed.chain(added).collect();
        let more = old.len() + new.len() - pieces.len();
        Change { pieces, more }
    }

    /// A line that changes; how it ends is shown where nothing else may differ.
    fn shown(&self, line: &'a str) -> &'a str {
        if self.same_ends { bare(line) } else { line }
    }
}

fn lines(text: &str) -> std::str::SplitTerminator<'_, char> {
    text.split_terminator('\n')
}

fn part(text: &str, range: Range<usize>) -> Vec<&str> {
    lines(text).skip(range.start).take(range.len()).collect()
}

/// A line without the end that Windows gives it.
fn bare(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// Lines counted from 1, as `diff -u` tells them.
fn unified(from: usize, range: Range<usize>) -> String {
    let first = from + range.start;
    match range.len() {
        0 => format!("{first},0"),
        1 => format!("{}", first + 1),
        length => format!("{},{length}", first + 1),
    }
}
