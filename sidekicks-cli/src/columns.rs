//! Where text stands on a terminal.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::harmless::{Reading, push_sign, stays};

/// How many characters without a width of their own may follow one that has one. No script needs more; a hundred would
/// be painted over the lines above.
const COMBINING: usize = 4;

/// How far apart tabs stop.
const TAB: usize = 8;

/// How many columns `text` takes, which holds no control characters.
pub(crate) fn columns(text: &str) -> usize {
    // Character by character, as most terminals count: not all of them join what makes up one emoji.
    text.chars().map(|c| c.width().unwrap_or_default()).sum()
}

/// `text` in lines of at most `width` columns, broken at spaces where there are any.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let cut = rows(word, width, Reading::Prose);
        for (at, row) in cut.enumerate() {
            let piece = &word[row.bytes];
            let Some(line) = lines.last_mut() else { continue };
            let gap = usize::from(at == 0 && !line.is_empty());
            if at > 0 || columns(line) + gap + columns(piece) > width {
                lines.push(piece.to_owned());
            } else {
                line.push_str(&" "[..gap]);
                line.push_str(piece);
            }
        }
    }
    lines
}

/// What stands on one line of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Which part of the text that is.
    pub(crate) bytes: Range<usize>,
    /// Whether it goes on with the line above, which was too long.
    pub(crate) continued: bool,
}

/// The rows of `text`, broken wherever `width` columns are full: nothing of it is left out but line feeds.
pub(crate) fn rows(text: &str, width: usize, reading: Reading) -> impl Iterator<Item = Row> {
    let mut at = 0;
    text.split_terminator('\n').flat_map(move |line| {
        let (start, end) = (at, at + line.len());
        at = end + 1;
        let mut next = Some(start);
        std::iter::from_fn(move || {
            let begin = next?;
            let rest = &text[begin..end];
            let full = cells(rest, reading).find(|cell| cell.bytes.start > 0 && cell.place.end > width);
            next = full.map(|cell| begin + cell.bytes.start);
            Some(Row { bytes: begin..next.unwrap_or(end), continued: begin > start })
        })
    })
}

/// One character on the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Where it is in the text.
    pub(crate) bytes: Range<usize>,
    /// Which columns it takes.
    pub(crate) place: Range<usize>,
    /// How it is shown.
    pub(crate) shown: Shown,
}

/// How a character is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    AsIs(char),
    /// By the sign that stands for it.
    Sign(char),
    /// By spaces, as many as it takes columns.
    Blank,
}

impl Cell {
    pub(crate) fn push_to(&self, line: &mut String) {
        match self.shown {
            Shown::AsIs(c) => line.push(c),
            Shown::Sign(c) => push_sign(line, c),
            Shown::Blank => line.extend(self.place.clone().map(|_| ' ')),
        }
    }
}

/// The characters of one row.
pub(crate) fn cells(row: &str, reading: Reading) -> impl Iterator<Item = Cell> {
    let (mut column, mut combining) = (0, 0);
    row.char_indices().map(move |(at, c)| {
        let width = c.width().unwrap_or_default();
        combining = if width == 0 { combining + 1 } else { 0 };
        let shown = match c {
            '\t' => Shown::Blank,
            c if combining > COMBINING || !stays(c, reading) => Shown::Sign(c),
            c => Shown::AsIs(c),
        };
        let taken = match shown {
            Shown::Blank => TAB - column % TAB,
            Shown::AsIs(_) => width,
            Shown::Sign(c) => {
                combining = 0;
                let mut sign = String::new();
                push_sign(&mut sign, c);
                columns(&sign)
            }
        };
        let place = column..column + taken;
        column = place.end;
        Cell { bytes: at..at + c.len_utf8(), place, shown }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, width: usize) -> Vec<String> {
        let row = |row: Row| {
            let mut line = if row.continued { "↳".to_owned() } else { String::new() };
            cells(&text[row.bytes], Reading::Exact).for_each(|cell| cell.push_to(&mut line));
            line
        };
        rows(text, width, Reading::Exact).map(row).collect()
    }

    #[test]
    fn rows_are_full_and_leave_nothing_out() {
        let cases: [(&str, usize, &[&str]); 9] = [
            ("", 4, &[]),
            ("\n", 4, &[""]),
            ("a\n\nb\n", 4, &["a", "", "b"]),
            ("abcdefghij", 4, &["abcd", "↳efgh", "↳ij"]),
            ("日本語", 5, &["日本", "↳語"]),
            ("a\tb\n\tc", 12, &["a       b", "        c"]),
            ("ab\u{200b}cd", 10, &["ab<U+200B>", "↳cd"]),
            ("ab\u{200b}cd", 9, &["ab", "↳<U+200B>c", "↳d"]),
            ("e\u{301}\u{301}\u{301}\u{301}\u{301}x", 30, &["e\u{301}\u{301}\u{301}\u{301}<U+0301>x"]),
        ];
        for (text, width, expected) in cases {
            assert_eq!(shown(text, width), expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn sentences_break_at_spaces() {
        let cases: [(&str, usize, &[&str]); 5] = [
            ("", 9, &[""]),
            ("one two three", 9, &["one two", "three"]),
            ("one two", 7, &["one two"]),
            ("a incomprehensible b", 9, &["a", "incompreh", "ensible b"]),
            ("non\u{a0}: oui", 5, &["non\u{a0}:", "oui"]),
        ];
        for (text, width, expected) in cases {
            assert_eq!(wrap(text, width), expected, "{text:?} in {width}");
        }
    }
}
