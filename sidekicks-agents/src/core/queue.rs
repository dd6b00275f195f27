//! Who waits, and in which order they are served.

use std::collections::BTreeSet;
use std::sync::Arc;

use sidekicks_acp::{AgentName, ConnectError, StartError, StartFailure};
use tokio::time::Instant;

use super::slot::{Phase, Slot};
use super::{Core, Effect, LeaseId};

/// Names somebody who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ticket(pub(crate) u64);

/// Somebody who waits for an agent.
#[derive(Debug, Clone)]
pub(crate) struct Waiter {
    pub(crate) ticket: Ticket,
    pub(crate) agent: AgentName,
    pub(crate) owner: Option<Arc<str>>,
    /// When they came.
    pub(crate) since: Instant,
    pub(crate) deadline: Option<Instant>,
}

/// What somebody waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Until the agent has started, or has gone: that ends by itself.
    Change,
    /// For a turn with an agent that others borrow.
    Turn,
    /// For room.
    Room,
}

impl Core {
    /// Somebody does not wait any more.
    pub(super) fn forget(&mut self, ticket: Ticket) {
        self.refuse_where(|waiter| waiter.ticket == ticket, None);
    }

    pub(super) fn refuse(&mut self, ticket: Ticket, error: ConnectError) {
        self.refuse_where(|waiter| waiter.ticket == ticket, Some(error));
    }

    pub(super) fn refuse_all(&mut self, error: ConnectError) {
        self.refuse_where(|_| true, Some(error));
    }

    pub(super) fn refuse_those_of(&mut self, agent: &AgentName, error: ConnectError) {
        self.refuse_where(|waiter| waiter.agent == *agent, Some(error));
    }

    /// Takes those out of the queue for whom this holds, and tells them why, if there is something to tell.
    fn refuse_where(&mut self, goes: impl Fn(&Waiter) -> bool, error: Option<ConnectError>) {
        self.queue.retain(|waiter| {
            if !goes(waiter) {
                return true;
            }
            self.changed.insert(waiter.agent.clone());
            if let Some(error) = &error {
                self.effects.push(Effect::Refuse { ticket: waiter.ticket, error: error.clone() });
            }
            false
        });
    }

    /// Refuses those whose deadline has passed.
    pub(super) fn refuse_late(&mut self, now: Instant) {
        let late = |waiter: &&Waiter| waiter.deadline.is_some_and(|deadline| deadline <= now);
        let late: Vec<_> =
            self.queue.iter().filter(late).map(|waiter| (waiter.ticket, self.lateness(waiter, now))).collect();
        late.into_iter().for_each(|(ticket, error)| self.refuse(ticket, error));
    }

    /// What somebody is told who waited in vain.
    fn lateness(&self, waiter: &Waiter, now: Instant) -> ConnectError {
        match self.waits_for(waiter) {
            Wait::Change => {
                let mut late = StartError::from(StartFailure::TimedOut(now - waiter.since));
                let command = self.slots.get(&waiter.agent).and_then(|slot| slot.command.as_ref());
                late.program = command.map(|command| command.program.clone());
                ConnectError::Start(Arc::new(late))
            }
            Wait::Turn | Wait::Room => ConnectError::NoRoom { holders: self.waited_for(waiter) },
        }
    }

    /// Everybody who waits, in the order in which they came.
    pub(crate) fn waiters(&self) -> impl Iterator<Item = &Waiter> {
        self.queue.iter()
    }

    /// Who holds what somebody waits for; nobody where that comes by itself.
    pub(crate) fn waited_for(&self, waiter: &Waiter) -> Vec<String> {
        match self.waits_for(waiter) {
            Wait::Change => Vec::new(),
            Wait::Turn => self.holders(|name, _| *name == waiter.agent),
            Wait::Room => self.holders(|_, slot| !slot.is_pinned()),
        }
    }

    /// Who borrows any of these agents; the agent itself where that is not known, or nobody does.
    fn holders(&self, of: impl Fn(&AgentName, &Slot) -> bool) -> Vec<String> {
        let mut holders = BTreeSet::new();
        for (name, slot) in self.slots.iter().filter(|(name, slot)| of(name, slot)) {
            match &slot.phase {
                Phase::Stopped => {}
                Phase::Running(running) if !running.leases.is_empty() => {
                    holders.extend(running.leases.values().map(|owner| owner.as_deref().unwrap_or(name.as_str())));
                }
                _ => {
                    holders.insert(name.as_str());
                }
            }
        }
        holders.into_iter().map(str::to_owned).collect()
    }

    /// What somebody waits for who was not served.
    pub(super) fn waits_for(&self, waiter: &Waiter) -> Wait {
        let Some(slot) = self.slots.get(&waiter.agent) else { return Wait::Change };
        match &slot.phase {
            Phase::Stopped => Wait::Room,
            Phase::Running(_) if !slot.has_turn() => Wait::Turn,
            Phase::Running(_) => Wait::Room, // It is kept from those who came after somebody who waits for room.
            Phase::Starting | Phase::Stopping { .. } => Wait::Change,
        }
    }

    /// Starts what is waited for and fits, first come first served; gives those for whom there is no room yet.
    ///
    /// Nobody overtakes somebody who waits for room, or an agent that needs much would never start.
    pub(super) fn start_in_order(&mut self, now: Instant) -> Blocked {
        let mut blocked = Blocked::default();
        let stays =
            |waiter: &&Waiter| self.slots.get(&waiter.agent).is_some_and(|slot| slot.spec.is_some() && slot.stays());
        let waiting: Vec<_> = self.queue.iter().filter(|waiter| !stays(waiter)).cloned().collect();
        if waiting.is_empty() {
            return blocked;
        }
        let (mut load, mut pinned) = (self.load(), self.pinned_load());
        for Waiter { agent, ticket, since, deadline, .. } in waiting {
            let Some(slot) = self.slots.get(&agent).filter(|slot| slot.spec.is_some()) else {
                self.refuse_those_of(&agent, ConnectError::Unknown);
                continue;
            };
            if slot.stays() {
                continue; // It was started a moment ago.
            }
            if let Some((until, last)) = slot.backoff(now) {
                let error = ConnectError::Backoff { retry_after: until - now, last: Arc::clone(last) };
                self.refuse_those_of(&agent, error);
            } else if !self.limits.fits(pinned, slot.need()) {
                self.refuse_those_of(&agent, ConnectError::TooLarge);
            } else if !matches!(slot.phase, Phase::Stopped) || deadline.is_some_and(|deadline| deadline <= now) {
                continue; // It is not gone yet; or nothing is started for who does not wait.
            } else if blocked.first.is_none() && self.limits.fits(load, slot.need()) {
                load.add(slot.need());
                if slot.is_pinned() {
                    pinned.add(slot.need());
                }
                self.start(&agent);
            } else {
                blocked.first.get_or_insert((ticket, since));
                blocked.agents.push(agent);
            }
        }
        blocked
    }

    fn start(&mut self, agent: &AgentName) {
        if let Some((generation, spec)) = self.slot(agent).and_then(Slot::begin) {
            self.effects.push(Effect::Start { agent: agent.clone(), generation, spec: Box::new(spec) });
        }
    }

    /// Lends agents that run, first come first served.
    ///
    /// Who asks for a running agent goes before somebody who waits for room, since nothing has to be stopped for them.
    /// Once that one has waited for long, those who came later stay behind, so that an agent becomes idle.
    pub(super) fn lend(&mut self, blocked: &Blocked, now: Instant) {
        let is_over = |&(_, since): &(Ticket, Instant)| now - since >= self.rules.max_bypass;
        let overtaken = blocked.first.filter(is_over).map(|(ticket, _)| ticket);
        let mut behind = false;
        for waiter in std::mem::take(&mut self.queue) {
            behind |= overtaken == Some(waiter.ticket);
            let agent = &waiter.agent;
            if !self.slots.get(agent).is_some_and(|slot| slot.has_turn() && (!behind || slot.is_pinned())) {
                self.queue.push_back(waiter);
                continue;
            }
            self.leases += 1;
            let lease = LeaseId(self.leases);
            if let Some(slot) = self.slot(agent)
                && let Phase::Running(running) = &mut slot.phase
            {
                running.leases.insert(lease, waiter.owner);
                let generation = slot.generation;
                self.effects.push(Effect::Lend { ticket: waiter.ticket, agent: waiter.agent, generation, lease });
            }
        }
    }
}

/// Those who wait for room.
#[derive(Debug, Default)]
pub(super) struct Blocked {
    /// The first of them, and when they came.
    first: Option<(Ticket, Instant)>,
    /// The agents they wait for, in order, some more than once.
    pub(super) agents: Vec<AgentName>,
}
