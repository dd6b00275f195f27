//! Cutting a stream of bytes into lines.

/// One line without its line feed, or the head of one that was too long to keep.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// The first bytes of a line longer than the limit, and the length of the whole.
    TooLong {
        head: &'a [u8],
        length: u64,
    },
}

/// How much of a line that is too long is kept, to read its id from.
const HEAD: usize = 4 * 1024;

/// Cuts chunks of any size into lines, with memory bounded by the longest line allowed.
///
/// A line that lies whole in a chunk is not copied.
#[derive(Debug)]
pub(crate) struct Lines {
    max: usize,
    partial: Vec<u8>,
    /// Length so far of a line that is being skipped; `partial` then holds its head.
    skipping: Option<u64>,
}

impl Lines {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, partial: Vec::new(), skipping: None }
    }

    /// Hands every line that `chunk` completes to `each`, in order.
    pub(crate) fn push(&mut self, mut chunk: &[u8], each: &mut impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = (&chunk[..end], &chunk[end + 1..]);
            if self.partial.is_empty() && self.skipping.is_none() && line.len() <= self.max {
                each(Line::Whole(line));
            } else {
                self.keep(line);
                self.finish(each);
            }
            chunk = rest;
        }
        self.keep(chunk);
    }

    /// Hands over what is left when the stream ends without a line feed.
    pub(crate) fn finish(&mut self, each: &mut impl FnMut(Line<'_>)) {
        match self.skipping.take() {
            Some(length) => each(Line::TooLong { head: &self.partial, length }),
            None if self.partial.is_empty() => return,
            None => each(Line::Whole(&self.partial)),
        }
        // A rare long line must not keep its memory for the life of the connection.
        if self.partial.capacity() > 1024 * 1024 {
            self.partial = Vec::new();
        }
        self.partial.clear();
    }

    fn keep(&mut self, bytes: &[u8]) {
        if let Some(length) = &mut self.skipping {
            *length += bytes.len() as u64;
            return;
        }
        if self.partial.len() + bytes.len() <= self.max {
            self.partial.extend_from_slice(bytes);
            return;
        }
        self.skipping = Some((self.partial.len() + bytes.len()) as u64);
        let missing = HEAD.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..missing]);
        self.partial.truncate(HEAD);
        self.partial.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(max: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut lines = Lines::new(max);
        let mut each = |line: Line<'_>| {
            seen.push(match line {
                Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Line::TooLong { head, length } => format!("<{length}>{}", String::from_utf8_lossy(head)),
            });
        };
        for chunk in chunks {
            lines.push(chunk, &mut each);
        }
        lines.finish(&mut each);
        seen
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        assert_eq!(cut(100, &[b"a\nb\r\n", b"", b"c", b"d\n\ne"]), ["a", "b\r", "cd", "", "e"]);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_read() {
        assert_eq!(cut(4, &[b"12345\nab\n"]), ["<5>12345", "ab"]);
        assert_eq!(cut(4, &[b"123", b"456", b"7\nab"]), ["<7>123456", "ab"]);
        let long = vec![b'x'; 3 * HEAD];
        let seen = cut(HEAD, &[&long, b"y\n{}"]);
        assert_eq!(seen[0].len(), HEAD + format!("<{}>", 3 * HEAD + 1).len());
        assert_eq!(seen[1], "{}");
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_lines(text in "[ab\n]{0,60}", cuts in proptest::collection::vec(0..60usize, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for to in cuts {
                chunks.push(&bytes[from..to]);
                from = to;
            }
            chunks.push(&bytes[from..]);
            let lengths = |lines: Vec<String>| -> Vec<String> {
                // The head kept of a line too long depends on the cutting; its length does not.
                lines.into_iter().map(|l| if l.starts_with('<') { l[..=l.find('>').unwrap()].to_owned() } else { l }).collect()
            };
            prop_assert_eq!(lengths(cut(5, &chunks)), lengths(cut(5, &[bytes])));
        }
    }
}
