//! Which keys stood before.

use std::collections::HashMap;

use super::Member;

/// A list is enough for a few, and a map for the rest: a file of thousands must not take the square.
#[derive(Default)]
pub(super) struct Seen {
    places: HashMap<String, usize>,
}

impl Seen {
    /// The first of these members that has this key, which is about to be added to them.
    pub(super) fn first(&mut self, members: &[Member], key: &str) -> Option<usize> {
        const FEW: usize = 16;
        if members.len() < FEW {
            return members.iter().position(|member| member.key == key);
        }
        if self.places.is_empty() {
            for (at, member) in members.iter().enumerate() {
                self.places.entry(member.key.clone()).or_insert(at);
            }
        }
        let first = self.places.get(key).copied();
        if first.is_none() {
            self.places.insert(key.to_owned(), members.len());
        }
        first
    }
}
