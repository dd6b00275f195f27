//! What an event weighs while it waits to be read.

use std::sync::Arc;

use serde_json::Value;
use sidekicks_acp::schema::EmbeddedResourceResource;

use crate::event::Event;
use crate::part::{Diff, Part, ToolPart};
use crate::transcript::Transcript;

/// An event and its place, with the little that is in every one.
const EVENT: usize = 256;

/// About how many bytes `event` brings that are not in the conversation as it was before: what they share is there anyway,
/// so that a message that ends weighs little, and a tool whose output grows as much as it grew by.
pub(super) fn brought(event: &Event, before: &Transcript) -> usize {
    let known = |id| before.message(id).map(|message| message.parts.as_slice()).unwrap_or_default();
    let bytes = match event {
        Event::MessageDelta { message_id, index, text, part, .. } => {
            let part = part.as_ref().map_or(0, |part| of_part(part, known(message_id).get(*index)));
            text.as_ref().map_or(0, String::len) + part
        }
        Event::MessageUpdated { message, .. } => message
            .parts
            .iter()
            .enumerate()
            .map(|(index, part)| size_of::<Part>() + of_part(part, known(&message.id).get(index)))
            .sum(),
        Event::Reset(whole) => whole.messages.len() * size_of::<usize>(),
        _ => 0,
    };
    EVENT + bytes
}

fn of_part(part: &Part, before: Option<&Part>) -> usize {
    match (part, before) {
        (Part::Text { text, .. }, Some(Part::Text { text: known, .. }))
        | (Part::Thought { text, .. }, Some(Part::Thought { text: known, .. })) => text.grown_from(known),
        (Part::Text { text, .. } | Part::Thought { text, .. }, _) => text.len(),
        (Part::Tool(tool), Some(Part::Tool(known))) => of_tool(tool, known),
        (Part::Tool(tool), _) => of_tool(tool, &ToolPart::default()),
        (Part::Plan { entries }, _) => entries.iter().map(|entry| size_of_val(entry) + entry.content.len()).sum(),
        // The others never change, so one that was there is shared.
        (_, Some(_)) => 0,
        (Part::Image(image), None) => image.data.len(),
        (Part::Audio(audio), None) => audio.data.len(),
        (Part::Resource(resource), None) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(contents) => contents.text.len(),
            EmbeddedResourceResource::BlobResourceContents(contents) => contents.blob.len(),
            _ => 0,
        },
        (Part::ResourceLink(_), None) => 0,
        (Part::Other(other), None) => of_value(&other.raw),
    }
}

fn of_tool(tool: &ToolPart, known: &ToolPart) -> usize {
    let of_diff = |diff: &Diff| size_of_val(diff) + diff.old_text.as_ref().map_or(0, String::len) + diff.new_text.len();
    let diffs = if Arc::ptr_eq(&tool.diffs, &known.diffs) { 0 } else { tool.diffs.iter().map(of_diff).sum() };
    let input = if Arc::ptr_eq(&tool.input, &known.input) { 0 } else { of_value(&tool.input) };
    size_of_val(tool) + tool.output.grown_from(&known.output) + diffs + input
}

fn of_value(value: &Value) -> usize {
    size_of_val(value)
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(of_value).sum(),
            Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + of_value(value)).sum(),
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Message, Role};
    use crate::part::PartKind;
    use serde_json::json;

    const KIB: usize = 1024;

    fn tool(output: &str) -> ToolPart {
        ToolPart { output: output.into(), ..ToolPart::default() }
    }

    fn message(part: Part) -> Message {
        let mut message = Message::new("m1".into(), Role::Agent, 0);
        message.parts = vec![part];
        message
    }

    fn delta(text: Option<String>, part: Option<Part>) -> Event {
        Event::MessageDelta { agent: "a".into(), message_id: "m1".into(), index: 0, kind: PartKind::Tool, text, part }
    }

    #[test]
    fn an_event_weighs_what_it_brings() {
        let long = "x".repeat(100 * KIB);
        let known = tool(&long);
        let (mut grown, mut busy) = (known.clone(), known.clone());
        grown.output.push_str(&long[..KIB]);
        busy.status = "in_progress".to_owned();
        let (mut given, other) = (tool(""), tool(&long));
        given.input = Arc::new(json!({"command": [long]}));
        let whole = |part: Part| Event::MessageUpdated { agent: "a".into(), message: Arc::new(message(part)) };
        let part = |tool: ToolPart| Part::Tool(Arc::new(tool));
        let before = message(part(known.clone()));
        let cases = [
            ("a fragment", delta(Some(long[..10 * KIB].to_owned()), None), 10),
            ("a tool that goes on", delta(None, Some(part(busy))), 0),
            ("output that grows", delta(None, Some(part(grown))), 1),
            ("output in place of another", delta(None, Some(part(other))), 100),
            ("an input", delta(None, Some(part(given))), 100),
            ("a message that ends", whole(part(known)), 0),
            ("a message that differs", whole(Part::text(&long)), 100),
            ("a reset", Event::Reset(Arc::new(Transcript::new("a".into()))), 0),
        ];
        let mut transcript = Transcript::new("a".into());
        transcript.messages = vec![Arc::new(before)];
        for (name, event, kib) in cases {
            let weight = brought(&event, &transcript);
            assert!((kib * KIB..(kib + 1) * KIB).contains(&weight), "{name}: {weight}");
        }
    }
}
