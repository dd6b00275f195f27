//! What a mistake may have displaced: it stands somewhere else, or under another name, and looks as if it were not there.

use serde_json::Value;

use super::keep::MAPS;
use crate::Code;
use crate::nearest::nearest;
use crate::syntax::{Kind, Member, Node};
use crate::validate::Checked;

/// What a member of `defaults` may be called.
const DEFAULTS: [&str; 6] = ["permission", "start_timeout", "idle_timeout", "memory_estimate", "memory_limit", "env"];

impl Checked {
    /// The keys of the root that do not exist.
    fn strangers(&self) -> impl Iterator<Item = &str> {
        let known = |key: &str| MAPS.contains(&key) || ["$schema", "version", "language"].contains(&key);
        self.document.root.members().map(|member| member.key.as_str()).filter(move |key| !known(key))
    }

    /// Whether a key of the root does not exist: one that does may have been meant.
    pub(super) fn is_astray(&self) -> bool {
        self.strangers().next().is_some()
    }

    /// Whether entries of this section may be there and be called something else, or have slipped into another entry.
    pub(super) fn has_slipped(&self, section: &str, map: &Node) -> bool {
        let Kind::Map(members) = &map.kind else { return false };
        if ["limits", "defaults"].contains(&section) {
            return self.wrong.is_in(section);
        }
        members.iter().any(|member| {
            member.again
                || (self.wrong.has(section, &member.key) && (!is_name(&member.key) || has_swallowed(&member.value)))
        })
    }

    /// Whether a default permission was meant that could not be read.
    pub(super) fn doubts_permission(&self) -> bool {
        let root = &self.document.root;
        let like = |key: &str, meant: &[&'static str]| nearest(key, meant.iter().copied()).is_some();
        match root.get("defaults") {
            Some(node) if !matches!(node.kind, Kind::Map(_)) => true,
            Some(node) if node.get("permission").is_some() => self.wrong.has("defaults", "permission"),
            Some(node) => node.damaged || node.members().any(|member| !DEFAULTS.contains(&member.key.as_str())),
            None => root.damaged || self.strangers().any(|key| like(key, &["defaults", "permission"])),
        }
    }

    /// Whether a bracket stands where it closes too much, so that what is behind it may belong before it.
    pub(super) fn closes_early(&self) -> bool {
        let early =
            |code: &Code| matches!(code, Code::StrayBracket { .. } | Code::WrongBracket { .. } | Code::TrailingContent);
        self.problems.iter().any(|problem| early(&problem.code))
    }

    /// Whether the end of this entry, which `next` follows in its section, may stand behind it.
    pub(super) fn may_go_on(&self, section: &str, next: Option<&Member>) -> bool {
        match next {
            Some(next) => self.wrong.has(section, &next.key),
            None => self.is_astray(),
        }
    }
}

/// Whether an entry has in it what may be another entry: a map where there is none, or the keys of a second one.
fn has_swallowed(entry: &Node) -> bool {
    let Kind::Map(members) = &entry.kind else { return false };
    members.iter().any(|member| {
        let is_map = matches!(member.value.kind, Kind::Map(_)) && !["env", "headers"].contains(&member.key.as_str());
        member.again || is_map
    })
}

/// Whether something may be called so; see the schema.
fn is_name(name: &str) -> bool {
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.bytes().all(of_name)
}

/// Holds an agent that is as it last was to what its new text permits, where that is less and can be read.
///
/// `default` is the permission of agents that say nothing.
pub(super) fn restrict(agent: &mut Value, default: Option<&Value>, written: Option<&Value>) {
    const LEAST_FIRST: [&str; 4] = ["deny_all", "ask", "allow_reads", "allow_all"];
    let rank = |value: &Value| LEAST_FIRST.iter().position(|word| value.as_str() == Some(word));
    let now = written.and_then(|agent| agent.get("permission")).and_then(|word| Some((rank(word)?, word)));
    let last = agent.get("permission").or(default).and_then(rank).unwrap_or(1);
    if let (Some((_, word)), Some(agent)) = (now.filter(|(now, _)| *now < last), agent.as_object_mut()) {
        agent.insert("permission".to_owned(), word.clone());
    }
}

/// Gives an agent that is as it last was what the defaults were then, where they are not the same now: nobody ever said
/// that it should have the new ones.
pub(super) fn with_defaults(agent: &mut Value, then: &Value, now: &Value) {
    let Some(agent) = agent.as_object_mut() else { return };
    for key in DEFAULTS.into_iter().filter(|key| then.get(key) != now.get(key)) {
        match (agent.get_mut(key), then.get(key)) {
            (Some(Value::Object(own)), Some(Value::Object(env))) => {
                for (name, value) in env {
                    own.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
            (Some(_), _) => {}
            (None, Some(value)) => drop(agent.insert(key.to_owned(), value.clone())),
            // What it is where nobody says anything.
            (None, None) if key == "permission" => drop(agent.insert(key.to_owned(), "ask".into())),
            (None, None) => {}
        }
    }
}
