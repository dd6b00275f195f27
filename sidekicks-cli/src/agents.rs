//! `sidekicks agents`: who can be asked.

use std::path::Path;

use serde_json::{Value, json};
use sidekicks_config::{Agent, EffectiveAgent, Kept, Loaded};

use crate::columns::columns;
use crate::config::place::name_of;
use crate::exit;
use crate::harmless::exact_line;
use crate::manner::Manner;
use crate::say::About;
use crate::start::{Start, env, shown};

/// The built-in agent, which is always there unless a configured one has its name.
pub(crate) const DEMO: &str = "demo";

pub(crate) fn main(start: &Start, manner: Manner) -> u8 {
    start.tell_gone(manner);
    let loaded = match start.loaded(manner) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let (mut rows, mut entries) = (Vec::new(), Vec::new());
    for (agent, written) in loaded.into_iter().flat_map(configured) {
        let found = agent.find_program(&env);
        entries.push(json!({
            "name": agent.name,
            "displayName": agent.display_name,
            "command": written.command,
            "args": written.args,
            "workspace": agent.workspace,
            "folder": agent.cwd.as_deref().map(Path::to_string_lossy),
            "found": found.as_deref().map(Path::to_string_lossy),
            "enabled": agent.enabled,
            "hasErrors": false,
        }));
        rows.push(row(&agent, written, found.as_deref(), manner));
    }
    for name in loaded.into_iter().flat_map(dropped) {
        entries.push(json!({ "name": name, "hasErrors": true }));
        rows.push([exact_line(&name), String::new(), String::new(), About::Broken.text(manner.lang)]);
    }
    if !loaded.is_some_and(|loaded| has_entry(loaded, DEMO)) {
        entries.push(built_in());
        rows.push([
            DEMO.to_owned(),
            "sidekicks demo-agent".to_owned(),
            String::new(),
            About::BuiltIn.text(manner.lang),
        ]);
    }
    let code = if loaded.is_some_and(nothing_known) { exit::CONFIG } else { exit::DONE };
    let code = match manner.json {
        true => manner.print_json(&json!({ "agents": entries }), code),
        false => manner.print(table(&rows), code),
    };
    tell(loaded, start, manner);
    code
}

/// Whether it cannot be told which agents a file has.
pub(crate) fn nothing_known(loaded: &Loaded) -> bool {
    match &loaded.kept {
        Kept::Nothing => true,
        Kept::Partly { dropped, .. } => dropped.iter().any(|path| path == "agents"),
        _ => false,
    }
}

/// What there is to say beside.
fn tell(loaded: Option<&Loaded>, start: &Start, manner: Manner) {
    match loaded {
        Some(loaded) => {
            start.tell_errors(loaded, manner);
            if !loaded.config.channels.is_empty() {
                manner.complain(About::ChannelsUnused, exit::DONE);
            }
        }
        None if manner.json => {}
        None => drop(manner.complain(About::OnlyDemo, exit::DONE)),
    }
}

/// The agents of a file that have no errors: what follows from them, and what is written. The first may hold what a
/// variable does, so of command and arguments the second is shown.
fn configured(loaded: &Loaded) -> impl Iterator<Item = (EffectiveAgent, &Agent)> {
    loaded.config.agents.iter().filter_map(|(name, written)| Some((loaded.effective(name, &env)?, written)))
}

/// Whether the file has an agent of this name, with errors or without.
pub(crate) fn has_entry(loaded: &Loaded, name: &str) -> bool {
    loaded.config.agents.contains(name) || is_dropped(loaded, name)
}

/// Whether the agent of this name cannot be used, having errors or needing what has some.
pub(crate) fn is_dropped(loaded: &Loaded, name: &str) -> bool {
    dropped(loaded).any(|dropped| dropped == name)
}

/// The agents that cannot be used, having errors or needing what has some.
pub(crate) fn dropped(loaded: &Loaded) -> impl Iterator<Item = String> {
    let paths = match &loaded.kept {
        Kept::Partly { dropped, .. } => dropped.as_slice(),
        _ => &[],
    };
    paths.iter().filter_map(|path| name_of("agents", path))
}

/// Name, command, folder, and whether it can be started.
fn row(agent: &EffectiveAgent, written: &Agent, found: Option<&Path>, manner: Manner) -> [String; 4] {
    let folder = match (agent.cwd.as_deref().map(shown), &agent.workspace) {
        (Some(folder), Some(workspace)) => format!("{workspace}: {folder}"),
        (Some(folder), None) => folder,
        (None, _) => String::new(),
    };
    let state = match found {
        _ if !agent.enabled => About::Disabled.text(manner.lang),
        Some(program) => shown(program),
        None => About::NotInstalled.text(manner.lang),
    };
    [agent.name.clone(), written.command.clone(), folder, state].map(|text| exact_line(&text))
}

fn built_in() -> Value {
    let program = std::env::current_exe().ok().map(|program| program.to_string_lossy().into_owned());
    json!({
        "name": DEMO,
        "displayName": DEMO,
        "command": program,
        "args": ["demo-agent"],
        "workspace": null,
        "folder": null,
        "found": program,
        "enabled": true,
        "hasErrors": false,
    })
}

/// The rows, with their columns below each other.
fn table(rows: &[[String; 4]]) -> String {
    let width = |at: usize| rows.iter().map(|row| columns(&row[at])).max().unwrap_or_default();
    let widths: Vec<usize> = (0..4).map(width).collect();
    let line = |row: &[String; 4]| {
        let mut line = String::new();
        for (text, width) in row.iter().zip(&widths).filter(|(_, width)| **width > 0) {
            line.push_str(text);
            line.extend(std::iter::repeat_n(' ', width - columns(text) + 2));
        }
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
