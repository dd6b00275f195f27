//! What an agent says of its question, in words.

use serde_json::Value;

use super::{levels, text_of};
use crate::part::ToolPart;

/// What the question `call` says of itself, or else what the input of the tool says it is for. None where that tells
/// nothing that a person does not see anyway: the title, the command, or the input (`is_input`).
pub(crate) fn description(part: &ToolPart, call: &Value, is_input: bool, command: Option<&str>) -> Option<String> {
    let said = call["content"].as_array().filter(|_| !is_input).map(|content| text_of(content));
    let names = ["description", "reason", "justification"];
    let given = levels(&part.input).flat_map(|input| names.iter().filter_map(|name| input.get(*name)?.as_str()));
    let mut all = said.into_iter().chain(given.map(str::to_owned));
    all.find_map(|text| {
        let text = text.trim();
        let is_known = [Some(&*part.title), command].into_iter().flatten().any(|known| bare(known) == bare(text));
        (!bare(text).is_empty() && !is_known && !is_json_of(text, &part.input)).then(|| text.to_owned())
    })
}

/// Without the signs that make it code in Markdown.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '`')
}

/// Some agents tell the input as content, and then again with the question.
fn is_json_of(text: &str, input: &Value) -> bool {
    text.starts_with('{') && serde_json::from_str::<Value>(text).is_ok_and(|value| value == *input)
}
