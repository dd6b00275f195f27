//! What no schema can say: what entries say of each other.
//!
//! Looks at the tree and not at the configuration, so that it can judge what is right in a file with errors. Where it
//! cannot know, since something that may matter could not be read, nothing is said.

mod agents;
mod names;
mod references;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::Range;

use crate::Code;
use crate::pointer::{Pointer, Step};
use crate::syntax::{Finding, Kind, Member, Node};

/// The maps of named things.
const SECTIONS: [&str; 4] = ["workspaces", "mcp_servers", "agents", "channels"];

/// What the rules have against this document, which the schema has `against`.
pub(crate) fn check(root: &Node, against: &[Finding]) -> Vec<Finding> {
    let mut rules = Rules::new(root, against);
    rules.names();
    rules.references();
    rules.agents();
    rules.found
}

struct Rules<'a> {
    root: &'a Node,
    limits: Option<&'a Node>,
    defaults: Option<&'a Node>,
    /// A key of the root is unknown: it may be one that is not there.
    misspelt_root: bool,
    /// The agents that have an unknown key.
    misspelt: HashSet<&'a str>,
    found: Vec<Finding>,
}

impl<'a> Rules<'a> {
    fn new(root: &'a Node, against: &'a [Finding]) -> Self {
        let unknown = against.iter().filter(|finding| matches!(finding.code, Code::UnknownKey { .. }));
        let mut rules = Self {
            root,
            limits: root.get("limits"),
            defaults: root.get("defaults"),
            misspelt_root: false,
            misspelt: HashSet::new(),
            found: Vec::new(),
        };
        for finding in unknown {
            match finding.pointer.steps() {
                [_] => rules.misspelt_root = true,
                [Step::Key(section), Step::Key(agent), _] if section == "agents" => {
                    rules.misspelt.insert(agent);
                }
                _ => {}
            }
        }
        rules
    }

    /// The entries of a section.
    fn entries(&self, section: &str) -> impl Iterator<Item = &'a Member> + use<'a> {
        self.root.get(section).into_iter().flat_map(Node::members)
    }

    /// Whether all names of a section are known: it could be read, or nothing stands where it could be.
    fn is_known(&self, section: &str) -> bool {
        match self.root.get(section) {
            Some(node) => matches!(node.kind, Kind::Map(_)) && !node.damaged,
            None => !self.root.damaged && !self.misspelt_root && section != "agents",
        }
    }

    /// Whether everything that an agent says is known.
    fn is_certain(&self, agent: &Member) -> bool {
        !agent.value.damaged && !self.misspelt.contains(agent.key.as_str())
    }

    fn add(&mut self, code: Code, pointer: Pointer, span: &Range<usize>, related: Option<&Range<usize>>) {
        self.found.push(Finding { code, pointer, span: span.clone(), related: related.cloned() });
    }
}
