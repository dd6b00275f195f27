//! `sidekicks recent`: the files that were opened.

use std::path::Path;

use serde_json::json;
use sidekicks_prefs::{Preferences, is_missing};

use crate::exit;
use crate::harmless::exact_line;
use crate::manner::Manner;
use crate::say::About;
use crate::start::Start;

pub(crate) fn main(forget: Option<&Path>, start: &Start, manner: Manner) -> u8 {
    let Some(path) = forget else { return show(&start.preferences, manner) };
    let updated = start.store.forget(path);
    start.tell_new(&updated.notices, manner);
    if !updated.saved && start.store.path().is_some() {
        return exit::FAILED;
    }
    if updated.preferences == start.preferences {
        return manner.complain(About::NotRecent { path }, exit::USAGE);
    }
    match manner.json {
        true => show(&updated.preferences, manner),
        false => manner.complain(About::Forgotten { path }, exit::DONE),
    }
}

fn show(preferences: &Preferences, manner: Manner) -> u8 {
    let Preferences { last, recent, .. } = preferences;
    if manner.json {
        let entry = |path: &Path| json!({ "path": path.to_string_lossy(), "missing": is_missing(path) });
        let recent: Vec<_> = recent.iter().map(|path| entry(path)).collect();
        let last = last.as_ref().map(|path| path.to_string_lossy());
        return manner.print_json(&json!({ "last": last, "recent": recent }), exit::DONE);
    }
    if recent.is_empty() {
        return manner.complain(About::NoRecent, exit::DONE);
    }
    let line = |path: &Path| {
        let marks = [(About::Last, last.as_deref() == Some(path)), (About::Missing, is_missing(path))];
        let marks: Vec<String> =
            marks.into_iter().filter(|(_, counts)| *counts).map(|(mark, _)| mark.text(manner.lang)).collect();
        let marks = if marks.is_empty() { String::new() } else { format!("  ({})", marks.join(", ")) };
        format!("{}{marks}\n", exact_line(&path.display().to_string()))
    };
    manner.print(recent.iter().map(|path| line(path)).collect::<String>(), exit::DONE)
}
