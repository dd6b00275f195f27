//! The decisions: who starts, who waits, who is lent out, who has to go.
//!
//! A plain machine: an input and the time go in, effects come out. It has no clock, no task and no lock, so that
//! everything it does can be tried without processes.

mod deadlock;
mod failures;
mod queue;
mod room;
mod slot;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use sidekicks_acp::{AgentName, ConnectError, End, Generation, StartError, StopCause, StopReport};
use tokio::time::Instant;

use crate::specs::{AgentSpec, Backoff, Specs};
use crate::state::AgentState;
use room::Limits;
use slot::{Phase, Running, Slot};

pub(crate) use queue::{Ticket, Waiter};

/// What happened.
#[derive(Debug)]
pub(crate) enum Input {
    /// Somebody wants an agent.
    Borrow(Waiter),
    /// Who held this ticket does not wait any more.
    Abandoned(Ticket),
    /// A lease came back.
    Returned { agent: AgentName, generation: Generation, lease: LeaseId, how: Returned },
    /// A start succeeded.
    Ready { agent: AgentName, generation: Generation },
    /// A start failed or was given up; nothing of it is left.
    Failed { agent: AgentName, generation: Generation, error: Arc<StartError> },
    /// The connection to a running agent ended. Its process may still have to be finished.
    Lost { agent: AgentName, generation: Generation, end: End },
    /// A process has stopped, or is stuck.
    Stopped { agent: AgentName, generation: Generation, report: Option<Arc<StopReport>> },
    /// Nothing of it is left.
    Gone { agent: AgentName, generation: Generation },
    /// How many bytes an agent uses with all that it started.
    Measured { agent: AgentName, generation: Generation, bytes: u64 },
    /// There are other agents now.
    Apply(Specs),
    /// An agent is to be kept whatever its spec says, or no longer.
    Pin { agent: AgentName, pinned: bool },
    /// Its failures are forgotten.
    Reset(AgentName),
    /// It is to stop now.
    Stop(AgentName),
    /// All are to stop now.
    StopAll,
    /// The same, and nothing is lent out any more.
    Close,
    /// Time passed.
    Tick,
}

/// How a lease came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Returned {
    Done,
    Condemned,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Effect {
    Start {
        agent: AgentName,
        generation: Generation,
        spec: Box<AgentSpec>,
    },
    /// Stops a running agent, or gives up a start.
    Stop {
        agent: AgentName,
        generation: Generation,
        cause: StopCause,
    },
    Lend {
        ticket: Ticket,
        agent: AgentName,
        generation: Generation,
        lease: LeaseId,
    },
    Refuse {
        ticket: Ticket,
        error: ConnectError,
    },
}

/// One lease, never to be given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LeaseId(pub(crate) u64);

/// The rules that do not change.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// How long others may be served before somebody who waits for room.
    pub(crate) max_bypass: Duration,
    pub(crate) backoff: Backoff,
}

/// The state of everything.
#[derive(Debug)]
pub(crate) struct Core {
    rules: Rules,
    limits: Limits,
    slots: BTreeMap<AgentName, Slot>,
    /// The last starts of agents that were removed: their numbers go on if they come back.
    past: BTreeMap<AgentName, Generation>,
    /// Everybody who waits, in the order in which they came.
    queue: VecDeque<Waiter>,
    closed: bool,
    leases: u64,
    /// Counts what makes an agent the most recently used one.
    uses: u64,
    effects: Vec<Effect>,
    changed: BTreeSet<AgentName>,
}

impl Core {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            limits: Limits::default(),
            slots: BTreeMap::new(),
            past: BTreeMap::new(),
            queue: VecDeque::new(),
            closed: false,
            leases: 0,
            uses: 0,
            effects: Vec::new(),
            changed: BTreeSet::new(),
        }
    }

    /// Takes one input; gives what is to be done, in this order.
    pub(crate) fn handle(&mut self, input: Input, now: Instant) -> Vec<Effect> {
        self.take(input, now);
        self.settle(now);
        std::mem::take(&mut self.effects)
    }

    /// When the next [`Input::Tick`] is due, if nothing else happens.
    pub(crate) fn next_tick(&self) -> Option<Instant> {
        let deadlines = self.queue.iter().filter_map(|waiter| waiter.deadline);
        let idle = self.slots.values().filter_map(Slot::idle_until);
        deadlines.chain(idle).min()
    }

    /// The agents whose state changed since the last call, each with its state now; `None` where it was removed.
    pub(crate) fn changes(&mut self) -> Vec<(AgentName, Option<AgentState>)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|name| (name.clone(), self.state(&name))).collect()
    }

    /// Whether any limit needs to know what agents use.
    pub(crate) fn measures(&self) -> bool {
        let limited = |slot: &Slot| slot.spec.as_ref().is_some_and(|spec| spec.memory_limit.is_some());
        self.limits.memory.is_some() || self.slots.values().any(limited)
    }

    /// Whether nothing of any agent runs.
    pub(crate) fn is_still(&self) -> bool {
        self.slots.values().all(|slot| matches!(slot.phase, Phase::Stopped))
    }

    /// The agents that are being stopped, or left by themselves and are not gone yet.
    pub(crate) fn stopping(&self) -> impl Iterator<Item = &AgentName> {
        self.slots.iter().filter(|(_, slot)| matches!(slot.phase, Phase::Stopping { .. })).map(|(name, _)| name)
    }

    fn state(&self, name: &AgentName) -> Option<AgentState> {
        let slot = self.slots.get(name)?;
        let waiting = self.queue.iter().filter(|waiter| waiter.agent == *name).count();
        slot.state(waiting)
    }

    fn take(&mut self, input: Input, now: Instant) {
        match input {
            Input::Borrow(waiter) if self.closed => {
                self.effects.push(Effect::Refuse { ticket: waiter.ticket, error: ConnectError::Closed });
            }
            Input::Borrow(waiter) => {
                self.changed.insert(waiter.agent.clone());
                self.queue.push_back(waiter);
            }
            Input::Abandoned(ticket) => self.forget(ticket),
            Input::Returned { agent, generation, lease, how } => self.returned(&agent, generation, lease, how, now),
            Input::Ready { agent, generation } => self.ready(agent, generation, now),
            Input::Failed { agent, generation, error } => self.failed(&agent, generation, error, now),
            Input::Lost { agent, generation, end } => self.lost(&agent, generation, end, now),
            Input::Stopped { agent, generation, report } => {
                if let Some(slot) = self.alive(&agent, generation) {
                    slot.report = report;
                }
            }
            Input::Gone { agent, generation } => {
                if let Some(slot) = self.alive(&agent, generation) {
                    slot.phase = Phase::Stopped;
                }
                self.clear_away(&agent);
            }
            Input::Measured { agent, generation, bytes } => {
                if let Some(slot) = self.alive(&agent, generation) {
                    slot.memory = Some(bytes);
                    slot.peak = slot.peak.max(Some(bytes));
                }
            }
            Input::Apply(specs) => self.apply(specs),
            Input::Pin { agent, pinned } => {
                if let Some(slot) = self.slot(&agent).filter(|slot| slot.spec.is_some()) {
                    slot.pinned = pinned;
                }
            }
            Input::Reset(agent) => {
                if let Some(slot) = self.slot(&agent) {
                    slot.failures.clear();
                }
            }
            Input::Stop(agent) => self.stop_now(&agent),
            Input::StopAll => self.stop_all(),
            Input::Close => {
                self.closed = true;
                self.refuse_all(ConnectError::Closed);
                self.stop_all();
            }
            Input::Tick => {}
        }
    }

    /// Does what can be done now.
    fn settle(&mut self, now: Instant) {
        loop {
            let blocked = self.start_in_order(now);
            self.lend(&blocked, now);
            self.refuse_late(now);
            self.stop_unwanted(now);
            self.make_room(&blocked);
            if !self.break_deadlock() {
                return;
            }
        }
    }

    /// The slot of an agent, which counts as changed from here on.
    fn slot(&mut self, agent: &AgentName) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(agent)?;
        self.changed.insert(agent.clone());
        Some(slot)
    }

    /// The same, if this generation is the one that lives. What comes from an earlier one is no news.
    fn alive(&mut self, agent: &AgentName, generation: Generation) -> Option<&mut Slot> {
        let slot = self.slot(agent)?;
        (slot.generation == generation && !matches!(slot.phase, Phase::Stopped)).then_some(slot)
    }

    fn returned(&mut self, agent: &AgentName, generation: Generation, lease: LeaseId, how: Returned, now: Instant) {
        self.uses += 1;
        let uses = self.uses;
        let Some(slot) = self.alive(agent, generation) else { return };
        let Phase::Running(running) = &mut slot.phase else { return };
        if running.leases.remove(&lease).is_none() {
            return;
        }
        running.rest(uses, now);
        match how {
            Returned::Done => slot.failures.clear(),
            Returned::Condemned => self.stop(agent, StopCause::Condemned),
        }
    }

    fn ready(&mut self, agent: AgentName, generation: Generation, now: Instant) {
        self.uses += 1;
        let uses = self.uses;
        let Some(slot) = self.alive(&agent, generation) else { return };
        match slot.phase {
            Phase::Starting => {
                slot.failure = None;
                slot.phase = Phase::Running(Running::new(uses, now));
            }
            // It was given up, and was ready before it heard of that.
            Phase::Stopping { cause } => {
                let cause = cause.unwrap_or(StopCause::Asked);
                self.effects.push(Effect::Stop { agent, generation, cause });
            }
            _ => {}
        }
    }

    fn failed(&mut self, agent: &AgentName, generation: Generation, error: Arc<StartError>, now: Instant) {
        let backoff = self.rules.backoff.clone();
        let Some(slot) = self.alive(agent, generation) else { return };
        let given_up = matches!(slot.phase, Phase::Stopping { .. });
        slot.phase = Phase::Stopped;
        if !given_up {
            slot.failed(Arc::clone(&error), &backoff, now);
            self.refuse_those_of(agent, ConnectError::Start(error));
        } // Else who still waits for it waits for the next start.
        self.clear_away(agent);
    }

    fn lost(&mut self, agent: &AgentName, generation: Generation, end: End, now: Instant) {
        let backoff = self.rules.backoff.clone();
        let Some(slot) = self.alive(agent, generation) else { return };
        let failure = match &slot.phase {
            Phase::Starting => Some(slot.left_too_soon(end.clone())),
            Phase::Running(running) if now - running.since < backoff.young => Some(slot.left_too_soon(end.clone())),
            Phase::Running(_) => None,
            Phase::Stopping { .. } | Phase::Stopped => return,
        };
        let never_ready = matches!(slot.phase, Phase::Starting);
        slot.end = Some(end);
        slot.phase = Phase::Stopping { cause: None };
        if let Some(error) = failure.map(Arc::new) {
            slot.failed(Arc::clone(&error), &backoff, now);
            if never_ready {
                self.refuse_those_of(agent, ConnectError::Start(error));
            }
        }
    }

    /// Of an agent that was removed and is gone only the number of its last start is kept.
    fn clear_away(&mut self, agent: &AgentName) {
        let is_over = |slot: &Slot| slot.spec.is_none() && matches!(slot.phase, Phase::Stopped);
        if let Some(slot) = self.slots.get(agent).filter(|slot| is_over(slot)) {
            self.past.insert(agent.clone(), slot.generation);
            self.slots.remove(agent);
        }
    }

    fn apply(&mut self, specs: Specs) {
        self.limits = Limits { running: specs.max_running.map(NonZero::get), memory: specs.max_memory };
        self.changed.extend(self.slots.keys().cloned());
        let removed = |name: &&AgentName| !specs.agents.contains_key(*name);
        let removed: Vec<_> = self.slots.keys().filter(removed).cloned().collect();
        for name in removed {
            self.slots.get_mut(&name).into_iter().for_each(Slot::remove);
            self.clear_away(&name);
        }
        for (name, spec) in specs.agents {
            self.changed.insert(name.clone());
            let generation = self.past.remove(&name).unwrap_or_default();
            self.slots.entry(name).or_insert_with(|| Slot { generation, ..Slot::default() }).give(spec);
        }
    }

    fn stop_now(&mut self, agent: &AgentName) {
        self.refuse_those_of(agent, ConnectError::Stopped);
        self.stop(agent, StopCause::Asked);
    }

    fn stop_all(&mut self) {
        self.refuse_all(ConnectError::Stopped);
        let names: Vec<_> = self.slots.keys().cloned().collect();
        names.iter().for_each(|name| self.stop(name, StopCause::Asked));
    }

    /// Stops an agent if it runs or starts. Its leases are worth nothing from here on.
    fn stop(&mut self, agent: &AgentName, cause: StopCause) {
        let Some(slot) = self.slot(agent) else { return };
        if slot.stays() {
            slot.end = Some(End::Stopped(cause));
            slot.phase = Phase::Stopping { cause: Some(cause) };
            let generation = slot.generation;
            self.effects.push(Effect::Stop { agent: agent.clone(), generation, cause });
        }
    }

    /// Stops what should not run any more, busy agents only when they are idle again.
    fn stop_unwanted(&mut self, now: Instant) {
        let unwanted = |(name, slot): (&AgentName, &Slot)| Some((name.clone(), slot.unwanted(now)?));
        let unwanted: Vec<_> = self.slots.iter().filter_map(unwanted).collect();
        unwanted.iter().for_each(|(name, cause)| self.stop(name, *cause));
    }
}
