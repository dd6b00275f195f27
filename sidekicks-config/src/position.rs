//! Lines and columns.

/// A place in a text, as editors count: everything from 1.
///
/// A line ends at `\n`, `\r\n` or a lone `\r`. A byte order mark at the beginning has no column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters (Unicode scalar values), from 1; a letter with a combining accent counts as two.
    pub column: u32,
    /// The column in UTF-16 code units, from 1: what a language server or an editor in a web view counts.
    pub utf16: u32,
}

/// Where the lines of a text begin.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { text, starts }
    }

    /// The place of this byte, which begins a character or is the end.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let before = self.text.get(self.starts[line - 1]..offset).unwrap_or_default();
        let (mut column, mut utf16) = (1, 1);
        for c in before.chars() {
            column += 1;
            utf16 += c.len_utf16();
        }
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: count(line), column: count(column), utf16: count(utf16) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_place_is_as_one_counts(text in "(\u{feff})?([a\u{e9}\u{1f980}\t]|\r\n|\r|\n|\u{feff}|\u{2028}){0,40}") {
            let lines = Lines::of(&text);
            let counted = |line, column, utf16| Position { line, column, utf16 };
            let mut place = counted(1, 1, 1);
            for (at, c) in text.char_indices() {
                prop_assert_eq!(lines.position(at), place, "at {} of {:?}", at, &text);
                let ends = c == '\n' || (c == '\r' && !text[at..].starts_with("\r\n"));
                place = match c {
                    _ if ends => counted(place.line + 1, 1, 1),
                    '\u{feff}' if at == 0 => place,
                    c => counted(place.line, place.column + 1, place.utf16 + if c > '\u{ffff}' { 2 } else { 1 }),
                };
            }
            prop_assert_eq!(lines.position(text.len()), place);
        }
    }

    #[test]
    fn lines_and_columns_are_those_of_editors() {
        let cases = [
            ("", 0, (1, 1, 1)),
            ("ab", 1, (1, 2, 2)),
            ("ab", 2, (1, 3, 3)),
            ("a\nb", 1, (1, 2, 2)),
            ("a\nb", 2, (2, 1, 1)),
            ("a\r\nb", 2, (1, 3, 3)),
            ("a\r\nb", 3, (2, 1, 1)),
            ("a\rb", 2, (2, 1, 1)),
            ("a\n\n", 3, (3, 1, 1)),
            ("\u{feff}a", 3, (1, 1, 1)),
            ("\u{feff}a", 0, (1, 1, 1)),
            ("é🦀x", 2, (1, 2, 2)),
            ("é🦀x", 6, (1, 3, 4)),
        ];
        for (text, offset, (line, column, utf16)) in cases {
            assert_eq!(Lines::of(text).position(offset), Position { line, column, utf16 }, "{text:?} at {offset}");
        }
    }
}
