//! The bytes that clones of a text share.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that grow at their end, in pieces that can be shared.
#[derive(Default)]
pub(super) struct Chunks {
    /// Full chunks, never changed again.
    full: Vec<Arc<str>>,
    full_len: usize,
    last: String,
}

/// When a chunk is full, in bytes.
pub(super) const CHUNK: usize = 4 * 1024;

impl Chunks {
    pub(super) fn len(&self) -> usize {
        self.full_len + self.last.len()
    }

    pub(super) fn push(&mut self, fragment: &str) {
        if fragment.len() >= CHUNK {
            return self.push_full(fragment.into());
        }
        self.last.push_str(fragment);
        if self.last.len() >= CHUNK {
            self.fill();
        }
    }

    /// Adds what is in this range of a piece, which is shared where it is all of it.
    pub(super) fn push_piece(&mut self, piece: &Arc<str>, range: Range<usize>) {
        if range.len() < piece.len() || piece.len() < CHUNK {
            return self.push(&piece[range]);
        }
        self.push_full(Arc::clone(piece));
    }

    fn push_full(&mut self, piece: Arc<str>) {
        if !self.last.is_empty() {
            self.fill();
        }
        self.full_len += piece.len();
        self.full.push(piece);
    }

    fn fill(&mut self) {
        self.full_len += self.last.len();
        // Nothing is kept of its room: most texts end soon, and there may be many.
        self.full.push(mem::take(&mut self.last).into());
    }

    /// The pieces that hold this range, and where the first of them begins.
    pub(super) fn pieces(&self, range: &Range<usize>) -> (usize, Vec<Arc<str>>) {
        let (first, at) = self.full_at(range.start);
        let mut end = at;
        let mut pieces: Vec<_> = self.full[first..]
            .iter()
            .take_while(|piece| {
                let wanted = end < range.end;
                end += piece.len();
                wanted
            })
            .cloned()
            .collect();
        if self.full_len < range.end {
            pieces.push(self.last.as_str().into());
        }
        (at, pieces)
    }

    /// `at`, or where the character begins that it is within.
    pub(super) fn floor(&self, mut at: usize) -> usize {
        while !self.is_boundary(at) {
            at -= 1;
        }
        at
    }

    /// `at`, or where the character ends that it is within.
    pub(super) fn ceil(&self, mut at: usize) -> usize {
        while at < self.len() && !self.is_boundary(at) {
            at += 1;
        }
        at
    }

    fn is_boundary(&self, at: usize) -> bool {
        let (chunk, begins) = self.full_at(at);
        self.full.get(chunk).map_or(&*self.last, |piece| piece).is_char_boundary(at - begins)
    }

    /// The number of the full chunk that holds this byte and where that begins, or those after all of them.
    fn full_at(&self, byte: usize) -> (usize, usize) {
        // What is looked for is mostly at one of the ends.
        if byte == 0 {
            return (0, 0);
        }
        let (mut chunk, mut at) = (self.full.len(), self.full_len);
        while at > byte {
            chunk -= 1;
            at -= self.full[chunk].len();
        }
        (chunk, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_takes_about_its_own_room() {
        let cases: [(&str, &[usize]); 5] = [
            ("one that is long", &[50 * CHUNK]),
            ("a word, then a long one", &[10, 50 * CHUNK]),
            ("long ones and words in turn", &[CHUNK, 1, CHUNK, 1, CHUNK]),
            ("what is a little more than a chunk", &[CHUNK - 1, CHUNK - 1, 1]),
            ("many words", &[12; 10_000]),
        ];
        for (name, fragments) in cases {
            let mut chunks = Chunks::default();
            fragments.iter().for_each(|len| chunks.push(&"x".repeat(*len)));
            let len = fragments.iter().sum::<usize>();
            assert_eq!(chunks.len(), len, "{name}");
            assert!(chunks.last.capacity() <= 2 * chunks.last.len() + 8, "{name}: {}", chunks.last.capacity());
            assert!(chunks.full.len() <= 2 * (1 + len / CHUNK), "{name}: {} pieces", chunks.full.len());
        }
    }
}
