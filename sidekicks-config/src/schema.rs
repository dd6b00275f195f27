//! What a file may say, and what is told of one that says something else.
//!
//! Only this module and the one below it know the crate that validates.

mod advice;
mod amounts;
mod nul;
mod place;
#[cfg(test)]
mod tests;
mod tree;

use std::sync::LazyLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use self::tree::Tree;
use crate::language::Language;
use crate::syntax::{Document, Finding};
use crate::validate::Wrong;
use crate::{Code, MAX_PROBLEMS};

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

/// What the schema has against this document, whose plain value is `value`: the first that there is room to tell of, in the
/// order of the text. What has an error is added to `wrong`, with room or not.
pub(crate) fn check(document: &Document, value: &Value, wrong: &mut Wrong) -> Vec<Finding> {
    let Some(validator) = &*VALIDATOR else { return Vec::new() };
    let mut tree = Tree::of(&document.root);
    let mut found: Vec<Found> = Vec::new();
    for error in validator.iter_errors(value) {
        let before = found.len();
        place::findings(&mut tree, &error, &mut found);
        found[before..].iter().for_each(|found| wrong.add(&found.finding.pointer));
        if found.len() > 8 * MAX_PROBLEMS {
            first(&mut found);
        }
    }
    for nul in nul::check(&document.root) {
        wrong.add(&nul.finding.pointer);
        found.push(nul);
    }
    first(&mut found);
    found.into_iter().map(Found::advised).collect()
}

/// Sorts, and leaves no more than show that there are too many.
fn first(found: &mut Vec<Found>) {
    found.sort_by_key(Found::order);
    // One value has one problem: that a number is no text, and not that it is none of the texts either.
    found.dedup_by(|a, b| a.finding.span == b.finding.span && a.rank != Rank::Key && b.rank != Rank::Key);
    found.truncate(MAX_PROBLEMS + 2);
}

/// A finding before it is known whether it is told.
struct Found {
    rank: Rank,
    finding: Finding,
    /// The keys that are known where an unknown one stands.
    known: Option<&'static Map<String, Value>>,
}

impl Found {
    fn order(&self) -> (usize, usize, Rank) {
        (self.finding.span.start, self.finding.span.end, self.rank)
    }

    /// With what was probably meant.
    fn advised(mut self) -> Finding {
        if let (Code::UnknownKey { key, advice }, Some(known)) = (&mut self.finding.code, self.known) {
            *advice = advice::advice(key, known);
        }
        self.finding
    }
}

/// What a finding is about; of a value the first is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The value is of another kind.
    Kind,
    /// It is of the right kind, and wrong.
    Value,
    /// It is right, and stood before.
    Again,
    /// A key, or something that is missing: each is told.
    Key,
}

/// What stands beside a keyword of the schema.
fn beside(keyword: &str, name: &str) -> Option<&'static Value> {
    let (parent, _) = keyword.rsplit_once('/')?;
    SCHEMA.pointer(parent)?.get(name)
}
