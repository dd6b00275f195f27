//! Reads JSONC and goes on after mistakes.
//!
//! Comments and commas at the end are allowed, and nothing else that JSON does not have (RFC 8259). What is wrong is told
//! at its place and read as it was probably meant, so that one slip hides no other and calls for no second one.

mod brackets;
mod parser;
mod seen;
#[cfg(test)]
mod tests;
mod text;
mod trivia;

use std::ops::Range;

use serde_json::{Map, Number, Value};

#[allow(unused_imports)]
pub(crate) use parser::read;

use crate::pointer::Pointer;

/// How deeply maps and lists may be nested.
pub(crate) const DEPTH: usize = 64;

/// A value, and where it stands.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// The bytes of the text that it takes.
    pub(crate) span: Range<usize>,
    /// Something in this map or list itself, not in what is in it, could not be read: more may have been meant to be here.
    pub(crate) damaged: bool,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Member>),
    /// There is something, or should be, and what is not known. It was told of.
    Broken,
}

/// A key and its value.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
    /// The same key stood before, which was told of: that one counts.
    pub(crate) again: bool,
}

impl Node {
    /// The members that count; none where this is no map.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        let members = match &self.kind {
            Kind::Map(members) => members.as_slice(),
            _ => &[],
        };
        members.iter().filter(|member| !member.again)
    }

    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        self.members().find(|member| member.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        Some(&self.member(key)?.value)
    }

    /// The items; none where this is no list.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.kind, Kind::Broken)
    }

    /// Whether everything in here could be read, and each key stands here once.
    pub(crate) fn is_whole(&self) -> bool {
        !self.damaged
            && match &self.kind {
                Kind::Broken => false,
                Kind::List(items) => items.iter().all(Self::is_whole),
                Kind::Map(members) => members.iter().all(|member| !member.again && member.value.is_whole()),
                _ => true,
            }
    }

    /// This as plain JSON: what is broken is null.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null | Kind::Broken => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Self::to_value).collect(),
            Kind::Map(_) => {
                Value::Object(self.members().map(|m| (m.key.clone(), m.value.to_value())).collect::<Map<_, _>>())
            }
        }
    }
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) root: Node,
    pub(crate) found: Vec<Finding>,
}

/// A problem before lines are counted.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) code: crate::Code,
    pub(crate) pointer: Pointer,
    pub(crate) span: Range<usize>,
    pub(crate) related: Option<Range<usize>>,
}
