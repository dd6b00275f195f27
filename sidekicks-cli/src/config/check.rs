//! `sidekicks config check`: what is wrong with a file.

use std::io::stdout;

use sidekicks_config::Loaded;

use super::problems::{Look, Problems};
use crate::exit;
use crate::manner::Manner;
use crate::say::About;
use crate::start::Start;

pub(super) fn main(start: &Start, manner: Manner) -> u8 {
    start.tell_gone(manner);
    match start.loaded(manner) {
        Ok(Some(loaded)) => show(loaded, manner),
        Ok(None) => manner.complain(About::NoConfig, exit::USAGE),
        Err(code) => code,
    }
}

fn show(loaded: &Loaded, manner: Manner) -> u8 {
    let problems = Problems::of(loaded, &loaded.path);
    let code = if problems.has_errors() { exit::CONFIG } else { exit::DONE };
    if manner.json {
        return manner.print_json(&problems.json(manner.lang), code);
    }
    manner.print(problems.report(Look::of(&stdout(), manner)), code)
}
