//! What of a text with errors is used.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Kept;
use super::doubt::{Doubt, UNSAID, is_less, permission, settle};
use crate::model::Config;
use crate::pointer::Pointer;
use crate::syntax::{Kind, Member, Node};
use crate::validate::Checked;

/// Maps whose members are judged one by one.
pub(super) const MAPS: [&str; 6] = ["limits", "defaults", "workspaces", "mcp_servers", "agents", "channels"];

/// The configuration that a text is, after `last`. `replaced` is the text again, if bytes that are not UTF-8 were replaced.
pub(super) fn keep(checked: &Checked, replaced: Option<&str>, last: Option<&Arc<Config>>) -> (Arc<Config>, Kept) {
    let is_map = matches!(checked.document.root.kind, Kind::Map(_));
    match last {
        Some(last) if !is_map || checked.uncertain => (last.clone(), Kept::LastGood),
        // Nothing runs yet that a mistake could take away.
        None if !is_map || checked.foreign => (Arc::default(), Kept::Nothing),
        last => Keeping::new(checked, replaced, last).built(last),
    }
}

struct Keeping<'a> {
    checked: &'a Checked,
    replaced: Option<&'a str>,
    /// The configuration before; null where there is none.
    before: Value,
    kept: Map<String, Value>,
    dropped: Vec<String>,
    from_last_good: Vec<String>,
}

impl<'a> Keeping<'a> {
    fn new(checked: &'a Checked, replaced: Option<&'a str>, last: Option<&Arc<Config>>) -> Self {
        let before = last.and_then(|last| serde_json::to_value(&**last).ok()).unwrap_or_default();
        Self { checked, replaced, before, kept: Map::new(), dropped: Vec::new(), from_last_good: Vec::new() }
    }

    fn built(mut self, last: Option<&Arc<Config>>) -> (Arc<Config>, Kept) {
        let doubt = self.checked.doubt();
        self.choose(doubt);
        if doubt != Doubt::Nothing {
            self.allow_no_more();
        }
        self.settle_agents();
        self.settle_channels();
        let Self { kept, mut dropped, mut from_last_good, .. } = self;
        for paths in [&mut dropped, &mut from_last_good] {
            paths.sort();
            paths.dedup();
        }
        match serde_json::from_value(Value::Object(kept)) {
            Ok(config) if dropped.is_empty() && from_last_good.is_empty() => (Arc::new(config), Kept::All),
            Ok(config) => (Arc::new(config), Kept::Partly { dropped, from_last_good }),
            // What was found valid is always read: this is for a fault of ours, which must not stop an agent.
            Err(_) => last.map_or_else(|| (Arc::default(), Kept::Nothing), |last| (last.clone(), Kept::LastGood)),
        }
    }

    /// Takes each key of the text that is right, and the last good one for what is wrong.
    fn choose(&mut self, doubt: Doubt) {
        let root = &self.checked.document.root;
        let astray = self.checked.is_astray();
        self.kept.insert("version".into(), 1.into());
        self.dropped.extend(self.checked.strangers().map(|member| Pointer::from([member.key.as_str()]).to_string()));
        for key in ["$schema", "language"] {
            if let Some(node) = root.get(key) {
                let right = !self.checked.wrong.is_at(key) && node.is_whole();
                self.put(key, right.then(|| self.checked.value[key].clone()));
            }
        }
        for section in MAPS {
            let node = root.get(section);
            let readable = node.filter(|node| matches!(node.kind, Kind::Map(_)));
            // A list of agents that must not be empty and is does not mean that there are none.
            let wrong = self.checked.wrong.is_at(section) && self.last(section).is_some();
            let certain = !self.checked.is_twice(section);
            match readable.filter(|_| !wrong && certain) {
                Some(map) => self.choose_in(section, map, astray, section == "agents" && doubt == Doubt::Everything),
                None if node.is_some() || section == "agents" || (astray && self.last(section).is_some()) => {
                    self.put(section, None);
                }
                None => {}
            }
        }
    }

    /// `doubtful` takes every member for wrong.
    fn choose_in(&mut self, section: &str, map: &Node, astray: bool, doubtful: bool) {
        let mut chosen = Map::new();
        let mut right = 0;
        let cautious = section == "agents" && self.last(section).is_none() && self.checked.closes_early;
        let mut members = map.members().peekable();
        while let Some(member) = members.next() {
            let name = member.key.as_str();
            let cut = cautious && self.checked.may_go_on(section, members.peek().copied());
            if !cut && !doubtful && !self.checked.wrong.has(section, name) && self.is_whole(member) {
                right += 1;
                chosen.insert(name.to_owned(), self.checked.value[section][name].clone());
            } else if let Some(last) = self.last_in(section, name) {
                chosen.insert(name.to_owned(), last.clone());
                self.from_last_good.push(path(section, name));
            } else {
                self.dropped.push(path(section, name));
            }
        }
        let lost = map.members().next().is_some() && right == 0;
        if astray || lost || self.checked.has_slipped(section, map) {
            let last = self.last(section).and_then(Value::as_object).into_iter().flatten();
            let absent = last.filter(|(name, _)| map.member(name).is_none());
            for (name, value) in absent.map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>() {
                self.from_last_good.push(path(section, &name));
                chosen.insert(name, value);
            }
        }
        self.kept.insert(section.to_owned(), Value::Object(chosen));
    }

    /// What was said of permissions may forbid more than could be read: until it can be, those that say nothing of their own
    /// may no more than before, or nothing at all.
    fn allow_no_more(&mut self) {
        let is_first = self.before.is_null();
        let before = self.last("defaults").and_then(permission).unwrap_or(UNSAID);
        let most = if is_first { "deny_all" } else { before }.to_owned();
        if is_less(&most, self.kept.get("defaults").and_then(permission).unwrap_or(UNSAID)) {
            self.section("defaults").insert("permission".into(), most.into());
            let told = if is_first { &mut self.dropped } else { &mut self.from_last_good };
            told.push(path("defaults", "permission"));
        }
    }

    /// Whether all of it could be read.
    fn is_whole(&self, member: &Member) -> bool {
        let span = member.key_span.start..member.value.span.end;
        let replaced = self.replaced.and_then(|text| text.get(span));
        member.value.is_whole() && !replaced.is_some_and(|text| text.contains(char::REPLACEMENT_CHARACTER))
    }

    /// A key of the root: its value, or the last good one.
    fn put(&mut self, key: &str, value: Option<Value>) {
        let last = || self.last(key).cloned();
        match value.clone().or_else(last) {
            Some(chosen) => {
                self.kept.insert(key.to_owned(), chosen);
                if value.is_none() {
                    self.from_last_good.push(key.to_owned());
                }
            }
            None => self.dropped.push(key.to_owned()),
        }
    }

    /// What an agent names is there, perhaps as it last was; or the agent itself is as it last was; or it is not.
    fn settle_agents(&mut self) {
        let mut settled = Map::new();
        for (name, agent) in std::mem::take(self.section("agents")) {
            let last = self.last_in("agents", &name).cloned();
            if self.restore(&agent) {
                settled.insert(name, agent);
            } else if let Some(last) = last.filter(|last| self.restore(last)) {
                self.from_last_good.push(path("agents", &name));
                settled.insert(name, last);
            } else {
                self.dropped.push(path("agents", &name));
            }
        }
        let now = self.kept.get("defaults").cloned().unwrap_or_default();
        let then = self.last("defaults").cloned().unwrap_or_default();
        let written = self.checked.value.get("agents");
        let as_before: HashSet<&str> = self.from_last_good.iter().map(String::as_str).collect();
        for (name, agent) in &mut settled {
            if as_before.contains("agents") || as_before.contains(path("agents", name).as_str()) {
                settle(agent, &then, &now, written.and_then(|agents| agents.get(name)));
            }
        }
        *self.section("agents") = settled;
    }

    /// Takes back what this agent names and is not there, if all of that was there before.
    fn restore(&mut self, agent: &Value) -> bool {
        let mut missing = Vec::new();
        for (section, name) in named(agent) {
            if self.section(section).contains_key(name) {
                continue;
            }
            let Some(last) = self.last_in(section, name) else { return false };
            missing.push((section, name, last.clone()));
        }
        for (section, name, last) in missing {
            self.section(section).insert(name.to_owned(), last);
            self.from_last_good.push(path(section, name));
        }
        true
    }

    /// All members of a channel are there, perhaps those that it last had; or the channel is not.
    fn settle_channels(&mut self) {
        let mut settled = Map::new();
        for (name, channel) in std::mem::take(self.section("channels")) {
            if self.has_members(&channel) {
                settled.insert(name, channel);
            } else if let Some(last) = self.last_in("channels", &name).filter(|last| self.has_members(last)) {
                settled.insert(name.clone(), last.clone());
                self.from_last_good.push(path("channels", &name));
            } else {
                self.dropped.push(path("channels", &name));
            }
        }
        *self.section("channels") = settled;
    }

    fn has_members(&self, channel: &Value) -> bool {
        let agents = self.kept.get("agents");
        texts(channel.get("members")).all(|member| agents.is_some_and(|agents| agents.get(member).is_some()))
    }

    fn last(&self, key: &str) -> Option<&Value> {
        self.before.get(key)
    }

    fn last_in(&self, section: &str, name: &str) -> Option<&Value> {
        self.last(section)?.get(name)
    }

    fn section(&mut self, section: &str) -> &mut Map<String, Value> {
        let value = self.kept.entry(section).or_insert(Value::Null);
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        match value {
            Value::Object(map) => map,
            _ => unreachable!("it was made one"),
        }
    }
}

/// The entries that an agent names, with their sections.
fn named(agent: &Value) -> impl Iterator<Item = (&'static str, &str)> {
    let workspace = agent.get("workspace").and_then(Value::as_str).map(|name| ("workspaces", name));
    workspace.into_iter().chain(texts(agent.get("mcp_servers")).map(|name| ("mcp_servers", name)))
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn path(section: &str, name: &str) -> String {
    Pointer::from([section, name]).to_string()
}
