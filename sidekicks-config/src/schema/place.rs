//! From an error of the validator to a problem at its place.

use std::collections::HashMap;
use std::ops::Range;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::{Rank, beside, known_keys};
use crate::nearest::nearest;
use crate::pointer::Pointer;
use crate::syntax::{self, Finding, Member, Node};
use crate::{Advice, Code, Expected};

/// What others call our keys.
const FOREIGN: [(&str, &str); 13] = [
    ("agent_servers", "agents"),
    ("agentServers", "agents"),
    ("acp.agents", "agents"),
    ("mcpServers", "mcp_servers"),
    ("mcp", "mcp_servers"),
    ("cmd", "command"),
    ("program", "command"),
    ("environment", "env"),
    ("default_model", "model"),
    ("default_mode", "mode"),
    ("working_directory", "cwd"),
    ("workingDirectory", "cwd"),
    ("name", "display_name"),
];

/// Adds what is told of this error.
pub(super) fn findings(root: &Node, error: &ValidationError<'_>, found: &mut Vec<(Rank, Finding)>) {
    let Some(place) = Place::of(root, error.instance_path().as_str()) else { return };
    let keyword = error.schema_path().as_str();
    let node = place.node;
    if node.is_broken() {
        return; // It was told of.
    }
    let mut add = |rank, code, pointer: Pointer, span: Range<usize>, related| {
        found.push((rank, Finding { code, pointer, span, related }));
    };
    let value = node.span.clone();
    match error.kind() {
        Kind::Required { property } => {
            if let Some(key) = property.as_str().filter(|_| !node.damaged) {
                add(Rank::Key, Code::RequiredKey { key: key.to_owned() }, place.pointer.clone(), place.key(), None);
            }
        }
        Kind::AdditionalProperties { unexpected } => {
            for key in unexpected {
                if let Some(member) = node.member(key) {
                    let code = Code::UnknownKey { key: key.clone(), advice: advice(key, keyword) };
                    add(Rank::Key, code, place.pointer.key(key), member.key_span.clone(), None);
                }
            }
        }
        Kind::PropertyNames { error } => {
            if let Some(member) = error.instance().as_str().and_then(|name| node.member(name)) {
                let code = of_value(error).unwrap_or(Code::BadName);
                add(Rank::Key, code, place.pointer.key(&member.key), member.key_span.clone(), None);
            }
        }
        Kind::UniqueItems => {
            for (index, first) in repeated(node.items()) {
                let span = node.items()[index].span.clone();
                add(
                    Rank::Key,
                    Code::Repeated,
                    place.pointer.index(index),
                    span,
                    Some(node.items()[first].span.clone()),
                );
            }
        }
        Kind::MinItems { limit } | Kind::MinProperties { limit } if !node.damaged => {
            add(Rank::Key, Code::TooFew { min: *limit }, place.pointer.clone(), place.key(), None);
        }
        Kind::MaxItems { limit } | Kind::MaxProperties { limit } => {
            add(Rank::Key, Code::TooMany { max: *limit }, place.pointer.clone(), place.key(), None);
        }
        kind => {
            if let Some(code) = of_value(error) {
                let rank = if matches!(kind, Kind::Type { .. }) { Rank::Kind } else { Rank::Value };
                add(rank, code, place.pointer.clone(), value, None);
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
                    pattern.and_then(unit).unwrap_or(Code::WrongType { expected: Expected::Text })
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
        Kind::Pattern { pattern } => unit(pattern),
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
        r"^[1-9][0-9]{0,6}(ms|s|min|h)$" => Code::BadDuration { never: false },
        r"^((0|[1-9][0-9]{0,6})(ms|s|min|h)|never)$" => Code::BadDuration { never: true },
        r"^[1-9][0-9]{0,6}(KiB|MiB|GiB|TiB)$" => Code::BadSize,
        r"^https?://." => Code::BadUrl,
        r"\S" => Code::EmptyText,
        _ => return None,
    })
}

fn not_one_of(allowed: &[Value], written: Option<&str>) -> Code {
    let allowed: Vec<String> = allowed.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let nearest = written.and_then(|written| nearest(written, allowed.iter().map(String::as_str)));
    Code::NotOneOf { allowed, nearest }
}

fn advice(key: &str, keyword: &str) -> Advice {
    let called = FOREIGN.iter().find(|(other, _)| *other == key).map(|(_, ours)| *ours);
    if let Some(ours) = called.filter(|ours| known_keys(keyword).any(|known| known == *ours)) {
        return Advice::CalledHere(ours.to_owned());
    }
    match nearest(key, known_keys(keyword)) {
        Some(known) => Advice::DidYouMean(known),
        None if key == "type" => Advice::Delete,
        None => Advice::None,
    }
}

/// The items that stood before, each with the first like it.
fn repeated(items: &[Node]) -> Vec<(usize, usize)> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let texts = items.iter().enumerate().filter_map(|(index, item)| Some((index, item.text()?)));
    texts
        .filter_map(|(index, text)| Some((index, *first.entry(text).or_insert(index))))
        .filter(|(a, b)| a != b)
        .collect()
}

/// What an error is about.
struct Place<'a> {
    node: &'a Node,
    member: Option<&'a Member>,
    pointer: Pointer,
}

impl<'a> Place<'a> {
    /// Follows a JSON Pointer (RFC 6901). Whether a step is a key or an index is for the tree to say: a key may be `1`.
    fn of(root: &'a Node, pointer: &str) -> Option<Self> {
        let mut place = Self { node: root, member: None, pointer: Pointer::default() };
        for step in pointer.split('/').skip(1) {
            match &place.node.kind {
                syntax::Kind::Map(_) => {
                    let key = step.replace("~1", "/").replace("~0", "~");
                    let member = place.node.member(&key)?;
                    place = Self { node: &member.value, member: Some(member), pointer: place.pointer.key(&key) };
                }
                _ => {
                    let index = step.parse().ok()?;
                    let node = place.node.items().get(index)?;
                    place = Self { node, member: None, pointer: place.pointer.index(index) };
                }
            }
        }
        Some(place)
    }

    /// The key that introduces it; for the root, its bracket.
    fn key(&self) -> Range<usize> {
        match self.member {
            Some(member) => member.key_span.clone(),
            None => self.node.span.start..self.node.span.end.min(self.node.span.start + 1),
        }
    }
}
