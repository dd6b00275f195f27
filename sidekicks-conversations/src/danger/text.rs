//! A text that knows for each of its bytes where it comes from.

use std::ops::Range;

/// Bytes of the command that was given: start and end.
pub(super) type Span = (usize, usize);

/// What stands for the value of an expansion: an expansion for whoever reads the text as code.
pub(super) const HOLE: &str = "${_}";

/// A text after quotes and escapes are taken away, perhaps several times, so that a place in the innermost code is still
/// a place in the command that was given.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    text: String,
    /// One for each byte.
    origin: Vec<(u32, u32)>,
}

impl Text {
    /// The command itself. It has to be shorter than 4 GiB, which the bound on its length sees to.
    pub(super) fn of(command: &str) -> Self {
        let origin = (0..command.len() as u32).map(|at| (at, at + 1)).collect();
        Self { text: command.to_owned(), origin }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Where a piece of it comes from.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        let place = |at: usize| self.origin.get(at).map(|&(start, end)| (start as usize, end as usize));
        match (place(range.start), range.end.checked_sub(1).and_then(place)) {
            (Some((start, _)), Some((_, end))) if end >= start => (start, end),
            (Some((start, end)), _) => (start, end),
            (None, _) => self.origin.last().map_or((0, 0), |&(_, end)| (end as usize, end as usize)),
        }
    }

    /// Appends what comes as a whole from `from`.
    pub(super) fn push_str(&mut self, text: &str, from: Span) {
        self.text.push_str(text);
        self.origin.extend(text.bytes().map(|_| (from.0 as u32, from.1 as u32)));
    }

    /// Appends a piece of another text.
    pub(super) fn push_piece(&mut self, other: &Self, range: Range<usize>) {
        if let Some(piece) = other.text.get(range.clone()) {
            self.text.push_str(piece);
            self.origin.extend_from_slice(&other.origin[range]);
        }
    }

    pub(super) fn push(&mut self, other: &Self) {
        self.push_piece(other, 0..other.text.len());
    }

    pub(super) fn piece(&self, range: Range<usize>) -> Self {
        let mut piece = Self::default();
        piece.push_piece(self, range);
        piece
    }

    /// These, with `between` where one ends and the next begins.
    pub(super) fn joined<'a>(texts: impl IntoIterator<Item = &'a Self>, between: &str) -> Self {
        let mut all = Self::default();
        for (place, text) in texts.into_iter().enumerate() {
            if place > 0 {
                let (start, end) = (all.end(), text.span(0..1).0);
                all.push_str(between, (start, end.max(start)));
            }
            all.push(text);
        }
        all
    }

    /// With a [`HOLE`] for each `mark`, which the program that is run puts something in place of.
    pub(super) fn filled(&self, mark: &str) -> Self {
        let mut filled = Self::default();
        let mut from = 0;
        for (at, _) in self.text.match_indices(mark) {
            filled.push_piece(self, from..at);
            from = at + mark.len();
            filled.push_str(HOLE, self.span(at..from));
        }
        filled.push_piece(self, from..self.text.len());
        filled
    }

    fn end(&self) -> usize {
        self.origin.last().map_or(0, |&(_, end)| end as usize)
    }
}
