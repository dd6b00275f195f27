//! Names that stand for something, and what nothing stands for.

use std::collections::HashSet;

use super::Rules;
use crate::Code;
use crate::nearest::nearest;
use crate::pointer::Pointer;
use crate::syntax::{Kind, Member, Node};

/// How many names are looked at for what was meant, in one section: it takes as long as there are names, each time.
const GUESSES: usize = 20_000;

/// Everything that is to name an entry of one section.
#[derive(Default)]
struct References<'a> {
    /// Those of one list come one after another.
    all: Vec<(&'a Node, Pointer)>,
    /// Something that may hold more of them could not be read.
    more: bool,
}

impl<'a> References<'a> {
    fn add_list(&mut self, list: &'a Node, pointer: &Pointer) {
        self.more |= !matches!(list.kind, Kind::List(_));
        let mut names = HashSet::new();
        for (index, node) in list.items().iter().enumerate() {
            // Of a name that stood before in the list that is told, and no more.
            if node.text().is_none_or(|name| names.insert(name)) {
                self.all.push((node, pointer.index(index)));
            }
        }
    }
}

impl<'a> Rules<'a> {
    pub(super) fn references(&mut self) {
        let (mut workspaces, mut servers, mut members) =
            (References::default(), References::default(), References::default());
        for agent in self.entries("agents") {
            let pointer: Pointer = ["agents", &agent.key].into();
            if let Some(node) = agent.value.get("workspace") {
                workspaces.all.push((node, pointer.key("workspace")));
            }
            if let Some(list) = agent.value.get("mcp_servers") {
                servers.add_list(list, &pointer.key("mcp_servers"));
            }
        }
        for channel in self.entries("channels") {
            if let Some(list) = channel.value.get("members") {
                members.add_list(list, &["channels", &channel.key, "members"].into());
            }
        }
        self.resolve(
            "workspaces",
            &workspaces,
            |nearest| Code::UnknownWorkspace { nearest },
            Some(Code::UnusedWorkspace),
        );
        self.resolve(
            "mcp_servers",
            &servers,
            |nearest| Code::UnknownMcpServer { nearest },
            Some(Code::UnusedMcpServer),
        );
        self.resolve("agents", &members, |nearest| Code::UnknownAgent { nearest }, None);
    }

    /// Tells of references to what is not in the section, and of what is in it and is not referred to.
    fn resolve(
        &mut self,
        section: &'static str,
        references: &References<'a>,
        unknown: fn(Option<String>) -> Code,
        unused: Option<Code>,
    ) {
        if !self.is_known(section) {
            return;
        }
        let entries: Vec<&Member> = self.entries(section).collect();
        let names: HashSet<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        let mut used: HashSet<&str> = HashSet::new();
        let mut certain = !references.more;
        let mut guesses = GUESSES;
        for (node, pointer) in &references.all {
            match &node.kind {
                Kind::Text(name) if names.contains(name.as_str()) => {
                    used.insert(name);
                }
                Kind::Text(name) if !name.is_empty() => {
                    certain = false; // It may mean any of them.
                    let known = entries.iter().map(|entry| entry.key.as_str());
                    let nearest = nearest(name, known.take(guesses));
                    guesses = guesses.saturating_sub(names.len());
                    self.add(unknown(nearest), pointer.clone(), &node.span, None);
                }
                _ => certain = false,
            }
        }
        let Some(unused) = unused.filter(|_| certain && self.are_agents_certain()) else { return };
        for entry in entries.into_iter().filter(|entry| !used.contains(entry.key.as_str())) {
            self.add(unused.clone(), [section, &entry.key].into(), &entry.key_span, None);
        }
    }

    /// Whether there are agents, and everything that each of them says is known.
    fn are_agents_certain(&self) -> bool {
        let mut agents = self.entries("agents").peekable();
        self.is_known("agents")
            && agents.peek().is_some()
            && agents.all(|agent| self.is_certain(agent) && agent.value.is_whole())
    }
}
