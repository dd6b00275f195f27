//! Putting a message together that was written over several lines.

/// How much is gathered before it is given up, in bytes.
const MAX: usize = 1024 * 1024;

/// The lines so far of one pretty-printed object, and where in it they end.
#[derive(Debug)]
pub(crate) struct Gathering {
    pub(crate) text: Vec<u8>,
    depth: u32,
    in_string: bool,
    escaped: bool,
}

/// What one more line made of a [`Gathering`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Open,
    /// Every bracket is closed.
    Balanced,
    TooMuch,
}

impl Gathering {
    /// After a line that is a brace and nothing else.
    pub(crate) fn begun() -> Self {
        Self { text: b"{".to_vec(), depth: 1, in_string: false, escaped: false }
    }

    pub(crate) fn add(&mut self, line: &[u8]) -> Progress {
        self.text.push(b'\n');
        self.text.extend_from_slice(line);
        for &byte in line {
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                self.escaped = byte == b'\\';
                self.in_string = byte != b'"';
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
        if self.depth == 0 {
            Progress::Balanced
        } else if self.text.len() > MAX {
            Progress::TooMuch
        } else {
            Progress::Open
        }
    }
}
