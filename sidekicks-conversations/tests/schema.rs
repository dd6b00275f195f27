//! The JSON Schema of events: what is written is what it says. Every event that another test hears is checked too.

mod common;

use std::path::Path;

use common::{SCHEMA, assert_schema};
use serde_json::{Value, json};
use sidekicks_conversations::Event;

#[test]
fn the_published_file_is_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("events.schema.json");
    let schema = serde_json::to_string_pretty(&Event::schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = published.lines().zip(schema.lines()).position(|(published, schema)| published != schema);
    assert!(
        published == schema,
        "events.schema.json is not what the types say, from line {:?} on. Run this test with UPDATE_SCHEMA=1 to renew it",
        differs.map(|line| line + 1)
    );
}

#[test]
fn it_is_a_schema_that_needs_no_network_and_no_extensions() {
    let schema = Event::schema();
    jsonschema::meta::validate(&schema).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let text = schema.to_string();
    for word in ["\"x-", "\"$id\"", "\"format\"", "\"discriminator\"", "crate::", "Self::", "[`"] {
        assert!(!text.contains(word), "{word}");
    }
}

/// Where `null` is allowed, as the documentation says.
#[test]
fn what_has_no_value_is_absent() {
    let mut found = Vec::new();
    nulls(&Event::schema(), "", &mut found);
    assert_eq!(found, ["usage", "modes", "title"]);
}

/// The names of the properties that may be `null`.
fn nulls(schema: &Value, name: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(keys) => {
            if let Some(kind) = keys.get("type")
                && (kind == "null" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("null"))))
            {
                found.push(name.to_owned());
            }
            for (key, value) in keys {
                let inner = if ["anyOf", "oneOf", "allOf"].contains(&key.as_str()) { name } else { key };
                nulls(value, inner, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| nulls(item, name, found)),
        _ => {}
    }
}

/// The examples in the documentation of the crate.
fn examples() -> Vec<Value> {
    let lines = include_str!("../src/lib.rs").lines();
    let examples = lines.filter_map(|line| line.strip_prefix("//! ").filter(|line| line.starts_with("{\"event\"")));
    examples.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_examples_in_the_documentation_are_allowed() {
    let examples = examples();
    assert_eq!(examples.len(), 13);
    examples.iter().for_each(assert_schema);
}

#[test]
fn the_recorded_streams_are_allowed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let mut events = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let snapshot = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in snapshot.lines().filter(|line| line.starts_with("{\"event\"")) {
            assert_schema(&serde_json::from_str(line).unwrap());
            events += 1;
        }
    }
    assert!(events > 100, "{events} events");
}

/// A later version may add what this one does not know.
#[test]
fn what_is_added_is_allowed() {
    for mut event in examples() {
        event["more"] = json!(1);
        add_to_all(&mut event["payload"]);
        assert_schema(&event);
        serde_json::from_value::<Event>(event).unwrap();
    }
}

fn add_to_all(value: &mut Value) {
    match value {
        Value::Object(keys) => {
            keys.values_mut().for_each(add_to_all);
            keys.insert("more".to_owned(), json!({"any": [null]}));
        }
        Value::Array(items) => items.iter_mut().for_each(add_to_all),
        _ => {}
    }
}

/// What may be absent of the payloads that the documentation shows; all else of them is always written.
const OPTIONAL: &[(&str, &str)] = &[
    ("message:delta", "text"),
    ("message:delta", "part"),
    ("permission:requested", "messageId"),
    ("permission:requested", "toolCallId"),
    ("permission:requested", "command"),
    ("permission:resolved", "option"),
    ("permission:resolved", "rule"),
    ("permission:resolved", "policy"),
    ("permission:resolved", "permission"),
    ("agent:changed", "commands"),
    ("agent:changed", "modes"),
    ("agent:changed", "title"),
];

#[test]
fn what_is_always_written_is_required() {
    for event in examples() {
        let kind = event["event"].as_str().unwrap();
        for key in event["payload"].as_object().unwrap().keys() {
            let mut less = event.clone();
            less["payload"].as_object_mut().unwrap().remove(key);
            assert_eq!(SCHEMA.is_valid(&less), OPTIONAL.contains(&(kind, key)), "{kind} without {key}");
        }
    }
}

/// An example, what of it is replaced, and by what.
#[test]
fn what_is_wrong_is_not_allowed() {
    let examples = examples();
    for (kind, place, wrong) in [
        ("conversation:reset", "/event", json!("conversation:forgotten")),
        ("conversation:reset", "/event", json!("permission:resolved")),
        ("conversation:reset", "/payload", json!(null)),
        ("conversation:reset", "/payload", json!([])),
        ("conversation:reset", "/payload/messages", json!({})),
        ("conversation:reset", "/payload/messages", json!([{"id": "m1"}])),
        ("conversation:reset", "/payload/queued", json!(-1)),
        ("conversation:reset", "/payload/queued", json!(0.5)),
        ("conversation:reset", "/payload/phase", json!("Idle")),
        ("message:updated", "/payload/agent", json!(1)),
        ("message:updated", "/payload/message", json!("Hello")),
        ("message:updated", "/payload/message/role", json!("assistant")),
        ("message:updated", "/payload/message/at", json!("2026-01-01T00:00:00Z")),
        ("message:updated", "/payload/message/parts/0", json!("Hello")),
        ("message:updated", "/payload/message/parts/0", json!({"text": "Hello"})),
        ("message:updated", "/payload/message/parts/0", json!({"kind": "text"})),
        ("message:updated", "/payload/message/parts/0", json!({"kind": "text", "text": null})),
        ("message:updated", "/payload/message/parts/0", json!({"kind": "video", "data": ""})),
        ("message:updated", "/payload/message/parts/0", json!({"kind": "image", "data": "AA=="})),
        ("message:updated", "/payload/message/parts/0", json!({"kind": "plan", "entries": [{"content": "Look"}]})),
        ("message:updated", "/payload/message/parts/0", json!({"kind": "other", "type": "hologram"})),
        ("message:delta", "/payload/index", json!("0")),
        ("message:delta", "/payload/kind", json!("audiobook")),
        ("message:delta", "/payload/text", json!(["Hel"])),
        ("message:delta", "/payload/text", json!(null)),
        ("turn:changed", "/payload/busy", json!("yes")),
        ("turn:changed", "/payload/failedTools", json!(null)),
        ("permission:requested", "/payload/action", json!("runCommand")),
        ("permission:requested", "/payload/options", json!([{"id": "y", "kind": "allow_once"}])),
        ("permission:requested", "/payload/dangers", json!(["not-analysed"])),
        ("permission:requested", "/payload/command", json!(["ls"])),
        ("permission:resolved", "/payload/outcome", json!("granted")),
        ("permission:resolved", "/payload/by", json!(null)),
        ("usage:changed", "/payload/usage", json!({"used": 10})),
        ("usage:changed", "/payload/usage", json!(10)),
        ("agent:changed", "/payload/commands", json!(null)),
        ("agent:changed", "/payload/commands", json!([{"name": "init"}])),
    ] {
        let mut event = examples.iter().find(|event| event["event"] == kind).expect("an example of it").clone();
        *event.pointer_mut(place).expect("there is this in it") = wrong.clone();
        assert!(!SCHEMA.is_valid(&event), "{kind} with {place} {wrong}");
    }
    for wrong in [json!(null), json!({}), json!({"event": "turn:changed"}), json!({"payload": examples[0]["payload"]})]
    {
        assert!(!SCHEMA.is_valid(&wrong), "{wrong}");
    }
}
