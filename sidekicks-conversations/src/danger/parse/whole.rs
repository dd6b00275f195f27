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
            let gap = range(statement.span).end - 1..range(next.span).start;
            self.broken |= statement.terminator.is_none() && !self.slice(gap).contains([';', '\n']);
        }
    }

    /// Nothing but comments stands between the elements of an array.
    pub(super) fn see_listed(&mut self, array: &ast::ArrayExpr) {
        let whole = range(array.span);
        let mut from = whole.start + 1;
        let places = array.elements.iter().map(|element| range(element.span()));
        for place in places.chain(std::iter::once(whole.end.saturating_sub(1)..whole.end)) {
            let bare = |line: &str| is_blank(line.split('#').next().unwrap_or_default());
            let gap = self.slice(from..place.start);
            // `[key]=value` is told of from the key on.
            self.broken |= !gap.strip_suffix('[').unwrap_or(gap).lines().all(bare);
            from = place.end;
        }
    }
}

fn is_blank(gap: &str) -> bool {
    gap.replace("\\\n", "").bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\\'))
}
