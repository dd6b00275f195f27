//! How to speak with the person.

use std::io::{self, ErrorKind, Write, stderr, stdout};

use crate::exit;
use crate::lang::Lang;
use crate::say::Say;
use crate::style::Color;

/// How to speak with the person.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) json: bool,
    pub(crate) lang: Lang,
    pub(crate) color: Color,
}

impl Manner {
    /// Says something on stderr; gives the exit code back.
    pub(crate) fn complain<'a>(self, say: impl Into<Say<'a>>, code: u8) -> u8 {
        self.note(&format!("sidekicks: {}\n", say.into().text(self.lang)));
        code
    }

    /// Writes this to stderr. Whether somebody reads it is nobody's business.
    pub(crate) fn note(self, text: &str) {
        let _ = stderr().write_all(text.as_bytes());
    }

    /// Writes what was asked for to stdout; gives `code`, unless it cannot be written.
    pub(crate) fn print(self, text: impl AsRef<[u8]>, code: u8) -> u8 {
        let mut out = stdout().lock();
        self.printed(out.write_all(text.as_ref()).and_then(|()| out.flush()), code)
    }

    /// The same for one JSON document.
    pub(crate) fn print_json(self, document: &serde_json::Value, code: u8) -> u8 {
        self.print(format!("{document:#}\n"), code)
    }

    fn printed(self, written: io::Result<()>, code: u8) -> u8 {
        match written {
            // As with any program in a pipe, that nobody reads on is no error.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.complain(Say::CannotWrite { reason: &error.to_string() }, exit::FAILED)
            }
            _ => code,
        }
    }
}
