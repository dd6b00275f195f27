//! What no schema can say: what entries say of each other.
//!
//! Looks at the tree and not at the configuration, so that it can judge what is right in a file with errors. Where it
//! cannot know, since something that may matter could not be read, nothing is said.

mod agents;
mod names;
mod references;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::Code;
use crate::pointer::Pointer;
use crate::syntax::{Finding, Kind, Member, Node};

/// The maps of named things.
const SECTIONS: [&str; 4] = ["workspaces", "mcp_servers", "agents", "channels"];

/// What the rules have against this document.
pub(crate) fn check(root: &Node) -> Vec<Finding> {
    let mut rules = Rules { root, found: Vec::new() };
    rules.names();
    rules.references();
    rules.agents();
    rules.found
}

struct Rules<'a> {
    root: &'a Node,
    found: Vec<Finding>,
}

impl<'a> Rules<'a> {
    /// The entries of a section.
    fn entries(&self, section: &str) -> impl Iterator<Item = &'a Member> + use<'a> {
        self.root.get(section).into_iter().flat_map(Node::members)
    }

    /// Whether all names of a section are known: it could be read, or nothing stands where it could be.
    fn is_known(&self, section: &str) -> bool {
        match self.root.get(section) {
            Some(node) => matches!(node.kind, Kind::Map(_)) && !node.damaged,
            None => !self.root.damaged,
        }
    }

    fn add(&mut self, code: Code, pointer: Pointer, span: &Range<usize>, related: Option<&Range<usize>>) {
        self.found.push(Finding { code, pointer, span: span.clone(), related: related.cloned() });
    }
}
