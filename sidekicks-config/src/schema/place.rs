//! From an error of the validator to a problem at its place.

use std::collections::HashMap;
use std::ops::Range;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::tree::Tree;
use super::{Found, Rank, advice, amounts, beside};
use crate::pointer::Pointer;
use crate::syntax::{Finding, Node};
use crate::{Advice, Code, Expected};

/// Adds what is told of this error.
pub(super) fn findings(tree: &mut Tree<'_>, error: &ValidationError<'_>, found: &mut Vec<Found>) {
    let Some(place) = tree.place(error.instance_path().as_str()) else { return };
    let node = place.node;
    if node.is_broken() {
        return; // It was told of.
    }
    let mut add = |rank, code, pointer: Pointer, span: &Range<usize>, related| {
        let finding = Finding { code, pointer, span: span.clone(), related };
        found.push(Found { rank, finding, known: None });
    };
    match error.kind() {
        Kind::Required { property } => {
            if let Some(key) = property.as_str().filter(|_| !node.damaged) {
                let span = place.key();
                add(Rank::Key, Code::RequiredKey { key: key.to_owned() }, place.pointer, &span, None);
            }
        }
        Kind::AdditionalProperties { unexpected } => {
            let known = beside(error.schema_path().as_str(), "properties").and_then(Value::as_object);
            for member in unexpected.iter().filter_map(|key| tree.member(node, key)) {
                let code = Code::UnknownKey { key: member.key.clone(), advice: Advice::None };
                let pointer = place.pointer.key(&member.key);
                let finding = Finding { code, pointer, span: member.key_span.clone(), related: None };
                found.push(Found { rank: Rank::Key, finding, known });
            }
        }
        Kind::PropertyNames { error } => {
            if let Some(member) = error.instance().as_str().and_then(|name| tree.member(node, name)) {
                let code = of_value(error).unwrap_or(Code::BadName);
                add(Rank::Key, code, place.pointer.key(&member.key), &member.key_span, None);
            }
        }
        Kind::UniqueItems => {
            for (index, first) in repeated(node.items()) {
                let related = Some(node.items()[first].span.clone());
                add(Rank::Again, Code::Repeated, place.pointer.index(index), &node.items()[index].span, related);
            }
        }
        Kind::MinItems { limit } | Kind::MinProperties { limit } if !node.damaged => {
            let span = place.key();
            add(Rank::Key, Code::TooFew { min: *limit }, place.pointer, &span, None);
        }
        Kind::MaxItems { limit } | Kind::MaxProperties { limit } => {
            let span = place.key();
            add(Rank::Key, Code::TooMany { max: *limit }, place.pointer, &span, None);
        }
        kind => {
            if let Some(code) = of_value(error) {
                let rank = if matches!(kind, Kind::Type { .. }) { Rank::Kind } else { Rank::Value };
                add(rank, code, place.pointer, &node.span, None);
            }
        }
    }
}

/// What is wrong with a single value.
fn of_value(error: &ValidationError<'_>) -> Option<Code> {
    let keyword = error.schema_path().as_str();
    let number = |name| beside(keyword, name).and_then(Value::as_u64);
    match error.kind() {
        Kind::Type { kind } => Some(match kind {
            // What is wanted of a text says more than that a text is wanted.
            TypeKind::Single(JsonType::String) => {
                if let Some(Value::Array(allowed)) = beside(keyword, "enum") {
                    not_one_of(allowed, None)
                } else {
                    let pattern = beside(keyword, "pattern").and_then(Value::as_str);
                    let unit = pattern.and_then(unit).filter(|unit| *unit != Code::EmptyText);
                    unit.unwrap_or(Code::WrongType { expected: Expected::Text })
                }
            }
            TypeKind::Single(JsonType::Integer) => match (number("minimum"), number("maximum")) {
                (Some(min), Some(max)) => Code::OutOfRange { min, max },
                _ if beside(keyword, "const").is_some() => Code::BadVersion,
                _ => Code::WrongType { expected: Expected::Integer },
            },
            TypeKind::Single(JsonType::Boolean) => Code::WrongType { expected: Expected::Bool },
            TypeKind::Single(JsonType::Array) => Code::WrongType { expected: Expected::List },
            _ => Code::WrongType { expected: Expected::Map },
        }),
        Kind::Enum { options } => Some(not_one_of(options.as_array()?, error.instance().as_str())),
        Kind::Constant { .. } => Some(Code::BadVersion),
        Kind::Pattern { pattern } => {
            unit(pattern).map(|code| meant(code, error.instance().as_str().unwrap_or_default()))
        }
        Kind::Minimum { .. } | Kind::Maximum { .. } => {
            Some(Code::OutOfRange { min: number("minimum")?, max: number("maximum")? })
        }
        Kind::MinLength { .. } => Some(Code::EmptyText),
        Kind::MaxLength { limit } => Some(Code::TooLong { max: *limit }),
        _ => None,
    }
}

/// What a text that has not this pattern is not. A test goes through all of the schema.
pub(super) fn unit(pattern: &str) -> Option<Code> {
    Some(match pattern {
        r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" => Code::BadName,
        r"^[A-Za-z_][A-Za-z0-9_]*$" => Code::BadVariable,
        r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" => Code::BadHeader,
        r"^[1-9][0-9]{0,6}(ms|s|min|h)$" => Code::BadDuration { never: false, nearest: None },
        r"^((0|[1-9][0-9]{0,6})(ms|s|min|h)|never)$" => Code::BadDuration { never: true, nearest: None },
        r"^[1-9][0-9]{0,6}(KiB|MiB|GiB|TiB)$" => Code::BadSize { nearest: None },
        r"^https?://." => Code::BadUrl,
        r"\S" => Code::EmptyText,
        _ => return None,
    })
}

/// With the amount that was probably meant.
fn meant(code: Code, written: &str) -> Code {
    match code {
        Code::BadDuration { never, .. } => Code::BadDuration { never, nearest: amounts::duration(written, never) },
        Code::BadSize { .. } => Code::BadSize { nearest: amounts::size(written) },
        other => other,
    }
}

fn not_one_of(allowed: &[Value], written: Option<&str>) -> Code {
    let allowed: Vec<String> = allowed.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let nearest = written.and_then(|written| advice::value(written, &allowed));
    Code::NotOneOf { allowed, nearest }
}

/// The items that stood before, each with the first like it.
fn repeated(items: &[Node]) -> Vec<(usize, usize)> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let texts = items.iter().enumerate().filter_map(|(index, item)| Some((index, item.text()?)));
    texts
        .map(|(index, text)| (index, *first.entry(text).or_insert(index)))
        .filter(|(index, first)| index != first)
        .collect()
}
