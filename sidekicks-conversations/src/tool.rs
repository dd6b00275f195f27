//! What agents send of a tool call, put into one shape.
//!
//! The raw JSON is read here, not the schema's types: those drop words that they do not know.

mod beside;
mod changes;
mod command;
mod description;
mod patch;
mod paths;

use std::sync::Arc;

use serde_json::{Map, Value};

pub(crate) use beside::{Beside, beside};
pub(crate) use changes::{FileChange, changes};
pub(crate) use command::{Command, command};
pub(crate) use description::description;
pub(crate) use paths::paths;

use crate::limits::readable;
use crate::part::{Diff, Location, ToolPart};

/// Where the output of a call comes from; agents often send the same in several ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Output {
    /// There is none yet.
    #[default]
    Nowhere,
    /// `rawOutput`, which anything else is better than.
    Raw,
    /// What a terminal of the agent shows, told piece by piece in `_meta`.
    Terminal,
    /// `content` of a call that was open: with some agents no more than what the call is to do.
    Draft,
    /// `content`, which is made for being shown.
    Content,
}

/// Takes what `update` says of the call; what it leaves out, or says with `null`, stays as it was.
pub(crate) fn update(part: &mut ToolPart, from: &mut Output, update: &Value) {
    if update["content"].is_array() {
        part.diffs = Arc::default(); // It takes the place of what was there.
    }
    let is_input = describe(part, update);
    if let Some(content) = update["content"].as_array() {
        let text = text_of(content);
        if is_input {
            part.set_output("");
            *from = Output::Nowhere;
        } else if !text.is_empty() || matches!(from, Output::Draft | Output::Content) {
            *from = match (text.is_empty(), is_open(&part.status)) {
                (true, _) => Output::Nowhere,
                (false, true) => Output::Draft,
                (false, false) => Output::Content,
            };
            part.set_output(&text);
        }
    }
    let raw = &update["rawOutput"];
    let ended = !is_open(&part.status) && update["content"].is_null();
    let raw = match from {
        Output::Nowhere | Output::Raw => output(raw),
        // What it gave in the end, if that is words and not only particulars.
        Output::Draft if ended => words(raw).map(str::to_owned),
        _ => None,
    };
    if let Some(text) = raw {
        *from = Output::Raw;
        part.set_output(&text);
    }
    for text in ["terminal_output", "terminal_output_delta"].iter().filter_map(|key| terminal(update, key)) {
        match from {
            Output::Draft | Output::Content => break,
            Output::Terminal => part.append_output(text),
            Output::Nowhere | Output::Raw => part.set_output(text),
        }
        *from = Output::Terminal;
    }
}

/// Takes what is said of the call, but not what it gives: in a question content is said to the person who is asked, and
/// takes nothing away of what is to be changed. Tells whether the content was the input.
pub(crate) fn describe(part: &mut ToolPart, update: &Value) -> bool {
    let take = |field: &mut String, key: &str, default: &str| match update[key].as_str() {
        Some(text) => text.clone_into(field),
        None if field.is_empty() => default.clone_into(field),
        None => {}
    };
    take(&mut part.id, "toolCallId", "");
    take(&mut part.title, "title", "");
    take(&mut part.tool_kind, "kind", "other");
    take(&mut part.status, "status", "pending");
    if let Some(input) = update.get("rawInput").filter(|input| !is_nothing(input) || is_nothing(&part.input)) {
        part.input = Arc::new(readable(input.clone()));
    }
    if let Some(locations) = update["locations"].as_array() {
        part.locations = locations.iter().filter_map(location).collect();
    }
    let Some(content) = update["content"].as_array() else { return false };
    let diffs: Arc<[Diff]> = content.iter().filter(|item| item["type"] == "diff").filter_map(diff).collect();
    if !diffs.is_empty() {
        part.diffs = diffs;
    }
    let input = streamed_input(part, &text_of(content));
    let is_input = input.is_some();
    input.into_iter().for_each(|input| part.input = Arc::new(Value::Object(input)));
    is_input
}

fn is_nothing(input: &Value) -> bool {
    input.is_null() || *input == Value::Object(Map::new())
}

fn text_of(content: &[Value]) -> String {
    content.iter().filter_map(|item| item["content"]["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Some agents tell the input of a call as its content while it is open, a growing piece of JSON, and in no other way.
fn streamed_input(part: &ToolPart, text: &str) -> Option<Map<String, Value>> {
    let text = text.trim();
    let may_be = is_open(&part.status) && is_nothing(&part.input) && text.starts_with('{') && text.ends_with('}');
    let input: Option<Map<String, Value>> = if may_be { serde_json::from_str(text).ok() } else { None };
    input.filter(|input| !input.is_empty())
}

/// Some agents run their own terminals, and tell here what they show.
fn terminal<'a>(update: &'a Value, key: &str) -> Option<&'a str> {
    update["_meta"][key]["data"].as_str()
}

/// Whether the call is still open.
pub(crate) fn is_open(status: &str) -> bool {
    !matches!(status, "completed" | "failed" | "cancelled" | "unfinished")
}

/// The input of a tool, and what it holds as the input of another: some tools only pass on what they are given.
fn levels(input: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let nested = ["input", "arguments", "parameters", "args", "params"];
    let inner = nested.into_iter().filter_map(|key| input[key].as_object());
    input.as_object().into_iter().chain(inner)
}

/// A name of something in an input, however it is spelt: in small letters, and without `_`.
fn folded(key: &str) -> String {
    key.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

fn diff(item: &Value) -> Option<Diff> {
    let path = item["path"].as_str()?.to_owned();
    let old_text = item["oldText"].as_str().map(str::to_owned);
    Some(Diff { path, old_text, new_text: item["newText"].as_str().unwrap_or_default().to_owned() })
}

fn location(item: &Value) -> Option<Location> {
    Some(Location { path: item["path"].as_str()?.to_owned(), line: item["line"].as_u64() })
}

/// The text in what a tool gave; where there is only something else, that as JSON.
fn output(raw: &Value) -> Option<String> {
    let nothing = match raw {
        Value::Null => true,
        // How a command ended is no output of it.
        Value::Object(fields) => {
            fields.is_empty() || ["exitCode", "exit_code", "exitStatus"].iter().any(|key| fields.contains_key(*key))
        }
        _ => false,
    };
    let in_full = || if nothing { None } else { serde_json::to_string_pretty(raw).ok() };
    words(raw).map(str::to_owned).or_else(in_full)
}

/// Agents send a string, or an object with it under one of a few names.
fn words(raw: &Value) -> Option<&str> {
    let Value::Object(fields) = raw else { return raw.as_str() };
    let known = ["output", "formatted_output", "aggregated_output", "stdout", "content", "result", "stderr"];
    let mut texts = known.iter().filter_map(|key| fields.get(*key).and_then(Value::as_str));
    let first = texts.next();
    first.filter(|text| !text.is_empty()).or(texts.find(|text| !text.is_empty())).or(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_update_says_only_what_changes() {
        let (mut part, mut from) = (ToolPart::default(), Output::default());
        update(
            &mut part,
            &mut from,
            &json!({"toolCallId": "t", "title": "T", "kind": "teleport", "rawInput": {}, "locations": [{"path": "a", "line": 3}, {}]}),
        );
        assert_eq!((part.tool_kind.as_str(), part.status.as_str()), ("teleport", "pending"));
        update(
            &mut part,
            &mut from,
            &json!({"toolCallId": "t", "status": "in_progress", "title": null, "rawInput": {"path": "b"}, "content": [
            {"type": "content", "content": {"type": "text", "text": "one"}},
            {"type": "diff", "path": "c", "oldText": null, "newText": "new"},
            {"type": "hologram"},
            {"type": "content", "content": {"type": "text", "text": "two"}}]}),
        );
        assert_eq!((part.title.as_str(), &part.output), ("T", &"one\ntwo".into()));
        assert_eq!(paths(&part, &[]).0, ["a", "c", "b"]);
        assert_eq!(part.diffs[0].old_text, None);
        update(&mut part, &mut from, &json!({"status": "done for", "content": [], "rawOutput": {"stdout": "three"}}));
        assert_eq!((part.status.as_str(), &part.output, part.diffs.len()), ("done for", &"three".into(), 0));
    }

    #[test]
    fn an_input_that_is_told_as_content_is_the_input() {
        let content = |text: &str| json!({"content": [{"type": "content", "content": {"type": "text", "text": text}}]});
        let told = |updates: &[Value]| {
            let (mut part, mut from) = (ToolPart::default(), Output::default());
            updates.iter().for_each(|each| update(&mut part, &mut from, each));
            Value::clone(&part.input)
        };
        let streamed = ["", r#"{"comm"#, r#"{"command": "ls"}"#, "May I run `ls`?"].map(content);
        assert_eq!(told(&streamed), json!({"command": "ls"}));
        let given = json!({"rawInput": {"command": "make"}});
        assert_eq!(told(&[given, content(r#"{"command": "ls"}"#)]), json!({"command": "make"}), "it was told already");
        assert_eq!(told(&[json!({"status": "completed"}), content("{}")]), json!(null), "that is the output");
        assert_eq!(told(&[content(r#"["ls"]"#)]), json!(null));
    }

    #[test]
    fn the_best_output_wins_and_grows() {
        let raw = |text: &str| json!({"rawOutput": text});
        let content = |text: &str| json!({"content": [{"type": "content", "content": {"type": "text", "text": text}}]});
        let terminal = |text: &str| json!({"_meta": {"terminal_output": {"terminal_id": "t", "data": text}}});
        let delta = |text: &str| json!({"_meta": {"terminal_output_delta": {"terminal_id": "t", "data": text}}});
        let shell = json!({"content": [{"type": "terminal", "terminalId": "never created"}]});
        let cases = [
            (vec![raw("a"), raw("ab")], "ab"),
            (vec![raw("raw"), content("shown"), raw("raw")], "shown"),
            (vec![content("a"), content("b")], "b"),
            (vec![content("a"), json!({"content": []})], ""),
            (vec![content("a"), json!({"content": null})], "a"),
            (vec![shell.clone(), terminal("a\n"), terminal("b\n"), shell, raw("all")], "a\nb\n"),
            (vec![raw("early"), delta("a"), delta("b")], "ab"),
            (vec![content("shown"), delta("b")], "shown"),
            // What the call is to do; then what it gave.
            (vec![content("Runs make"), json!({"status": "completed", "rawOutput": "made"})], "made"),
            (vec![content("Runs make"), json!({"status": "completed"}), raw("made")], "made"),
            (vec![content("made"), json!({"status": "completed", "rawOutput": {"exitCode": 0, "files": 3}})], "made"),
            (vec![content("made"), json!({"status": "completed", "rawOutput": {"took": 3}})], "made"),
            (vec![content("made"), json!({"status": "completed", "content": null, "rawOutput": ["made"]})], "made"),
        ];
        for (updates, expected) in cases {
            let (mut part, mut from) = (ToolPart::default(), Output::default());
            updates.iter().for_each(|each| update(&mut part, &mut from, each));
            assert_eq!(part.output, expected, "{updates:?}");
        }
    }

    #[test]
    fn output_of_every_form() {
        let cases = [
            (json!("text"), Some("text")),
            (json!({"output": "text", "exitCode": 0}), Some("text")),
            (json!({"stdout": "", "exitCode": 1, "stderr": "no such file"}), Some("no such file")),
            (json!({"stdout": "", "exitCode": 0}), Some("")),
            (json!({"exitCode": 0}), None),
            (json!({}), None),
            (json!({"exitCode": 0, "signal": null}), None),
            (json!(null), None),
            (json!([1]), Some("[\n  1\n]")),
        ];
        for (raw, expected) in cases {
            assert_eq!(output(&raw).as_deref(), expected, "{raw}");
        }
    }
}
