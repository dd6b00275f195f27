//! Settings that are given for one command, of which many are commands themselves.

use crate::danger::reason::{Found, Reason};
use crate::danger::text::{HOLE, Text};

/// Settings whose value is run.
const COMMANDS: &[&str] = &[
    "core.alternaterefscommand",
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.pager",
    "core.sshcommand",
    "diff.external",
    "gpg.program",
    "interactive.difffilter",
    "sendemail.sendmailcmd",
    "sequence.editor",
    "uploadpack.packobjectshook",
];
/// The same for a driver, a tool or a remote of any name.
const NAMED: &[(&str, &[&str])] = &[
    ("diff.", &["command", "textconv"]),
    ("difftool.", &["cmd", "path"]),
    ("filter.", &["clean", "smudge", "process"]),
    ("gpg.", &["program"]),
    ("man.", &["cmd", "path"]),
    ("merge.", &["driver"]),
    ("mergetool.", &["cmd", "path"]),
    ("pager.", &[""]),
    ("remote.", &["uploadpack", "receivepack"]),
    ("trailer.", &["cmd", "command"]),
];

/// What `name=value` has Git run.
pub(super) fn look(setting: &Text, found: &mut Found) {
    let text = setting.as_str();
    let Some((name, value)) = text.split_once('=') else { return };
    let name = name.to_ascii_lowercase();
    let value = setting.piece(text.len() - value.len()..text.len());
    let shell = value.as_str().strip_prefix('!').map(|code| value.piece(1..1 + code.len()));
    match shell {
        Some(code) if name.starts_with("alias.") || name.ends_with(".helper") => found.code.push(code),
        // Whether it begins with `!` is not known.
        None if name.starts_with("alias.") && value.as_str().starts_with(HOLE) => found.code.push(value),
        None if name.starts_with("alias.") => {
            let mut git = Text::default();
            git.push_str("git ", value.span(0..1));
            git.push(&value);
            found.code.push(git);
        }
        _ if is_command(&name) && !matches!(value.as_str(), "" | "true" | "false") => found.code.push(value),
        _ => {}
    }
}

/// What `name=VARIABLE` has Git run: nobody knows.
pub(super) fn look_in_environment(setting: &Text, found: &mut Found) {
    let name = setting.as_str().split('=').next().unwrap_or_default().to_ascii_lowercase();
    if name.starts_with("alias.") || is_command(&name) {
        found.flag(Reason::HiddenCommand, setting.span(0..setting.as_str().len()));
    }
}

/// `name` is in lower case.
fn is_command(name: &str) -> bool {
    let named = |&(group, last): &(&str, &[&str])| {
        name.strip_prefix(group).is_some_and(|rest| {
            last.iter().any(|last| last.is_empty() || rest.strip_suffix(last).is_some_and(|it| it.ends_with('.')))
        })
    };
    COMMANDS.contains(&name) || NAMED.iter().any(named)
}
