//! Texts that no program can be started with.

use super::{Found, Rank};
use crate::Code;
use crate::pointer::Pointer;
use crate::syntax::{Finding, Kind, Node};

/// The keys whose texts are given to the system, which ends each at the character U+0000.
const GIVEN: [&str; 5] = ["command", "args", "env", "cwd", "path"];

/// Tells of each such text that has this character. No pattern of the schema says it, for an editor would show it.
pub(super) fn check(root: &Node) -> Vec<Found> {
    let mut found = Vec::new();
    walk(root, false, &mut Pointer::default(), &mut found);
    found
}

fn walk(node: &Node, given: bool, pointer: &mut Pointer, found: &mut Vec<Found>) {
    match &node.kind {
        Kind::Text(text) if given && text.contains('\0') => {
            let (code, span) = (Code::NulCharacter, node.span.clone());
            let finding = Finding { code, pointer: pointer.clone(), span, related: None };
            found.push(Found { rank: Rank::Kind, finding, known: None });
        }
        Kind::List(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer.push_index(index);
                walk(item, given, pointer, found);
                pointer.pop();
            }
        }
        Kind::Map(_) => {
            for member in node.members() {
                pointer.push_key(&*member.key);
                walk(&member.value, given || GIVEN.contains(&&*member.key), pointer, found);
                pointer.pop();
            }
        }
        _ => {}
    }
}
