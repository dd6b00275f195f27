//! What of a text with errors is used.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Kept;
use crate::Code;
use crate::model::Config;
use crate::pointer::{Pointer, Step};
use crate::problem::Problem;
use crate::syntax::{Kind, Node};
use crate::validate::Checked;

/// Maps whose members are judged one by one.
const MAPS: [&str; 6] = ["limits", "defaults", "workspaces", "mcp_servers", "agents", "channels"];

/// The configuration that a text is, after `last`.
pub(super) fn keep(checked: &Checked, last: Option<&Arc<Config>>) -> (Arc<Config>, Kept) {
    let is_map = matches!(checked.document.root.kind, Kind::Map(_));
    let is_newer = checked.problems.iter().any(|problem| problem.code == Code::NewerVersion);
    match last {
        Some(last) if !is_map || checked.problems.iter().any(is_fatal) => (last.clone(), Kept::LastGood),
        // Nothing runs yet that a mistake could take away.
        None if !is_map || is_newer => (Arc::default(), Kept::Nothing),
        last => Keeping::new(checked, last).built(last),
    }
}

/// Whether a problem leaves nothing of the text certain.
fn is_fatal(problem: &Problem) -> bool {
    let at_root = problem.pointer().steps().len() <= 1;
    problem.code.is_syntax()
        || problem.code == Code::NewerVersion
        || (at_root && matches!(problem.code, Code::DuplicateKey { .. }))
}

struct Keeping<'a> {
    root: &'a Node,
    value: &'a Value,
    /// The configuration before; null where there is none.
    before: Value,
    /// The first two steps of the place of every error.
    wrong: HashSet<(&'a str, Option<&'a str>)>,
    kept: Map<String, Value>,
    dropped: Vec<String>,
    from_last_good: Vec<String>,
}

impl<'a> Keeping<'a> {
    fn new(checked: &'a Checked, last: Option<&Arc<Config>>) -> Self {
        let key = |step: Option<&'a Step>| match step {
            Some(Step::Key(key)) => Some(key.as_str()),
            _ => None,
        };
        let errors = checked.problems.iter().filter(|problem| problem.is_error());
        let places = errors.filter_map(|problem| {
            let steps = problem.pointer().steps();
            Some((key(steps.first())?, key(steps.get(1))))
        });
        Self {
            root: &checked.document.root,
            value: &checked.value,
            before: last.and_then(|last| serde_json::to_value(&**last).ok()).unwrap_or_default(),
            wrong: places.collect(),
            kept: Map::new(),
            dropped: Vec::new(),
            from_last_good: Vec::new(),
        }
    }

    fn built(mut self, last: Option<&Arc<Config>>) -> (Arc<Config>, Kept) {
        self.choose();
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
    fn choose(&mut self) {
        self.kept.insert("version".into(), 1.into());
        for key in ["$schema", "language"] {
            if let Some(node) = self.root.get(key) {
                let right = !self.wrong.contains(&(key, None)) && node.is_whole();
                self.put(key, right.then(|| self.value[key].clone()));
            }
        }
        for section in MAPS {
            let node = self.root.get(section);
            let readable = node.filter(|node| matches!(node.kind, Kind::Map(_)));
            // A list of agents that must not be empty and is does not mean that there are none.
            let wrong = self.wrong.contains(&(section, None)) && self.before.get(section).is_some();
            match readable.filter(|_| !wrong) {
                Some(map) => self.choose_in(section, map),
                None if node.is_some() || section == "agents" => self.put(section, None),
                None => {}
            }
        }
    }

    fn choose_in(&mut self, section: &str, map: &Node) {
        let mut chosen = Map::new();
        for member in map.members() {
            let name = member.key.as_str();
            if !self.wrong.contains(&(section, Some(name))) && member.value.is_whole() {
                chosen.insert(name.to_owned(), self.value[section][name].clone());
            } else if let Some(last) = self.before.get(section).and_then(|section| section.get(name)) {
                chosen.insert(name.to_owned(), last.clone());
                self.from_last_good.push(path(section, name));
            } else {
                self.dropped.push(path(section, name));
            }
        }
        self.kept.insert(section.to_owned(), Value::Object(chosen));
    }

    /// A key of the root: its value, or the last good one.
    fn put(&mut self, key: &str, value: Option<Value>) {
        match value.or_else(|| self.before.get(key).cloned().inspect(|_| self.from_last_good.push(key.to_owned()))) {
            Some(value) => drop(self.kept.insert(key.to_owned(), value)),
            None => self.dropped.push(key.to_owned()),
        }
    }

    /// What an agent names is there, as it last was, or the agent is not.
    fn settle_agents(&mut self) {
        for (name, agent) in self.section("agents").clone() {
            let workspace = agent.get("workspace").map(|name| ("workspaces", name));
            let servers = agent.get("mcp_servers").and_then(Value::as_array).into_iter().flatten();
            let named = workspace.into_iter().chain(servers.map(|name| ("mcp_servers", name)));
            for (section, named) in named.filter_map(|(section, named)| Some((section, named.as_str()?))) {
                if self.section(section).contains_key(named) {
                    continue;
                }
                match self.before.get(section).and_then(|section| section.get(named)).cloned() {
                    Some(last) => {
                        self.section(section).insert(named.to_owned(), last);
                        self.from_last_good.push(path(section, named));
                    }
                    None => {
                        self.section("agents").shift_remove(&name);
                        self.dropped.push(path("agents", &name));
                    }
                }
            }
        }
        self.section("agents");
    }

    /// All members of a channel are there, or the channel is not.
    fn settle_channels(&mut self) {
        for (name, channel) in self.section("channels").clone() {
            let members = channel.get("members").and_then(Value::as_array).into_iter().flatten();
            let agents = self.section("agents");
            if !members.filter_map(Value::as_str).all(|member| agents.contains_key(member)) {
                self.section("channels").shift_remove(&name);
                self.dropped.push(path("channels", &name));
            }
        }
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

fn path(section: &str, name: &str) -> String {
    Pointer::from([section, name]).to_string()
}
