//! Walking through JSON that has a known shape, value by value.

use serde::Deserialize;

/// A place in a JSON text. Whatever does not go as expected is `None`, and the place is then of no use any more.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(json: &'a str) -> Self {
        Self { rest: json }
    }

    /// Reads an object, each value by `field`, which is given its key.
    pub(super) fn object(&mut self, mut field: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.mark('{')?;
        if self.mark('}').is_some() {
            return Some(());
        }
        loop {
            let (key, _) = self.value()?;
            self.mark(':')?;
            field(self, key)?;
            if self.mark('}').is_some() {
                return Some(());
            }
            self.mark(',')?;
        }
    }

    /// Reads a string, an array or an object, and gives its text too.
    pub(super) fn value<T: Deserialize<'a>>(&mut self) -> Option<(T, &'a str)> {
        self.rest = self.trimmed();
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter();
        let value = values.next()?.ok()?;
        let (text, rest) = self.rest.split_at(values.byte_offset());
        self.rest = rest;
        Some((value, text))
    }

    /// Whether nothing follows.
    pub(super) fn is_at_end(&self) -> bool {
        self.trimmed().is_empty()
    }

    fn mark(&mut self, mark: char) -> Option<()> {
        self.rest = self.trimmed().strip_prefix(mark)?;
        Some(())
    }

    /// What follows the white space of JSON (RFC 8259, 2), which has fewer characters than ASCII's.
    fn trimmed(&self) -> &'a str {
        self.rest.trim_start_matches([' ', '\t', '\n', '\r'])
    }
}
