//! What a mistake may have displaced: it stands somewhere else, or under another name, and looks as if it were not there.

use serde_json::Value;

use super::keep::MAPS;
use crate::nearest::nearest;
use crate::syntax::{Kind, Member, Node};
use crate::validate::Checked;

/// What a member of `defaults` may be called.
const DEFAULTS: [&str; 6] = ["permission", "start_timeout", "idle_timeout", "memory_estimate", "memory_limit", "env"];

/// What is not certain about what agents may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    Nothing,
    /// What those may that have no permission of their own.
    Default,
    /// What any of them may: rules for all of them were meant.
    Everything,
}

impl Checked {
    /// The members of the root whose keys do not exist.
    pub(super) fn strangers(&self) -> impl Iterator<Item = &Member> {
        let known = |key: &str| MAPS.contains(&key) || ["$schema", "version", "language"].contains(&key);
        self.document.root.members().filter(move |member| !known(&member.key))
    }

    /// Whether this key of the root stands there twice, so that nobody knows which one is meant.
    pub(super) fn is_twice(&self, key: &str) -> bool {
        matches!(&self.document.root.kind, Kind::Map(members) if members.iter().any(|it| it.again && it.key == key))
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

    /// What was meant to be said of permissions and could not be read.
    pub(super) fn doubt(&self) -> Doubt {
        let root = &self.document.root;
        let defaults = root.get("defaults");
        let unknown = || {
            let members = defaults.into_iter().flat_map(Node::members);
            members.filter(|member| !DEFAULTS.contains(&member.key.as_str()))
        };
        if self.strangers().chain(unknown()).any(says_rules) {
            return Doubt::Everything;
        }
        let unread = match defaults {
            Some(node) if !matches!(node.kind, Kind::Map(_)) => true,
            Some(node) if node.get("permission").is_some() => self.wrong.has("defaults", "permission"),
            Some(node) => node.damaged || unknown().next().is_some(),
            None => root.damaged,
        };
        let astray = self.strangers().any(|member| is_like(&member.key, &["defaults", "permission"]))
            || unknown().any(|member| is_like(&member.key, &["permission"]));
        if unread || astray || self.is_twice("defaults") { Doubt::Default } else { Doubt::Nothing }
    }

    /// Whether the end of this entry, which `next` follows in its section, may stand behind it.
    pub(super) fn may_go_on(&self, section: &str, next: Option<&Member>) -> bool {
        match next {
            Some(next) => self.wrong.has(section, &next.key),
            None => self.is_astray(),
        }
    }
}

fn is_like(key: &str, meant: &[&'static str]) -> bool {
    nearest(key, meant.iter().copied()).is_some()
}

/// Whether this was meant as rules, where there are none.
fn says_rules(member: &Member) -> bool {
    let key = member.key.as_str();
    let many = matches!(member.value.kind, Kind::List(_) | Kind::Map(_));
    is_like(key, &["permission_rules", "rules"]) || (many && is_like(key, &["permission"]))
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

/// What counts where nobody says anything of permissions.
pub(super) const UNSAID: &str = "ask";

/// Whether the first of these permissions is known, and allows less than the second.
pub(super) fn is_less(one: &str, other: &str) -> bool {
    const LEAST_FIRST: [&str; 4] = ["deny_all", UNSAID, "allow_reads", "allow_all"];
    let rank = |word: &str| LEAST_FIRST.iter().position(|it| *it == word);
    rank(one).is_some_and(|one| rank(other).is_none_or(|other| one < other))
}

pub(super) fn permission(map: &Value) -> Option<&str> {
    map.get("permission")?.as_str()
}

/// Settles an agent that is as it last was. What the defaults were then it keeps, for nobody ever said that it should have
/// the new ones; only if it is permitted less now, and that can be read, this counts. `written` is its new text.
pub(super) fn settle(agent: &mut Value, then: &Value, now: &Value, written: Option<&Value>) {
    let default = permission(now).unwrap_or(UNSAID);
    let permitted = match written.and_then(Value::as_object) {
        Some(map) if map.contains_key("permission") => map["permission"].as_str(),
        Some(map) if map.keys().any(|key| is_like(key, &["permission"])) => None,
        Some(_) => Some(default),
        // It is not there any more, nor is what it said itself.
        None => permission(agent).is_none().then_some(default),
    };
    with_defaults(agent, then, now);
    let last = permission(agent).unwrap_or(default);
    if let Some(word) = permitted.filter(|word| is_less(word, last)).map(str::to_owned) {
        agent["permission"] = word.into();
    }
}

fn with_defaults(agent: &mut Value, then: &Value, now: &Value) {
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
            (None, None) if key == "permission" => drop(agent.insert(key.to_owned(), UNSAID.into())),
            (None, None) => {}
        }
    }
}
