//! What a file may say, and what is told of one that says something else.
//!
//! Only this module and the one below it know the crate that validates.

mod place;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::MAX_PROBLEMS;
use crate::language::Language;
use crate::syntax::{Document, Finding};

const ENGLISH: &str = include_str!("../schema/config-1.json");

/// Descriptions in French, by the place of the English ones.
const FRENCH: &str = include_str!("../schema/config-1.fr.json");

/// The JSON Schema (draft 2020-12) of the file, with its descriptions in this language.
///
/// An editor that is given it completes keys and shows what they mean. It is stricter than [`validate`](crate::validate)
/// in nothing, but `validate` knows rules that no schema can say.
pub fn schema(language: Language) -> &'static str {
    static TRANSLATED: LazyLock<String> = LazyLock::new(|| {
        let mut schema = SCHEMA.clone();
        for (pointer, text) in parsed(FRENCH).as_object().into_iter().flatten() {
            if let Some(description) = schema.pointer_mut(pointer) {
                *description = text.clone();
            }
        }
        format!("{schema:#}\n")
    });
    match language {
        Language::En => ENGLISH,
        Language::Fr => &TRANSLATED,
    }
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| parsed(ENGLISH));

static VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| {
    // Offline, whatever features another crate turns on: nothing is ever fetched.
    let options = jsonschema::draft202012::options().offline().with_pattern_options(PatternOptions::regex());
    options.build(&SCHEMA).ok()
});

/// A file of this crate.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// What the schema has against this document, whose plain value is `value`.
pub(crate) fn check(document: &Document, value: &Value) -> Vec<Finding> {
    let Some(validator) = &*VALIDATOR else { return Vec::new() };
    let mut found: Vec<(Rank, Finding)> = Vec::new();
    // Far more than are told: each is looked for in the tree.
    for error in validator.iter_errors(value).take(10 * MAX_PROBLEMS) {
        place::findings(&document.root, &error, &mut found);
    }
    // One value has one problem: that a number is no text, and not that it is none of the texts either.
    found.sort_by(|(a, x), (b, y)| (x.span.start, x.span.end, a).cmp(&(y.span.start, y.span.end, b)));
    found.dedup_by(|(a, x), (b, y)| x.span == y.span && *a != Rank::Key && *b != Rank::Key);
    found.into_iter().map(|(_, finding)| finding).collect()
}

/// What a finding is about; of a value the first is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The value is of another kind.
    Kind,
    /// It is of the right kind, and wrong.
    Value,
    /// A key, or something that is missing: each is told.
    Key,
}

/// What stands beside a keyword of the schema.
fn beside(keyword: &str, name: &str) -> Option<&'static Value> {
    let (parent, _) = keyword.rsplit_once('/')?;
    SCHEMA.pointer(parent)?.get(name)
}

/// The keys that the map may have which `additionalProperties` at this place closes.
fn known_keys(keyword: &str) -> impl Iterator<Item = &'static str> {
    beside(keyword, "properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).map(String::as_str)
}
