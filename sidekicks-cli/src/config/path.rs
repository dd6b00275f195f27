//! `sidekicks config path`: which file counts, and why.

use std::os::unix::ffi::OsStrExt;

use serde_json::json;
use sidekicks_prefs::{Choice, is_missing};

use crate::exit;
use crate::manner::Manner;
use crate::say::About;
use crate::start::Start;

/// The path goes to stdout, for scripts, and the reason to stderr.
pub(super) fn main(start: &Start, manner: Manner) -> u8 {
    let choice = &start.choice;
    if manner.json {
        let document = json!({
            "path": choice.path().map(|path| path.to_string_lossy()),
            "why": why(choice),
            "missing": choice.path().is_some_and(is_missing),
            "gone": choice.gone().map(|path| path.to_string_lossy()),
        });
        return manner.print_json(&document, exit::DONE);
    }
    start.tell_gone(manner);
    let Some(path) = choice.path() else { return manner.complain(About::NoConfig, exit::DONE) };
    let code = manner.print([path.as_os_str().as_bytes(), b"\n"].concat(), exit::DONE);
    manner.complain(About::Why(choice), code);
    let _ = start.loaded(manner); // Whether it can be read is told, and fails nothing: which one it is was asked.
    code
}

fn why(choice: &Choice) -> &'static str {
    match choice {
        Choice::Given(_) => "given",
        Choice::Variable(_) => "variable",
        Choice::Last(_) => "last",
        Choice::Standard { .. } => "standard",
        _ => "none",
    }
}
