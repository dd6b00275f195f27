//! Nothing may be lost between what the parser tells of: it reads on where a shell refuses.

use std::cmp::Reverse;
use std::ops::Range;

use shuck_ast as ast;

use super::{Lowering, range};

impl Lowering<'_> {
    /// What stands at these places, in order and on one line. There is nothing else between them.
    pub(super) fn joined(&mut self, mut places: Vec<Range<usize>>) -> String {
        places.sort_by_key(|place| (place.start, Reverse(place.end)));
        let mut end = 0;
        // `&>> f` is told of twice.
        places.retain(|place| {
            let goes_on = place.end > end;
            end = end.max(place.end);
            goes_on
        });
        for pair in places.windows(2) {
            self.broken |= !is_blank(self.slice(pair[0].end..pair[1].start));
        }
        // A word before a bracket would be an array, or the name of a function.
        self.broken |= places.iter().any(|place| self.slice(place.end..self.ascii.len()).starts_with('('));
        places.into_iter().map(|place| self.slice(place)).collect::<Vec<_>>().join(" ")
    }

    /// Something ends each statement before the next begins.
    pub(super) fn see_separated(&mut self, sequence: &ast::StmtSeq) {
        for (statement, next) in sequence.iter().zip(sequence.iter().skip(1)) {
            // The newline that ends it may belong to it.
            let gap = range(statement.span).end.saturating_sub(1)..range(next.span).start;
            self.broken |= statement.terminator.is_none() && !self.slice(gap).contains([';', '\n']);
        }
    }

    /// The parts of a word or of a text in quotes touch each other: the parser counts wrong in `"\"a\" $(b)"`.
    pub(super) fn see_tiled(&mut self, parts: impl IntoIterator<Item = ast::Span>, whole: Range<usize>) {
        let mut at = whole.start;
        let places = parts.into_iter().map(range).filter(|place| !place.is_empty());
        for place in places.chain(std::iter::once(whole.end..whole.end)) {
            // Where a line is continued, nothing is left of it.
            let is_tiled = at <= place.start && self.slice(at..place.start).replace("\\\n", "").is_empty();
            self.broken |= !is_tiled;
            at = place.end;
        }
    }

    /// What a substitution runs is all of what stands in it: what the parser cannot read there, it drops.
    pub(super) fn see_filled(&mut self, body: &ast::StmtSeq, inner: Range<usize>) {
        let places = body.iter().flat_map(|it| it.redirects.iter().map(|it| it.span).chain([it.span])).map(range);
        let read = places.reduce(|all, place| all.start.min(place.start)..all.end.max(place.end));
        let read = read.unwrap_or(inner.end..inner.end);
        // The brackets of a group belong to no statement, and the text of a here-document comes after it.
        let before = self.slice(inner.start..read.start).replace(['(', '{'], "");
        let after = self.slice(read.end..inner.end).replace([')', '}', ';', '&'], "");
        let document = self.slice(inner).contains("<<");
        self.broken |= !is_comment(&before) || !(document || is_comment(&after));
    }

    /// Nothing is run in a sum that the parser cannot read.
    pub(super) fn see_summed(&mut self, written: Option<ast::Span>, read: Option<&ast::ArithmeticExprNode>) {
        match (written, read) {
            (_, Some(sum)) => self.arithmetic(sum),
            (Some(span), None) => self.broken |= span.slice(self.ascii).contains(['$', '`']),
            (None, None) => {}
        }
    }

    /// Nothing but comments stands between the elements of an array.
    pub(super) fn see_listed(&mut self, array: &ast::ArrayExpr) {
        let whole = range(array.span);
        let mut from = whole.start + 1;
        let places = array.elements.iter().map(|element| range(element.span()));
        for place in places.chain(std::iter::once(whole.end.saturating_sub(1)..whole.end)) {
            let gap = self.slice(from..place.start);
            // `[key]=value` is told of from the key on.
            self.broken |= !is_comment(gap.strip_suffix('[').unwrap_or(gap));
            from = place.end;
        }
    }
}

/// Nothing, on each line, but a comment.
fn is_comment(gap: &str) -> bool {
    gap.lines().all(|line| is_blank(line.split('#').next().unwrap_or_default()))
}

fn is_blank(gap: &str) -> bool {
    gap.replace("\\\n", "").bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\\'))
}
