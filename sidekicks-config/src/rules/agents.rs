//! What the settings of an agent say of each other.

use std::collections::HashSet;
use std::time::Duration;

use super::Rules;
use crate::Code;
use crate::pointer::Pointer;
use crate::syntax::{Kind, Member, Node};
use crate::units;

/// A setting that counts for an agent.
struct Setting<'a> {
    node: &'a Node,
    pointer: Pointer,
    /// It is the agent's own, and no default.
    own: bool,
}

impl<'a> Rules<'a> {
    pub(super) fn agents(&mut self) {
        let agents: Vec<&'a Member> = self.entries("agents").collect();
        for agent in &agents {
            self.folder(agent);
            self.memory(Some(agent));
            self.patience(Some(agent));
        }
        self.memory(None);
        self.patience(None);
        self.disabled(&agents);
    }

    /// A workspace and a folder: which one was meant?
    fn folder(&mut self, agent: &Member) {
        if let (Some(workspace), Some(cwd)) = (agent.value.member("workspace"), agent.value.member("cwd")) {
            let (first, second) =
                if workspace.key_span.start < cwd.key_span.start { (workspace, cwd) } else { (cwd, workspace) };
            let pointer = ["agents", &agent.key, &second.key].into();
            self.add(Code::WorkspaceAndCwd, pointer, &second.key_span, Some(&first.key_span));
        }
    }

    /// What counts under this key: for an agent, or for all where it is `None`.
    fn setting(&self, agent: Option<&'a Member>, key: &str) -> Option<Setting<'a>> {
        let own = agent.and_then(|agent| {
            let node = agent.value.get(key)?;
            Some(Setting { node, pointer: ["agents", &agent.key, key].into(), own: true })
        });
        own.or_else(|| {
            // What could not be read may be what the agent says of it itself.
            let node = self.defaults.filter(|_| agent.is_none_or(|agent| self.is_certain(agent)))?.get(key)?;
            Some(Setting { node, pointer: ["defaults", key].into(), own: false })
        })
    }

    fn memory(&mut self, agent: Option<&'a Member>) {
        let Some(estimate) = self.setting(agent, "memory_estimate") else { return };
        let Some(expected) = estimate.node.text().and_then(units::size) else { return };
        let mut found = Vec::new();
        if let Some(limit) = self.setting(agent, "memory_limit")
            && limit.node.text().and_then(units::size).is_some_and(|most| most < expected)
        {
            found.extend(conflict(agent, &estimate, &limit).map(|place| (Code::EstimateAboveLimit, place)));
        }
        let total = self.limits.and_then(|limits| limits.get("max_memory"));
        if let Some(total) = total
            && total.text().and_then(units::size).is_some_and(|most| most < expected)
            && estimate.own == agent.is_some()
        {
            let place = (estimate.pointer.clone(), estimate.node.span.clone(), total.span.clone());
            found.push((Code::EstimateAboveTotal, place));
        }
        for (code, (pointer, span, related)) in found {
            self.add(code, pointer, &span, Some(&related));
        }
    }

    fn patience(&mut self, agent: Option<&'a Member>) {
        let (Some(idle), Some(start)) = (self.setting(agent, "idle_timeout"), self.setting(agent, "start_timeout"))
        else {
            return;
        };
        let time = |setting: &Setting<'_>| setting.node.text().and_then(units::duration);
        // Zero is meant: it stops after each turn.
        let sooner =
            matches!((time(&idle), time(&start)), (Some(idle), Some(start)) if idle < start && idle > Duration::ZERO);
        if let Some((pointer, span, related)) = conflict(agent, &idle, &start).filter(|_| sooner) {
            self.add(Code::IdleBeforeStart, pointer, &span, Some(&related));
        }
    }

    /// Nobody is left to talk to.
    fn disabled(&mut self, agents: &[&Member]) {
        let disabled =
            |agent: &Member| matches!(agent.value.get("enabled").map(|node| &node.kind), Some(Kind::Bool(false)));
        if let Some(section) = self.root.member("agents")
            && !section.value.damaged
            && !agents.is_empty()
            && agents.iter().all(|agent| disabled(agent))
        {
            self.add(Code::NoAgentEnabled, ["agents"].into(), &section.key_span, None);
            return; // Then no channel has one, either.
        }
        let off: HashSet<&str> =
            agents.iter().filter(|agent| disabled(agent)).map(|agent| agent.key.as_str()).collect();
        let channels: Vec<&Member> = self.entries("channels").collect();
        for channel in channels {
            let Some(members) = channel.value.get("members").filter(|members| members.is_whole()) else { continue };
            let members = members.items();
            if !members.is_empty() && members.iter().all(|member| member.text().is_some_and(|name| off.contains(name)))
            {
                self.add(Code::ChannelDisabled, ["channels", &channel.key].into(), &channel.key_span, None);
            }
        }
    }
}

type Place = (Pointer, std::ops::Range<usize>, std::ops::Range<usize>);

/// Where it is told that two settings do not go together: at the first of them, if it is the agent's own, and else at the
/// second. Nothing where neither is: it is told of the defaults, once.
fn conflict(agent: Option<&Member>, first: &Setting<'_>, second: &Setting<'_>) -> Option<Place> {
    let (at, other) = match agent {
        Some(_) if !first.own && !second.own => return None,
        Some(_) if !first.own => (second, first),
        _ => (first, second),
    };
    Some((at.pointer.clone(), at.node.span.clone(), other.node.span.clone()))
}
