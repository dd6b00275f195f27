//! What an event weighs while it waits to be read.

use std::io;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use sidekicks_acp::schema::{BlobResourceContents, EmbeddedResourceResource, TextResourceContents};

use crate::event::Event;
use crate::failure::Failure;
use crate::message::Message;
use crate::part::{Diff, Part, ToolPart};
use crate::permission::Permission;
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
        Event::MessageUpdated { message, .. } => of_message(message, known(&message.id)),
        Event::PermissionRequested(permission) => of_permission(permission),
        Event::PermissionResolved { option, rule, permission, .. } => {
            written(&(option, rule)) + permission.as_deref().map_or(0, of_permission)
        }
        Event::TurnChanged { turn, .. } => written(&turn.waiting_for),
        Event::UsageChanged { usage, .. } => written(usage),
        Event::AgentChanged { offer, .. } => written(offer),
        Event::Reset(whole) => whole.messages.len() * size_of::<usize>(),
    };
    EVENT + bytes
}

fn of_message(message: &Message, known: &[Part]) -> usize {
    let Message { parts, params, error, stop_reason, agent_stop_reason, .. } = message;
    let parts = parts.iter().enumerate().map(|(index, part)| size_of_val(part) + of_part(part, known.get(index)));
    let params = params.iter().flatten().map(of_field);
    let failure = error.as_ref().map_or(0, of_failure);
    parts.chain(params).sum::<usize>() + failure + written(&(stop_reason, agent_stop_reason))
}

fn of_failure(failure: &Failure) -> usize {
    let Failure { message, data, stderr, program, methods, wanted, offered, .. } = failure;
    let data = data.as_ref().map_or(0, of_value);
    data + stderr.as_ref().map_or(0, String::len) + written(&(message, program, methods, wanted, offered))
}

fn of_permission(permission: &Permission) -> usize {
    let Permission { title, description, command, paths, diffs, raw_input, dangers, options, .. } = permission;
    of_diffs(diffs) + of_value(raw_input) + written(&(title, description, command, paths, dangers, options))
}

fn of_part(part: &Part, before: Option<&Part>) -> usize {
    match (part, before) {
        (part, Some(known)) if is_same(part, known) => 0,
        (Part::Text { text, .. }, Some(Part::Text { text: known, .. }))
        | (Part::Thought { text, .. }, Some(Part::Thought { text: known, .. })) => text.grown_from(known),
        (Part::Text { text, .. } | Part::Thought { text, .. }, _) => text.len(),
        (Part::Tool(tool), Some(Part::Tool(known))) => of_tool(tool, known),
        (Part::Tool(tool), _) => of_tool(tool, &ToolPart::default()),
        (Part::Plan { entries }, _) => written(entries),
        (Part::Image(image), _) => image.data.len() + written(&(&image.mime_type, &image.uri, &image.meta)),
        (Part::Audio(audio), _) => audio.data.len() + written(&(&audio.mime_type, &audio.meta)),
        (Part::Resource(resource), _) => of_resource(&resource.resource) + written(&resource.meta),
        (Part::ResourceLink(link), _) => written(link),
        (Part::Other(other), _) => other.r#type.len() + of_value(&other.raw),
    }
}

/// Whether it is the very part that is there.
fn is_same(part: &Part, known: &Part) -> bool {
    match (part, known) {
        (Part::Tool(part), Part::Tool(known)) => Arc::ptr_eq(part, known),
        (Part::Plan { entries: part }, Part::Plan { entries: known }) => Arc::ptr_eq(part, known),
        (Part::Image(part), Part::Image(known)) => Arc::ptr_eq(part, known),
        (Part::Audio(part), Part::Audio(known)) => Arc::ptr_eq(part, known),
        (Part::Resource(part), Part::Resource(known)) => Arc::ptr_eq(part, known),
        (Part::ResourceLink(part), Part::ResourceLink(known)) => Arc::ptr_eq(part, known),
        (Part::Other(part), Part::Other(known)) => Arc::ptr_eq(part, known),
        _ => false,
    }
}

fn of_resource(resource: &EmbeddedResourceResource) -> usize {
    match resource {
        EmbeddedResourceResource::TextResourceContents(TextResourceContents { text, uri, mime_type, meta, .. })
        | EmbeddedResourceResource::BlobResourceContents(BlobResourceContents {
            blob: text,
            uri,
            mime_type,
            meta,
            ..
        }) => text.len() + written(&(uri, mime_type, meta)),
        other => written(other),
    }
}

fn of_tool(tool: &ToolPart, known: &ToolPart) -> usize {
    let ToolPart { id, title, tool_kind, status, input, output, diffs, locations, .. } = tool;
    let diffs = if Arc::ptr_eq(diffs, &known.diffs) { 0 } else { of_diffs(diffs) };
    let input = if Arc::ptr_eq(input, &known.input) { 0 } else { of_value(input) };
    let locations = if Arc::ptr_eq(locations, &known.locations) { 0 } else { written(locations) };
    let texts = id.len() + title.len() + tool_kind.len() + status.len();
    size_of_val(tool) + texts + output.grown_from(&known.output) + diffs + input + locations
}

fn of_diffs(diffs: &[Diff]) -> usize {
    let of_diff = |Diff { path, old_text, new_text }: &Diff| {
        path.len() + old_text.as_ref().map_or(0, String::len) + new_text.len()
    };
    size_of_val(diffs) + diffs.iter().map(of_diff).sum::<usize>()
}

fn of_value(value: &Value) -> usize {
    size_of_val(value)
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(of_value).sum(),
            Value::Object(fields) => fields.iter().map(of_field).sum(),
            _ => 0,
        }
}

fn of_field((key, value): (&String, &Value)) -> usize {
    size_of_val(key) + key.len() + of_value(value)
}

/// About what something weighs of which there is little or seldom: its JSON is counted, without being kept.
fn written(what: &impl Serialize) -> usize {
    let mut weight = Weight(0);
    // It ends early only at what is no JSON; what came before that is counted.
    let _ = serde_json::to_writer(&mut weight, what);
    weight.0
}

struct Weight(usize);

/// What a piece of JSON is in memory at least, be it a bracket or a number.
const PIECE: usize = 16;

impl io::Write for Weight {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.0 += piece.len().max(PIECE);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;
    use crate::part::PartKind;
    use crate::transcript::Transcript;
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

    /// Whatever of an agent may be long, wherever it stands.
    #[test]
    fn nothing_long_is_for_nothing() {
        let long = "x".repeat(100 * KIB);
        let part = |part: Value| {
            json!({"event": "message:delta", "payload": {"agent": "a", "messageId": "m1", "index": 1,
            "kind": part["kind"], "part": part}})
        };
        let tool = |field: &str, value: Value| {
            let mut tool = json!({"kind": "tool", "id": "t", "title": "", "toolKind": "read", "status": "pending"});
            tool[field] = value;
            part(tool)
        };
        let message = |field: &str, value: Value| {
            let mut message =
                json!({"id": "m1", "role": "agent", "parts": [], "at": 0, "queued": false, "notSent": false});
            message[field] = value;
            json!({"event": "message:updated", "payload": {"agent": "a", "message": message}})
        };
        let failure = |field: &str, value: Value| {
            let mut error = json!({"code": "agent-error", "message": "x", "phase": "prompt", "promptSent": true});
            error[field] = value;
            message("error", error)
        };
        let permission = |field: &str, value: Value| {
            let mut permission = json!({"id": "p1", "agent": "a", "title": "", "action": "other", "paths": [], "diffs": [],
                "rawInput": null, "dangers": [], "options": []});
            permission[field] = value;
            json!({"event": "permission:requested", "payload": permission})
        };
        let event = |name: &str, field: &str, value: Value| {
            let mut payload = json!({"agent": "a"});
            payload[field] = value;
            json!({"event": name, "payload": payload})
        };
        let diff = json!([{"path": "", "newText": long}]);
        let events = [
            part(json!({"kind": "plan", "entries": [{"content": "", "priority": long, "status": ""}]})),
            part(json!({"kind": "image", "data": long, "mimeType": ""})),
            part(json!({"kind": "image", "data": "", "mimeType": "", "_meta": {"x": long}})),
            part(json!({"kind": "audio", "data": "", "mimeType": long})),
            part(json!({"kind": "resource", "resource": {"uri": "", "text": long}})),
            part(json!({"kind": "resource", "resource": {"uri": long, "blob": ""}})),
            part(json!({"kind": "resource_link", "uri": "", "name": "", "description": long})),
            part(json!({"kind": "other", "type": "x", "raw": {"x": [long]}})),
            part(json!({"kind": "other", "type": "x", "raw": {long.as_str(): 0}})),
            tool("title", json!(long)),
            tool("diffs", diff.clone()),
            tool("diffs", json!([{"path": long, "newText": ""}])),
            tool("locations", json!([{"path": long}])),
            message("params", json!({"text": long})),
            message("agentStopReason", json!(long)),
            failure("message", json!(long)),
            failure("data", json!([{"x": long}])),
            failure("stderr", json!(long)),
            failure("offered", json!([long])),
            permission("title", json!(long)),
            permission("description", json!(long)),
            permission("command", json!(long)),
            permission("diffs", diff),
            permission("paths", json!([long])),
            permission("rawInput", json!({"x": long})),
            permission("options", json!([{"id": "", "kind": "", "name": long}])),
            event("agent:changed", "title", json!(long)),
            event("agent:changed", "commands", json!([{"name": "", "description": long}])),
            event("agent:changed", "modes", json!({"currentModeId": long, "availableModes": []})),
            event("usage:changed", "usage", json!({"used": 0, "size": 0, "_meta": {"x": long}})),
        ];
        for json in events {
            let event: Event = serde_json::from_value(json.clone()).unwrap_or_else(|error| panic!("{error}"));
            let weight = brought(&event, &Transcript::new("a".into()));
            let name = json.to_string().replace(&long, "LONG");
            assert!((100 * KIB..102 * KIB).contains(&weight), "{name}: {weight}");
        }
    }

    #[test]
    fn what_is_many_weighs_though_each_is_little() {
        let usage = json!({"used": 0, "size": 0, "_meta": {"x": vec![0; KIB]}});
        let event = json!({"event": "usage:changed", "payload": {"agent": "a", "usage": usage}});
        let weight = brought(&serde_json::from_value(event).unwrap(), &Transcript::new("a".into()));
        assert!(weight > 2 * PIECE * KIB, "{weight}");
    }
}
