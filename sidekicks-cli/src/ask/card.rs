//! A permission card: what an agent wants, and what can be answered.

mod block;
mod diff;
mod raw;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sidekicks_conversations::{Action, Choice, Permission};

use crate::columns::{columns, wrap};
use crate::harmless::one_line;
use crate::lang::Lang;
use crate::say::Say;
use crate::style::{Line, Paint, Style};

/// How many lines of changes are shown, and of what else an agent tells. A command is shown whole: nobody should allow
/// what they cannot see.
const LINES: usize = 200;

/// How many lines of what the agent says of it are shown below a command: more would push that out of sight.
const WORDS: usize = 10;

/// What a card is made for at least: a sign such as `<U+10FFFF>` has to fit.
const NARROWEST: usize = 20;

/// What stands before an option that goes on with the line above: as much as its sign takes.
const OPTION: &str = "    ";

/// How a card is to look, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) lang: Lang,
    pub(super) paint: Paint,
    /// How wide the terminal is, in columns.
    pub(super) width: usize,
    /// The folder that the agent works in.
    pub(super) folder: &'a Path,
}

impl Look<'_> {
    fn width(&self) -> usize {
        self.width.max(NARROWEST)
    }

    /// The columns for what the agent wants to do: there is a border before it, and an indent.
    fn room(&self) -> usize {
        self.width() - 4
    }

    /// `path` as seen from the agent's folder, where it is in there. On one line: another would look like another file.
    fn path(&self, path: &str) -> String {
        let inside = Path::new(path).strip_prefix(self.folder).ok().and_then(Path::to_str);
        inside.filter(|inside| !inside.is_empty()).unwrap_or(path).replace('\n', "␊")
    }
}

/// The card as it is shown, with the question at its end.
pub(super) fn card(permission: &Permission, look: &Look<'_>) -> String {
    let agent = permission.agent.as_str();
    let (width, paint) = (look.width(), look.paint);
    let mut card = String::new();
    let mut row = |border: &str, line: &Line| {
        card.push_str(format!("{border} {}", paint.line(line)).trim_end_matches(' '));
        card.push('\n');
    };
    let head = Say::Wants { agent, action: permission.action }.text(look.lang);
    for (at, text) in wrap(&head, width - 2).into_iter().enumerate() {
        row(if at == 0 { "┌" } else { "│" }, &Line::of(Style::Head, text));
    }
    body(permission, look).iter().for_each(|line| row("│", line));
    let numbered = permission.options.iter().enumerate();
    let options = numbered.map(|(at, option)| format!("[{}] {}", at + 1, label(option, permission, look.lang)));
    let options: Vec<String> = options.chain([format!("[s] {}", Say::StopAgent.text(look.lang))]).collect();
    let on_one_line = options.join("   ");
    // Or an agent's name for one option could look like another option.
    let are_plain = options.iter().all(|option| option.matches('[').count() == 1);
    if are_plain && columns(&on_one_line) + 2 <= width {
        row("│", &Line::of(Style::Plain, on_one_line));
    } else {
        for option in &options {
            for (at, text) in wrap(option, width - 2 - OPTION.len()).into_iter().enumerate() {
                let indent = if at == 0 { "" } else { OPTION };
                row("│", &Line::of(Style::Plain, format!("{indent}{text}")));
            }
        }
    }
    card.push_str("└ ? ");
    card
}

/// What is to be done, line by line.
fn body(permission: &Permission, look: &Look<'_>) -> Vec<Line> {
    let Permission { command, title, description, paths, diffs, raw_input, dangers, .. } = permission;
    let mut lines = Vec::new();
    if let Some(command) = command {
        lines.extend(block::command(command, dangers, look));
        lines.extend(raw::beside(raw_input, look));
    } else {
        lines.extend(bounded(title, look));
    }
    let most = if command.is_some() { WORDS } else { LINES };
    lines.extend(description.iter().flat_map(|text| cut(block::quote(text, look), most, look)));
    let changed: HashSet<PathBuf> = diffs.iter().map(|diff| look.folder.join(&diff.path)).collect();
    let unchanged: Vec<&String> = paths.iter().filter(|path| !changed.contains(&look.folder.join(path))).collect();
    let named: Vec<String> = unchanged.iter().filter(|path| **path != title).map(|path| look.path(path)).collect();
    lines.extend(bounded(&named.join("\n"), look));
    // Of a file that is only read, deleted or moved its name is all there is to know, unless the input has other words, or
    // two names, of which one moves to the other.
    let is_named = !paths.is_empty()
        && (permission.action != Action::MoveFile || paths.len() == 1)
        && matches!(permission.action, Action::ReadFile | Action::DeleteFile | Action::MoveFile)
        && is_shown(permission, look);
    if command.is_none() && (diffs.is_empty() || !unchanged.is_empty()) && !is_named {
        // A shape that nobody knows is still shown, and a change that came as something else than a diff.
        lines.extend(raw::input(raw_input, look));
    }
    lines.extend(diff::changes(diffs, permission.action, look));
    if command.is_none() {
        lines.extend(block::reasons(dangers.iter(), look));
    }
    lines
}

/// Whether each text in the input is one of the files, the title or the description.
fn is_shown(permission: &Permission, look: &Look<'_>) -> bool {
    let Permission { title, description, paths, raw_input, .. } = permission;
    let files: HashSet<PathBuf> = paths.iter().map(|path| look.folder.join(path)).collect();
    let is_there = |text: &String| text == title || Some(text) == description.as_ref();
    let mut open = vec![&**raw_input];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if !is_there(text) && !files.contains(&look.folder.join(text)) => return false,
            Value::Array(values) => open.extend(values),
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    true
}

/// The lines of `text`, which an agent may have made long.
fn bounded(text: &str, look: &Look<'_>) -> Vec<Line> {
    cut(block::block(text, look), LINES, look)
}

fn cut(mut rows: impl Iterator<Item = Line>, most: usize, look: &Look<'_>) -> Vec<Line> {
    let mut lines: Vec<Line> = rows.by_ref().take(most).collect();
    let more = rows.count();
    if more > 0 {
        lines.push(Line::of(Style::Plain, format!("{}{}", block::INDENT, Say::MoreLines(more).text(look.lang))));
    }
    lines
}

/// Our word for an option, and the agent's own where ours would not tell it from another.
fn label(option: &Choice, permission: &Permission, lang: Lang) -> String {
    let Choice { kind, name, .. } = option;
    let ours = Say::Option { kind, name }.text(lang);
    let alike = permission.options.iter().filter(|other| other.kind == *kind).count() > 1;
    let known = ["allow_once", "allow_always", "reject_always", "reject_once"].contains(&kind.as_str());
    match alike && known {
        true => format!("{ours} ({})", one_line(name, 60)),
        false => ours,
    }
}

/// What a person answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply<'a> {
    Option(&'a Choice),
    StopAgent,
    Unknown,
}

/// What `line` means as an answer to `permission`.
pub(super) fn reply<'a>(permission: &'a Permission, line: &str) -> Reply<'a> {
    match line.trim().trim_start_matches('[').trim_end_matches(']') {
        "s" | "S" => Reply::StopAgent,
        number => {
            let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            at.and_then(|at| permission.options.get(at)).map_or(Reply::Unknown, Reply::Option)
        }
    }
}

/// The mildest way to say no, if there is one: `reject_once`, else `reject_always`.
pub(super) fn rejection(permission: &Permission) -> Option<&Choice> {
    let of_kind = |kind: &str| permission.options.iter().find(|option| option.kind == kind);
    of_kind("reject_once").or_else(|| of_kind("reject_always"))
}

#[cfg(test)]
mod tests;
