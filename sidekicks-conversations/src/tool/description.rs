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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use serde_json::json;

    fn of(title: &str, input: Value, said: &[&str]) -> Option<String> {
        let part = ToolPart { title: title.to_owned(), input: Arc::new(input), ..ToolPart::default() };
        let content: Vec<Value> = said
            .iter()
            .map(|text| json!({"type": "content", "content": {"type": "text", "text": text}}))
            .chain([json!({"type": "diff", "path": "a", "newText": "b"})])
            .collect();
        description(&part, &json!({"content": content}), false, Some("make all"))
    }

    #[test]
    fn what_is_said_beyond_what_is_seen() {
        let cases: [(Value, &[&str], Option<&str>); 16] = [
            (json!({}), &["It builds all."], Some("It builds all.")),
            (json!({}), &["One.", "Two."], Some("One.\nTwo.")),
            (json!({}), &["\n  It builds all.\n"], Some("It builds all.")),
            (json!({}), &[" make all\n"], None),
            (json!({}), &["`make all`"], None),
            (json!({}), &["```\nmake all\n```"], None),
            (json!({}), &["Build"], None),
            (json!({}), &["Build it"], Some("Build it")),
            (json!({}), &["", " "], None),
            (json!({}), &[], None),
            // In the input, where nothing else is said.
            (json!({"description": "To test it"}), &[], Some("To test it")),
            (json!({"reason": "To test it", "description": ""}), &["make all"], Some("To test it")),
            (json!({"arguments": {"justification": "To test it"}}), &[], Some("To test it")),
            (json!({"reason": "To test it"}), &["It builds all."], Some("It builds all.")),
            (json!({"description": ["x"], "reason": "Build"}), &[], None),
            // The input again, as it was streamed.
            (json!({"x": [1, 2]}), &[r#"{"x": [1, 2]}"#], None),
        ];
        for (input, said, expected) in cases {
            assert_eq!(of("Build", input.clone(), said).as_deref(), expected, "{input} {said:?}");
        }
    }

    #[test]
    fn what_was_the_input_says_nothing() {
        let part = ToolPart { input: Arc::new(json!({"x": 1})), ..ToolPart::default() };
        let call = json!({"content": [{"type": "content", "content": {"type": "text", "text": "{\"x\": 1 }"}}]});
        assert_eq!(description(&part, &call, true, None), None);
        assert_eq!(description(&part, &json!({"content": "words"}), false, None), None);
    }
}
