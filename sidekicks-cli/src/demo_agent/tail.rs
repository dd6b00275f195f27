//! The end of what a command wrote.

/// How much of it is kept, in bytes.
const LIMIT: usize = 64 * 1024;

/// Keeps the last 64 KiB, and counts what came before.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    written: u64,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.written += bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        // Cut only now and then: each cut moves the rest.
        if self.bytes.len() > 2 * LIMIT {
            self.bytes.drain(..self.bytes.len() - LIMIT);
        }
    }

    /// What is kept, as text that starts with a whole character.
    pub(super) fn text(&self) -> String {
        let mut kept = &self.bytes[self.bytes.len().saturating_sub(LIMIT)..];
        if (kept.len() as u64) < self.written {
            let cut = kept.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
            kept = &kept[cut..];
        }
        String::from_utf8_lossy(kept).into_owned()
    }

    /// How many bytes came before what is kept.
    pub(super) fn omitted(&self) -> u64 {
        self.written.saturating_sub(LIMIT as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(pieces: &[&[u8]]) -> Tail {
        let mut tail = Tail::default();
        pieces.iter().for_each(|piece| tail.push(piece));
        tail
    }

    #[test]
    fn little_is_kept_whole() {
        let tail = tail(&[b"one\n", b"two\n"]);
        assert_eq!((tail.text().as_str(), tail.omitted()), ("one\ntwo\n", 0));
    }

    #[test]
    fn of_much_the_end_is_kept() {
        let mut tail = Tail::default();
        for _ in 0..100_000 {
            tail.push(b"0123456789");
        }
        assert!(tail.bytes.len() <= 2 * LIMIT);
        assert_eq!(tail.text().len(), LIMIT);
        assert!(tail.text().ends_with("789"));
        assert_eq!(tail.omitted(), 1_000_000 - LIMIT as u64);
    }

    #[test]
    fn a_character_is_never_cut_in_two() {
        let tail = tail(&["é".repeat(LIMIT).as_bytes(), b"x"]);
        assert_eq!(tail.text(), format!("{}x", "é".repeat(LIMIT / 2 - 1)));
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        assert_eq!(tail(&[b"a\xFFb"]).text(), "a\u{FFFD}b");
    }
}
