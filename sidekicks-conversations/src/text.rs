//! Text that grows.

mod chunks;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::chunks::Chunks;

/// Text that grows at its end. A clone is a snapshot: it costs nothing, and does not grow with the original.
///
/// The bytes are shared between clones, so a snapshot taken for each frame of a long answer copies nothing.
#[derive(Clone, Default)]
pub struct Text {
    shared: Arc<Mutex<Chunks>>,
    /// Where in the shared bytes ours end.
    end: usize,
    /// Where among them are some that were cut out.
    gap: Range<usize>,
}

/// Of how many bytes [`Debug`](fmt::Debug) tells each.
const HEAD: usize = 256;

impl Text {
    /// No text.
    pub fn new() -> Self {
        Self::default()
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.end - self.gap.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds `fragment` at the end.
    pub fn push_str(&mut self, fragment: &str) {
        if fragment.is_empty() {
            return;
        }
        if self.chunks().len() != self.end {
            self.part_from_others(); // Another clone grew since.
        }
        self.chunks().push(fragment);
        self.end += fragment.len();
    }

    /// Adds as much of `fragment` as fits into `most` bytes in all, whole characters, and tells how many bytes did not.
    pub(crate) fn push_within(&mut self, most: usize, fragment: &str) -> usize {
        let mut fits = most.saturating_sub(self.len()).min(fragment.len());
        while !fragment.is_char_boundary(fits) {
            fits -= 1;
        }
        self.push_str(&fragment[..fits]);
        fragment.len() - fits
    }

    /// Keeps what is before `at` and, of what is after it, the last `most` bytes, whole characters; tells how many bytes
    /// it cuts out.
    pub(crate) fn cut_out(&mut self, at: usize, most: usize) -> usize {
        if !self.gap.is_empty() && self.gap.start != at {
            self.part_from_others();
        }
        let from = self.gap.end.max(at);
        let to = self.chunks().ceil(self.end.saturating_sub(most).max(from));
        self.gap = at..to;
        // What nobody sees any more is let go of once it is more than what is seen: so that is seldom.
        if self.gap.len() > self.len() {
            self.part_from_others();
        }
        to - from
    }

    /// `at`, or where the character begins that it is within. Nothing may be cut out before it.
    pub(crate) fn floor(&self, at: usize) -> usize {
        self.chunks().floor(at)
    }

    /// The text from byte `start` on; a start beyond the end or within a character gives the next character on.
    pub fn tail(&self, start: usize) -> String {
        let mut tail = String::with_capacity(self.len().saturating_sub(start));
        self.read(start..self.len(), |chunk| tail.push_str(chunk));
        tail
    }

    /// Hands over the text in pieces, in order, without putting it together.
    pub fn for_each_chunk(&self, each: impl FnMut(&str)) {
        self.read(0..self.len(), each);
    }

    /// How many bytes it has that `before` does not share with it, about.
    pub(crate) fn grown_from(&self, before: &Self) -> usize {
        match Arc::ptr_eq(&self.shared, &before.shared) {
            true => self.end.saturating_sub(before.end),
            false => self.len(),
        }
    }

    /// Whether it is nothing but white space.
    pub(crate) fn is_blank(&self) -> bool {
        let mut blank = true;
        self.for_each_chunk(|chunk| blank &= chunk.trim_start().is_empty());
        blank
    }

    /// Whether these are the bytes in this range, which is of whole characters.
    pub(crate) fn has(&self, range: Range<usize>, bytes: &[u8]) -> bool {
        let (mut same, mut at) = (range.len() == bytes.len(), 0);
        self.read(range, |chunk| {
            same = same && bytes[at..].starts_with(chunk.as_bytes());
            at += chunk.len();
        });
        same
    }

    /// From here on this one has a list of chunks of its own, without what was cut out.
    fn part_from_others(&mut self) {
        let mut own = Chunks::default();
        self.read_pieces(0..self.len(), |piece, range| own.push_piece(piece, range));
        (self.end, self.gap) = (own.len(), 0..0);
        self.shared = Arc::new(Mutex::new(own));
    }

    fn read(&self, range: Range<usize>, mut each: impl FnMut(&str)) {
        self.read_pieces(range, |piece, range| each(&piece[range]));
    }

    fn read_pieces(&self, range: Range<usize>, mut each: impl FnMut(&Arc<str>, Range<usize>)) {
        let (gap, skipped) = (self.gap.start, self.gap.len());
        let before = range.start.min(gap)..range.end.min(gap);
        let after = range.start.max(gap) + skipped..range.end.max(gap) + skipped;
        for range in [before, after].into_iter().filter(|range| !range.is_empty()) {
            // Handed over outside the lock: whoever reads may be slow, and whoever writes must not wait for it.
            let (mut at, pieces) = self.chunks().pieces(&range);
            for piece in &pieces {
                let mut from = range.start.saturating_sub(at).min(piece.len());
                let mut to = range.end.saturating_sub(at).min(piece.len());
                at += piece.len();
                while !piece.is_char_boundary(to) {
                    to -= 1;
                }
                while !piece.is_char_boundary(from) {
                    from += 1;
                }
                if from < to {
                    each(piece, from..to);
                }
            }
        }
    }

    fn chunks(&self) -> MutexGuard<'_, Chunks> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        let mut this = Self::new();
        this.push_str(text);
        this
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = Ok(());
        self.for_each_chunk(|chunk| result = result.and_then(|()| f.write_str(chunk)));
        result
    }
}

/// Of a long one its beginning and its length.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head = String::new();
        self.read(0..HEAD, |chunk| head.push_str(chunk));
        fmt::Debug::fmt(&head, f)?;
        if head.len() < self.len() { write!(f, "… of {} bytes", self.len()) } else { Ok(()) }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.shared, &other.shared) && (self.end, &self.gap) == (other.end, &other.gap) {
            return true;
        }
        if self.len() != other.len() {
            return false;
        }
        let mut theirs = Vec::new();
        other.read_pieces(0..other.len(), |piece, range| theirs.push((Arc::clone(piece), range)));
        let mut theirs = theirs.iter().map(|(piece, range)| &piece.as_bytes()[range.clone()]);
        let (mut same, mut their) = (true, &[][..]);
        self.for_each_chunk(|chunk| {
            let mut our = chunk.as_bytes();
            while same && !our.is_empty() {
                if their.is_empty() {
                    their = theirs.next().unwrap_or_default();
                }
                let both = our.len().min(their.len());
                same = both > 0 && our[..both] == their[..both];
                (our, their) = (&our[both..], &their[both..]);
            }
        });
        same
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.has(0..self.len(), other.as_bytes())
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::from(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::chunks::CHUNK;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_clone_is_a_snapshot() {
        let mut text = Text::from("one");
        let mut snapshot = text.clone();
        text.push_str(" two");
        assert_eq!((text.to_string().as_str(), snapshot.to_string().as_str()), ("one two", "one"));
        snapshot.push_str(" three");
        text.push_str(" four");
        assert_eq!((text.to_string().as_str(), snapshot.to_string().as_str()), ("one two four", "one three"));
        assert_ne!(text, snapshot);
        assert_eq!(text, Text::from("one two four"));
        assert_eq!((text.tail(4).as_str(), text.tail(99).as_str()), ("two four", ""));
        assert_eq!(Text::from("é").tail(1), "");
    }

    #[test]
    fn a_long_text_is_written_in_pieces_and_shown_by_its_beginning() {
        struct Pieces(usize, usize);
        impl fmt::Write for Pieces {
            fn write_str(&mut self, piece: &str) -> fmt::Result {
                (self.0, self.1) = (self.0 + piece.len(), self.1.max(piece.len()));
                Ok(())
            }
        }
        let mut text = Text::from("\"");
        (0..1 << 18).for_each(|_| text.push_str("abcé"));
        let (mut written, mut shown) = (Pieces(0, 0), String::new());
        fmt::write(&mut written, format_args!("{text}")).unwrap();
        assert!(written.0 == text.len() && written.1 < 2 * CHUNK, "{}", written.1);
        fmt::write(&mut shown, format_args!("{text:?}")).unwrap();
        assert_eq!(shown, format!("\"\\\"{}\"… of {} bytes", "abcé".repeat(51), 1 + 5 * (1 << 18)));
        assert_eq!(format!("{:?}", Text::from("a\n")), "\"a\\n\"");
    }

    #[test]
    fn what_is_cut_out_is_let_go_of() {
        let mut text = Text::from("heads ");
        for at in 0..100 {
            text.push_str(&"x".repeat(CHUNK));
            text.push_str(&format!(" tail{at:03}"));
            text.cut_out(6, 7);
            assert_eq!(text, format!("heads tail{at:03}").as_str());
            assert!(text.chunks().len() < 3 * CHUNK, "{}", text.chunks().len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn it_behaves_like_strings(
            steps in proptest::collection::vec((0..4usize, 0..4usize, "[a-zé ]{0,3000}", any::<bool>()), 0..25),
        ) {
            let mut texts: Vec<(Text, String)> = vec![Default::default(); 4];
            for (from, to, fragment, cut) in steps {
                texts[to] = texts[from].clone();
                let (text, string) = &mut texts[to];
                text.push_str(&fragment);
                string.push_str(&fragment);
                if cut {
                    let at = if text.gap.is_empty() { text.floor(text.end.min(7)) } else { text.gap.start };
                    let tail = string.len().saturating_sub(900).max(at);
                    let tail = (tail..).find(|at| string.is_char_boundary(*at)).unwrap_or_default();
                    prop_assert_eq!(text.cut_out(at, 900), tail - at);
                    string.drain(at..tail);
                }
                for (text, string) in &texts {
                    prop_assert_eq!(&text.to_string(), string);
                    prop_assert_eq!(text.len(), string.len());
                    prop_assert_eq!(text.is_blank(), string.trim().is_empty());
                    let alone = Text::from(string.as_str());
                    prop_assert_eq!(text, &alone);
                    let other = Text::from(string.replacen('a', "b", 1).as_str()); // Of the same length.
                    prop_assert_eq!(*text == other, !string.contains('a'));
                    let middle = (string.len() / 2..).find(|at| string.is_char_boundary(*at)).unwrap_or_default();
                    prop_assert_eq!(&text.tail(middle), &string[middle..]);
                }
            }
        }

        #[test]
        fn what_fits_is_added(text in "[aé🦀]{0,9}", fragment in "[aé🦀]{0,9}", most in 0..40usize) {
            let mut grown = Text::from(text.as_str());
            let left = grown.push_within(most, &fragment);
            let added = grown.len() - text.len();
            prop_assert_eq!(&grown.to_string(), &(text + &fragment[..added]));
            prop_assert_eq!(added + left, fragment.len());
            prop_assert!(grown.len() <= most || added == 0);
            prop_assert!(left == 0 || grown.len() + 4 > most, "all that fits");
        }
    }
}
