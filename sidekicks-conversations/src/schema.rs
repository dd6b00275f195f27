//! The JSON Schema of events, made of the types themselves.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, RestrictFormats};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::event::Event;
use crate::text::Text;

/// Marks, in an attribute of the field, a property that is `null` at times although it may be absent too.
const NULL: &str = "x-null";

impl Event {
    /// The JSON Schema of an event as it is written, draft 2020-12: the file `events.schema.json` of this package. Needs
    /// the feature `schemars`.
    ///
    /// It asks for everything that is always written. It allows properties that it does not know, which a later version
    /// may add; a new event or a new word needs the new schema.
    pub fn schema() -> Value {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        // What is no JSON Schema makes strict validators complain: keys of other standards, formats such as `uint64`.
        let settings = settings.with_transform(RecursiveTransform(tidy)).with_transform(RestrictFormats::default());
        let mut schema = settings.into_generator().into_root_schema_for::<Self>();
        let all = schema.ensure_object();
        // What it is comes before what it says.
        let mut sorted: Map<_, _> =
            ["$schema", "title", "description"].into_iter().filter_map(|key| all.shift_remove_entry(key)).collect();
        sorted.append(all);
        sorted.into()
    }
}

impl JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

fn tidy(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.retain(|key, _| !key.starts_with("x-") && key != "discriminator");
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = without_links(description);
    }
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|known| known == name));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties {
            if let Value::Object(property) = property
                && !is_required(name)
                && !property.contains_key(NULL)
            {
                forbid_null(property);
            }
        }
    }
}

/// An `Option` may be `null` for all that the generator knows. Ours are absent then.
fn forbid_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_mut_slice() {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let mut only = std::mem::take(only);
            schema.shift_remove("anyOf");
            schema.append(&mut only);
        }
    }
}

/// Markdown in which links lead somewhere outside rustdoc too: others are their text.
fn without_links(doc: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(doc.len()), doc);
    while let Some((before, (text, after))) =
        rest.split_once('[').and_then(|(before, link)| Some((before, link.split_once(']')?)))
    {
        plain += before;
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        let (bare, after) = match target {
            Some((target, after)) if !target.contains("://") => (true, after),
            Some(_) => (false, after),
            None => (text.starts_with('`'), after),
        };
        plain.extend(if bare { ["", text, ""] } else { ["[", text, "]"] });
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_their_text() {
        for (doc, plain) in [
            ("No link.", "No link."),
            ("[`A::b`] and [c d](Self::c), [`e`](crate::E).", "`A::b` and c d, `e`."),
            ("See [docs](https://example.org/a) of [1].", "See [docs](https://example.org/a) of [1]."),
            ("An open [ stays", "An open [ stays"),
        ] {
            assert_eq!(without_links(doc), plain);
        }
    }
}
