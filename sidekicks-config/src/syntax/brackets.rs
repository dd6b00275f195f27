//! Whether the brackets come out even.

use super::text::closers;

/// The brackets of a text that stand in no comment and no text.
#[derive(Debug)]
pub(super) struct Brackets {
    /// Where each is, and how many more are opened than closed from it on.
    places: Vec<(usize, isize)>,
}

impl Brackets {
    pub(super) fn of(text: &str) -> Self {
        let mut places = Vec::new();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            let line = || rest.find(['\n', '\r']).unwrap_or(rest.len());
            at += match c {
                '{' | '[' => {
                    places.push((at, 1));
                    1
                }
                '}' | ']' => {
                    places.push((at, -1));
                    1
                }
                '/' if rest.starts_with("//") => line(),
                '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| 2 + end + 2),
                '#' => line(),
                _ => match closers(c) {
                    Some(closers) => super::text::read(text, at, closers).span.len(),
                    None => c.len_utf8(),
                },
            };
        }
        let mut opened = 0;
        for (_, count) in places.iter_mut().rev() {
            opened += *count;
            *count = opened;
        }
        Self { places }
    }

    /// Whether each is closed, and none that was opened before.
    pub(super) fn come_out_even(&self) -> bool {
        self.places.first().is_none_or(|(_, opened)| *opened == 0) && self.places.iter().all(|(_, opened)| *opened <= 0)
    }

    /// How many more brackets are opened than closed after the one at `at`.
    pub(super) fn opened_after(&self, at: usize) -> isize {
        let next = self.places.partition_point(|(place, _)| *place <= at);
        self.places.get(next).map_or(0, |(_, opened)| *opened)
    }
}
