//! Where the validator's places are in the tree.

use std::collections::HashMap;
use std::ops::Range;

use crate::pointer::Pointer;
use crate::syntax::{Kind, Member, Node};

/// How many members are looked through one by one.
const FEW: usize = 16;

/// A tree, with what it takes to find a member of a large map at once.
pub(super) struct Tree<'a> {
    root: &'a Node,
    /// The members of large maps that were looked into.
    large: HashMap<*const Node, HashMap<&'a str, &'a Member>>,
}

impl<'a> Tree<'a> {
    pub(super) fn of(root: &'a Node) -> Self {
        Self { root, large: HashMap::new() }
    }

    /// The member of this key that counts.
    pub(super) fn member(&mut self, map: &'a Node, key: &str) -> Option<&'a Member> {
        match &map.kind {
            Kind::Map(members) if members.len() > FEW => {
                let index = || map.members().map(|member| (member.key.as_str(), member)).collect();
                self.large.entry(map).or_insert_with(index).get(key).copied()
            }
            _ => map.member(key),
        }
    }

    /// Follows a JSON Pointer (RFC 6901). Whether a step is a key or an index is for the tree to say: a key may be `1`.
    pub(super) fn place(&mut self, pointer: &str) -> Option<Place<'a>> {
        let mut place = Place { node: self.root, member: None, pointer: Pointer::default() };
        for step in pointer.split('/').skip(1) {
            if let Kind::Map(_) = &place.node.kind {
                let key = step.replace("~1", "/").replace("~0", "~");
                let member = self.member(place.node, &key)?;
                place.pointer.push_key(key);
                (place.node, place.member) = (&member.value, Some(member));
            } else {
                let index = step.parse().ok()?;
                place.pointer.push_index(index);
                (place.node, place.member) = (place.node.items().get(index)?, None);
            }
        }
        Some(place)
    }
}

/// What an error is about.
pub(super) struct Place<'a> {
    pub(super) node: &'a Node,
    member: Option<&'a Member>,
    pub(super) pointer: Pointer,
}

impl Place<'_> {
    /// The key that introduces it; for the root, its bracket.
    pub(super) fn key(&self) -> Range<usize> {
        match self.member {
            Some(member) => member.key_span.clone(),
            None => self.node.span.start..self.node.span.end.min(self.node.span.start + 1),
        }
    }
}
