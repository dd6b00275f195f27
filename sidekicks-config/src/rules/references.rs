//! Names that stand for something, and what nothing stands for.

use std::collections::HashSet;

use super::Rules;
use crate::nearest::nearest;
use crate::pointer::Pointer;
use crate::syntax::{Kind, Node};
use crate::{Code, MAX_PROBLEMS};

impl Rules<'_> {
    pub(super) fn references(&mut self) {
        let agents: Vec<_> = self.entries("agents").collect();
        let mut workspaces: Vec<(&Node, Pointer)> = Vec::new();
        let mut servers: Vec<(&Node, Pointer)> = Vec::new();
        for agent in agents {
            let pointer: Pointer = ["agents", &agent.key].into();
            workspaces.extend(agent.value.get("workspace").map(|node| (node, pointer.key("workspace"))));
            let list = agent.value.get("mcp_servers").map(Node::items).unwrap_or_default();
            let pointer = pointer.key("mcp_servers");
            servers.extend(list.iter().enumerate().map(|(index, node)| (node, pointer.index(index))));
        }
        let members = self.entries("channels").flat_map(|channel| {
            let pointer = Pointer::from(["channels", &channel.key, "members"]);
            let list = channel.value.get("members").map(Node::items).unwrap_or_default();
            list.iter().enumerate().map(move |(index, node)| (node, pointer.index(index)))
        });
        let members: Vec<_> = members.collect();

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
        references: &[(&Node, Pointer)],
        unknown: fn(Option<String>) -> Code,
        unused: Option<Code>,
    ) {
        if !self.is_known(section) {
            return;
        }
        let names: HashSet<&str> = self.entries(section).map(|entry| entry.key.as_str()).collect();
        let mut used: HashSet<&str> = HashSet::new();
        let mut certain = true;
        for (node, pointer) in references {
            match &node.kind {
                Kind::Text(name) if names.contains(name.as_str()) => {
                    used.insert(name);
                }
                Kind::Text(name) if !name.is_empty() => {
                    certain = false; // It may mean any of them.
                    let known = self.entries(section).map(|entry| entry.key.as_str());
                    // Of more than are told nobody looks for what was meant: it takes as long as there are names.
                    let nearest = nearest(name, known.filter(|_| self.found.len() <= MAX_PROBLEMS));
                    self.add(unknown(nearest), pointer.clone(), &node.span, None);
                }
                _ => certain = false,
            }
        }
        let Some(unused) = unused else { return };
        if certain && self.is_known("agents") && self.entries("agents").all(|agent| agent.value.is_whole()) {
            for entry in self.entries(section).filter(|entry| !used.contains(entry.key.as_str())) {
                self.add(unused.clone(), [section, &entry.key].into(), &entry.key_span, None);
            }
        }
    }
}
