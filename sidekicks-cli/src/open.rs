//! `sidekicks open`: choosing the file that counts from now on.

use std::io::stdout;

use serde_json::json;
use sidekicks_config::{Kept, Loaded};

use crate::config::problems::{Look, Problems};
use crate::exit;
use crate::manner::Manner;
use crate::say::About;
use crate::start::Start;

pub(crate) fn main(start: &Start, manner: Manner) -> u8 {
    match start.loaded(manner) {
        Ok(Some(loaded)) => open(loaded, start, manner),
        Ok(None) => manner.complain(About::NoConfig, exit::USAGE), // Never: a file is named.
        Err(code) => code,
    }
}

fn open(loaded: &Loaded, start: &Start, manner: Manner) -> u8 {
    let path = loaded.path.as_path();
    let problems = Problems::of(loaded, path);
    let usable = loaded.kept != Kept::Nothing && !loaded.config.agents.is_empty();
    let mut code = if usable { remember(start, loaded, manner) } else { exit::CONFIG };
    if manner.json {
        let mut document = problems.json(manner.lang);
        document["opened"] = json!(code == exit::DONE);
        return manner.print_json(&document, code);
    }
    code = manner.print(problems.report(Look::of(&stdout(), manner)), code);
    match code {
        exit::DONE => manner.complain(About::Opened { path }, code),
        exit::CONFIG => manner.complain(About::NotOpened { path }, code),
        code => code,
    }
}

/// Makes it the last one.
fn remember(start: &Start, loaded: &Loaded, manner: Manner) -> u8 {
    let updated = start.store.opened(&loaded.path);
    start.tell_new(&updated.notices, manner);
    match () {
        () if updated.saved => exit::DONE,
        () if updated.notices.is_empty() => manner.complain(About::NotRemembered, exit::FAILED),
        () => exit::FAILED,
    }
}
