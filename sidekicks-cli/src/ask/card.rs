//! A permission card: what an agent wants, and what can be answered.

use std::fmt::Write;

use sidekicks_conversations::{Choice, Diff, Permission};

use crate::harmless::{harmless, one_line};
use crate::lang::Lang;
use crate::say::Say;

/// How many lines of changes are shown. A command is shown whole: nobody should allow what they cannot see.
const LINES: usize = 200;

/// The card as it is shown, with the question at its end. `width` is that of the terminal, in columns.
pub(super) fn card(permission: &Permission, lang: Lang, width: usize) -> String {
    let agent = permission.agent.as_str();
    let mut card = String::new();
    let mut line = |text: &str| {
        let _ = writeln!(card, "{text}"); // Writing to a String cannot fail.
    };
    line(&format!("┌ {}", Say::Wants { agent, action: permission.action }.text(lang)));
    for text in body(permission, lang) {
        line(&format!("│   {text}"));
    }
    let options: Vec<String> = permission
        .options
        .iter()
        .enumerate()
        .map(|(at, option)| format!("[{}] {}", at + 1, label(option, permission, lang)))
        .collect();
    let stop = format!("[s] {}", Say::StopAgent.text(lang));
    let row = [options.as_slice(), &[stop]].concat();
    let on_one_line = row.join("   ");
    if on_one_line.chars().count() + 2 <= width {
        line(&format!("│ {on_one_line}"));
    } else {
        row.iter().for_each(|option| line(&format!("│ {option}")));
    }
    card.push_str("└ ? ");
    card
}

/// What is to be done, line by line.
fn body(permission: &Permission, lang: Lang) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(command) = &permission.command {
        lines.extend(harmless(command).lines().map(str::to_owned));
    } else if !permission.title.is_empty() {
        lines.push(one_line(&permission.title, 200));
    }
    for path in permission.paths.iter().map(|path| one_line(path, 200)) {
        if !lines.iter().any(|line| line.contains(&path)) {
            lines.push(path);
        }
    }
    if lines.is_empty() && !permission.raw_input.is_null() {
        // A shape that nobody knows is still shown.
        lines.push(one_line(&permission.raw_input.to_string(), 200));
    }
    let mut changed: Vec<String> = permission.diffs.iter().flat_map(changes).collect();
    if changed.len() > LINES {
        let more = changed.split_off(LINES).len();
        changed.push(Say::MoreLines(more).text(lang));
    }
    lines.extend(changed);
    lines
}

/// The lines that a change takes away and adds, without those that stay at its beginning and end.
fn changes(diff: &Diff) -> Vec<String> {
    let old: Vec<&str> = diff.old_text.as_deref().unwrap_or_default().lines().collect();
    let new: Vec<&str> = diff.new_text.lines().collect();
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let after = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let signed = |sign: char| move |line: &&str| format!("{sign} {}", harmless(line));
    let taken = old[..old.len() - after].iter().map(signed('-'));
    taken.chain(new[..new.len() - after].iter().map(signed('+'))).collect()
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
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn permission(fields: Value) -> Permission {
        let mut whole = json!({
            "id": "p1", "agent": "riker", "title": "", "action": "other", "paths": [], "diffs": [], "rawInput": null,
            "dangers": [], "options": [
                {"id": "a", "kind": "allow_once", "name": "Yes"},
                {"id": "b", "kind": "allow_always", "name": "Always"},
                {"id": "c", "kind": "reject_always", "name": "Never"},
                {"id": "d", "kind": "reject_once", "name": "No"}]
        });
        whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    fn shown(fields: Value, width: usize) -> String {
        let permission = permission(fields);
        [Lang::En, Lang::Fr].map(|lang| card(&permission, lang, width)).join("\n\n")
    }

    #[test]
    fn cards() {
        insta::assert_snapshot!(
            "a command",
            shown(json!({"action": "run_command", "command": "git reset --hard HEAD~1"}), 120)
        );
        insta::assert_snapshot!(
            "narrow, several lines, escapes",
            shown(json!({"action": "run_command", "command": "cat <<E > x\n\x1b[2Jhi\nE"}), 40)
        );
        insta::assert_snapshot!(
            "a change",
            shown(
                json!({"action": "edit_file", "title": "Write notes.txt", "paths": ["/tmp/notes.txt"],
                "diffs": [{"path": "/tmp/notes.txt", "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n"}]}),
                120
            )
        );
        let long: String = (0..300).map(|n| format!("line {n}\n")).collect();
        insta::assert_snapshot!(
            "a long new file",
            shown(
                json!({"action": "edit_file", "title": "new.txt", "diffs": [{"path": "new.txt", "newText": long}]}),
                120
            )
        );
        insta::assert_snapshot!(
            "repeated and unknown kinds",
            shown(
                json!({"title": "Plan", "options": [
                {"id": "a", "kind": "allow_once", "name": "Yes"}, {"id": "b", "kind": "allow_once", "name": "Yes, and edit"},
                {"id": "c", "kind": "somehow", "name": "Some\x1bhow"}]}),
                120
            )
        );
        insta::assert_snapshot!("a shape nobody knows", shown(json!({"rawInput": {"x": ["y"]}, "options": []}), 120));
    }

    #[test]
    fn answers() {
        let permission = permission(json!({}));
        let word = |line: &str| match reply(&permission, line) {
            Reply::Option(option) => option.id.clone(),
            Reply::StopAgent => "stop".to_owned(),
            Reply::Unknown => "unknown".to_owned(),
        };
        let answers = ["1", " [4] ", "s", "S", "0", "5", "", "yes", "-1", "99999999999999999999"].map(word);
        let unknown = "unknown";
        assert_eq!(answers, ["a", "d", "stop", "stop", unknown, unknown, unknown, unknown, unknown, unknown]);
    }

    #[test]
    fn the_mildest_no() {
        let id = |options: Value| rejection(&permission(json!({ "options": options }))).map(|option| option.id.clone());
        let always = json!({"id": "n", "kind": "reject_always", "name": ""});
        let once = json!({"id": "o", "kind": "reject_once", "name": ""});
        assert_eq!(id(json!([always, once])).as_deref(), Some("o"));
        assert_eq!(id(json!([always])).as_deref(), Some("n"));
        assert_eq!(id(json!([{"id": "y", "kind": "allow_once", "name": ""}])), None);
    }
}
