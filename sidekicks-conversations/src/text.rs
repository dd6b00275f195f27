//! Text that grows.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that grows at its end. A clone is a snapshot: it costs nothing, and does not grow with the original.
///
/// The bytes are shared between clones, so a snapshot taken for each frame of a long answer copies nothing.
#[derive(Clone, Default)]
pub struct Text {
    shared: Arc<Mutex<Chunks>>,
    /// How much of the shared bytes is ours, in bytes.
    len: usize,
}

#[derive(Default)]
struct Chunks {
    /// Full chunks, never changed again.
    full: Vec<Arc<str>>,
    full_len: usize,
    last: String,
}

/// When a chunk is full, in bytes.
const CHUNK: usize = 4 * 1024;

impl Text {
    /// No text.
    pub fn new() -> Self {
        Self::default()
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds `fragment` at the end.
    pub fn push_str(&mut self, fragment: &str) {
        if fragment.is_empty() {
            return;
        }
        {
            let mut chunks = self.chunks();
            if chunks.full_len + chunks.last.len() == self.len {
                chunks.push(fragment);
                drop(chunks);
                self.len += fragment.len();
                return;
            }
        }
        // Another clone grew since: from here on this one has bytes of its own.
        let mut own = Chunks::default();
        self.read_from(0, |chunk| own.push(chunk));
        own.push(fragment);
        self.len += fragment.len();
        self.shared = Arc::new(Mutex::new(own));
    }

    /// Makes it `text`. What only grew keeps its bytes: agents that tell all of a long output each time add to it.
    pub(crate) fn set(&mut self, text: &str) {
        match self.is_prefix_of(text) {
            true => self.push_str(&text[self.len..]),
            false => *self = text.into(),
        }
    }

    /// The text from byte `start` on; a start beyond the end or within a character gives the next character on.
    pub fn tail(&self, start: usize) -> String {
        let mut tail = String::with_capacity(self.len.saturating_sub(start));
        self.read_from(start, |chunk| tail.push_str(chunk));
        tail
    }

    /// Hands over the text in pieces, in order, without putting it together.
    pub fn for_each_chunk(&self, each: impl FnMut(&str)) {
        self.read_from(0, each);
    }

    /// How many bytes it has that `before` does not share with it.
    pub(crate) fn grown_from(&self, before: &Self) -> usize {
        match Arc::ptr_eq(&self.shared, &before.shared) {
            true => self.len.saturating_sub(before.len),
            false => self.len,
        }
    }

    /// Whether it is nothing but white space.
    pub(crate) fn is_blank(&self) -> bool {
        let mut blank = true;
        self.read_from(0, |chunk| blank &= chunk.trim_start().is_empty());
        blank
    }

    fn is_prefix_of(&self, text: &str) -> bool {
        let (mut same, mut at) = (self.len <= text.len(), 0);
        self.read_from(0, |chunk| {
            same = same && text.as_bytes()[at..].starts_with(chunk.as_bytes());
            at += chunk.len();
        });
        same
    }

    fn read_from(&self, start: usize, mut each: impl FnMut(&str)) {
        // Handed over outside the lock: whoever reads may be slow, and whoever writes must not wait for it.
        let (mut at, pieces) = self.pieces(start);
        for piece in pieces {
            let mut from = start.saturating_sub(at).min(piece.len());
            let to = self.len.saturating_sub(at).min(piece.len());
            at += piece.len();
            while !piece.is_char_boundary(from) {
                from += 1;
            }
            if from < to {
                each(&piece[from..to]);
            }
        }
    }

    /// The pieces from the one that holds byte `start` on, and where in the text the first of them begins.
    fn pieces(&self, start: usize) -> (usize, Vec<Arc<str>>) {
        let chunks = self.chunks();
        let (mut first, mut at) = (chunks.full.len(), chunks.full_len);
        while at > start {
            first -= 1;
            at -= chunks.full[first].len();
        }
        let mut pieces = chunks.full[first..].to_vec();
        pieces.push(chunks.last.as_str().into());
        (at, pieces)
    }

    fn chunks(&self) -> MutexGuard<'_, Chunks> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chunks {
    fn push(&mut self, fragment: &str) {
        self.last.push_str(fragment);
        if self.last.len() >= CHUNK {
            self.full_len += self.last.len();
            self.full.push(self.last.as_str().into());
            self.last.clear();
        }
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
        f.write_str(&self.tail(0))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.tail(0), f)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && (Arc::ptr_eq(&self.shared, &other.shared) || self.tail(0) == other.tail(0))
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.len == other.len() && self.is_prefix_of(other)
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.tail(0))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::from(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
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
    fn what_only_grew_shares_its_bytes() {
        let chunks = |text: &Text| {
            let mut chunks = Vec::new();
            text.for_each_chunk(|chunk| chunks.push(chunk.as_ptr()));
            chunks
        };
        let (long, other) = ("x".repeat(5 * CHUNK), "y".repeat(5 * CHUNK));
        let before = Text::from(long.as_str());
        for (now, shares) in [(format!("{long}z"), true), (long.clone(), true), (other, false), (String::new(), false)]
        {
            let mut text = before.clone();
            text.set(&now);
            assert_eq!(text, now.as_str());
            assert_eq!(before, long.as_str());
            assert_eq!(chunks(&text).first() == chunks(&before).first(), shares, "{}", now.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn it_behaves_like_strings(steps in proptest::collection::vec((0..4usize, 0..4usize, "[a-zé ]{0,3000}"), 0..25)) {
            let mut texts: Vec<(Text, String)> = vec![Default::default(); 4];
            for (from, to, fragment) in steps {
                texts[to] = texts[from].clone();
                texts[to].0.push_str(&fragment);
                texts[to].1.push_str(&fragment);
                for (text, string) in &texts {
                    prop_assert_eq!(&text.to_string(), string);
                    prop_assert_eq!(text.len(), string.len());
                    prop_assert_eq!(text.is_blank(), string.trim().is_empty());
                    let middle = (string.len() / 2..).find(|at| string.is_char_boundary(*at)).unwrap_or_default();
                    prop_assert_eq!(&text.tail(middle), &string[middle..]);
                }
            }
        }
    }
}
