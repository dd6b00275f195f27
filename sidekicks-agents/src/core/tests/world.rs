//! A world without processes around the core. What it knows comes from the inputs and effects alone, never from what the
//! core thinks, so that it can tell when the core is wrong.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sidekicks_acp::{
    AgentCommand, AgentName, ConnectError, End, Exit, ExitStatus, Generation, StartError, StartFailure, StopCause,
};
use tokio::time::Instant;

use crate::core::{Core, Effect, Input, LeaseId, Returned, Rules, Ticket, Waiter};
use crate::specs::{AgentSpec, Backoff, Specs};

pub(super) const MIB: u64 = 1 << 20;

/// An agent that was started and is not gone.
#[derive(Debug, Clone)]
pub(super) struct Live {
    pub(super) generation: Generation,
    pub(super) command: AgentCommand,
    pub(super) ready: bool,
    pub(super) stopping: bool,
    pub(super) leases: BTreeMap<LeaseId, Option<Arc<str>>>,
    /// When it was ready or last came back, and how many things had happened by then.
    pub(super) rested: (Instant, u64),
    pub(super) memory: Option<u64>,
    pub(super) peak: Option<u64>,
}

impl Live {
    pub(super) fn is_idle(&self) -> bool {
        self.ready && !self.stopping && self.leases.is_empty()
    }
}

pub(super) struct World {
    pub(super) core: Core,
    pub(super) now: Instant,
    begun: Instant,
    pub(super) specs: Specs,
    pub(super) pinned: BTreeMap<AgentName, bool>,
    pub(super) live: BTreeMap<AgentName, Live>,
    pub(super) waiting: Vec<Waiter>,
    pub(super) generations: BTreeMap<AgentName, u64>,
    pub(super) lent: Vec<(AgentName, Generation, LeaseId)>,
    /// How many failed starts of each may count.
    pub(super) failures: BTreeMap<AgentName, usize>,
    tickets: u64,
    things: u64,
    /// What happened, as a person would tell it.
    pub(super) log: Vec<String>,
}

/// How long an aged waiter lets others pass in these tests.
pub(super) const MAX_BYPASS: Duration = Duration::from_secs(10);

impl World {
    pub(super) fn new(specs: Specs) -> Self {
        let now = Instant::now();
        let core = Core::new(Rules { max_bypass: MAX_BYPASS, backoff: Backoff::default() });
        let mut world = Self {
            core,
            now,
            begun: now,
            specs: Specs::new(),
            pinned: BTreeMap::new(),
            live: BTreeMap::new(),
            waiting: Vec::new(),
            generations: BTreeMap::new(),
            lent: Vec::new(),
            failures: BTreeMap::new(),
            tickets: 0,
            things: 0,
            log: Vec::new(),
        };
        world.apply(specs);
        world
    }

    pub(super) fn apply(&mut self, specs: Specs) -> Vec<Effect> {
        for (name, before) in &self.specs.agents {
            if specs.agents.get(name).is_none_or(|spec| spec.command != before.command) {
                self.failures.remove(name);
            }
            if !specs.agents.contains_key(name) {
                self.pinned.remove(name);
            }
        }
        self.specs = specs.clone();
        self.feed(Input::Apply(specs))
    }

    pub(super) fn borrow(&mut self, agent: &str, owner: Option<&str>, patience: Option<Duration>) -> Vec<Effect> {
        self.tickets += 1;
        let waiter = Waiter {
            ticket: Ticket(self.tickets),
            agent: agent.into(),
            owner: owner.map(Into::into),
            since: self.now,
            deadline: patience.map(|patience| self.now + patience),
        };
        self.waiting.push(waiter.clone());
        self.feed(Input::Borrow(waiter))
    }

    pub(super) fn abandon(&mut self, ticket: Ticket) -> Vec<Effect> {
        self.waiting.retain(|waiter| waiter.ticket != ticket);
        self.feed(Input::Abandoned(ticket))
    }

    /// The oldest lease of this agent comes back.
    pub(super) fn give_back(&mut self, agent: &str, how: Returned) -> Vec<Effect> {
        let place = self.lent.iter().position(|(name, ..)| name.as_str() == agent).expect("it was lent");
        self.returned(place, how)
    }

    pub(super) fn returned(&mut self, place: usize, how: Returned) -> Vec<Effect> {
        let (agent, generation, lease) = self.lent.remove(place);
        let rested = self.rested();
        if let Some(live) = self.live.get_mut(&agent)
            && live.leases.remove(&lease).is_some()
        {
            live.rested = rested;
            if how == Returned::Done && !live.stopping {
                self.failures.remove(&agent);
            }
        }
        self.feed(Input::Returned { agent, generation, lease, how })
    }

    pub(super) fn ready(&mut self, agent: &str) -> Vec<Effect> {
        let rested = self.rested();
        let live = self.live.get_mut(&agent.into()).expect("it was started");
        (live.ready, live.rested) = (true, rested);
        let generation = live.generation;
        self.feed(Input::Ready { agent: agent.into(), generation })
    }

    pub(super) fn fail(&mut self, agent: &str) -> Vec<Effect> {
        let live = self.live.remove(&agent.into()).expect("it was started");
        if !live.stopping {
            *self.failures.entry(agent.into()).or_default() += 1;
        }
        let error = Arc::new(StartError::from(StartFailure::TimedOut(Duration::from_secs(1))));
        self.feed(Input::Failed { agent: agent.into(), generation: live.generation, error })
    }

    /// It leaves by itself.
    pub(super) fn crash(&mut self, agent: &str) -> Vec<Effect> {
        let live = self.live.get_mut(&agent.into()).expect("it runs");
        (live.stopping, live.leases) = (true, BTreeMap::new());
        *self.failures.entry(agent.into()).or_default() += 1;
        let (generation, end) = (live.generation, End::Exited(Exit::new(ExitStatus::Code(1), "")));
        self.feed(Input::Lost { agent: agent.into(), generation, end })
    }

    /// What was stopped is gone.
    pub(super) fn gone(&mut self, agent: &str) -> Vec<Effect> {
        let live = self.live.remove(&agent.into()).expect("it runs");
        if !live.ready {
            let error = Arc::new(StartError::from(StartFailure::GivenUp));
            return self.feed(Input::Failed { agent: agent.into(), generation: live.generation, error });
        }
        self.feed(Input::Gone { agent: agent.into(), generation: live.generation })
    }

    pub(super) fn measured(&mut self, agent: &str, bytes: u64) -> Vec<Effect> {
        let live = self.live.get_mut(&agent.into()).expect("it runs");
        live.memory = Some(bytes);
        live.peak = live.peak.max(Some(bytes));
        let generation = live.generation;
        self.feed(Input::Measured { agent: agent.into(), generation, bytes })
    }

    pub(super) fn pin(&mut self, agent: &str, pinned: bool) -> Vec<Effect> {
        if self.specs.agents.contains_key(&agent.into()) {
            self.pinned.insert(agent.into(), pinned);
        }
        self.feed(Input::Pin { agent: agent.into(), pinned })
    }

    pub(super) fn reset(&mut self, agent: &str) -> Vec<Effect> {
        self.failures.remove(&agent.into());
        self.feed(Input::Reset(agent.into()))
    }

    /// Time passes, with every tick that the core asked for on its way.
    pub(super) fn wait(&mut self, time: Duration) -> Vec<Effect> {
        let until = self.now + time;
        let mut effects = Vec::new();
        while let Some(tick) = self.core.next_tick().filter(|&tick| tick <= until) {
            assert!(tick > self.now, "a tick that is over would be asked for without end");
            self.now = tick;
            effects.extend(self.feed(Input::Tick));
        }
        self.now = until;
        effects
    }

    pub(super) fn feed(&mut self, input: Input) -> Vec<Effect> {
        self.things += 1;
        let effects = self.core.handle(input, self.now);
        self.core.changes();
        effects.iter().for_each(|effect| self.happens(effect));
        effects
    }

    fn rested(&self) -> (Instant, u64) {
        (self.now, self.things)
    }

    fn happens(&mut self, effect: &Effect) {
        let at = (self.now - self.begun).as_secs();
        let told = match effect {
            Effect::Start { agent, generation, spec } => {
                let live = Live {
                    generation: *generation,
                    command: spec.command.clone(),
                    ready: false,
                    stopping: false,
                    leases: BTreeMap::new(),
                    rested: self.rested(),
                    memory: None,
                    peak: None,
                };
                assert!(self.live.insert(agent.clone(), live).is_none(), "{agent} is not gone");
                let first = self.waiting.iter().find(|waiter| waiter.agent == *agent).expect("somebody waits for it");
                let is_late = |waiter: &Waiter| waiter.deadline.is_some_and(|deadline| deadline <= self.now);
                let overtaken = |waiter: &Waiter| {
                    waiter.ticket < first.ticket && !self.live.contains_key(&waiter.agent) && !is_late(waiter)
                };
                assert!(!self.waiting.iter().any(overtaken), "{first:?} overtook somebody");
                self.generations.insert(agent.clone(), generation.0);
                format!("{at}s start {agent}#{}", generation.0)
            }
            Effect::Stop { agent, generation, cause } => {
                let live = self.live.get_mut(agent).expect("what is stopped was started");
                assert!(!live.stopping || *cause == StopCause::Asked || !live.ready || live.leases.is_empty());
                (live.stopping, live.leases) = (true, BTreeMap::new());
                format!("{at}s stop {agent}#{} {cause:?}", generation.0)
            }
            Effect::Lend { ticket, agent, generation, lease } => {
                let owner = self.answered(*ticket).owner;
                let live = self.live.get_mut(agent).expect("what is lent was started");
                live.leases.insert(*lease, owner.clone());
                self.lent.push((agent.clone(), *generation, *lease));
                format!("{at}s lend {agent}#{} to {}", generation.0, owner.as_deref().unwrap_or("somebody"))
            }
            Effect::Refuse { ticket, error } => {
                let waiter = self.answered(*ticket);
                let holders = match error {
                    ConnectError::WouldDeadlock => {
                        self.check_circle(&waiter);
                        String::new()
                    }
                    ConnectError::NoRoom { holders } => format!(" {}", holders.join(",")),
                    _ => String::new(),
                };
                let owner = waiter.owner.as_deref().unwrap_or("somebody");
                format!("{at}s refuse {} to {owner}: {}{holders}", waiter.agent, error.code())
            }
        };
        self.log.push(told);
    }

    /// Who is refused holds something, and nobody who could let go of what they waited for does not wait.
    fn check_circle(&self, refused: &Waiter) {
        let Waiter { agent, owner, .. } = refused;
        let holds = |live: &Live| live.leases.values().any(|held| held == owner);
        assert!(owner.is_some() && self.live.values().any(holds), "{owner:?} holds nothing");
        let waits = |held: &Option<Arc<str>>| {
            held == owner || (held.is_some() && self.waiting.iter().any(|waiter| waiter.owner == *held))
        };
        let is_stuck = |live: &Live| live.ready && !live.stopping && live.leases.values().all(waits);
        let full = |live: &&Live| live.leases.len() >= self.specs.agents[agent].turns.get() as usize;
        match self.live.get(agent).filter(full) {
            Some(live) => assert!(is_stuck(live), "somebody lets go of {agent}"),
            None => {
                let others = self.live.iter().filter(|(name, _)| !self.is_pinned(name));
                others.for_each(|(name, live)| assert!(is_stuck(live), "room comes free from {name}"));
            }
        }
    }

    /// Nobody is answered twice.
    fn answered(&mut self, ticket: Ticket) -> Waiter {
        let place = self.waiting.iter().position(|waiter| waiter.ticket == ticket);
        self.waiting.remove(place.expect("who is answered waits"))
    }

    pub(super) fn is_pinned(&self, agent: &AgentName) -> bool {
        self.pinned.get(agent) == Some(&true) || self.specs.agents.get(agent).is_some_and(|spec| spec.pinned)
    }

    /// Whether this runs something else than it should.
    pub(super) fn is_outdated(&self, agent: &AgentName) -> bool {
        self.specs.agents.get(agent).map(|spec| &spec.command) != self.live.get(agent).map(|live| &live.command)
    }

    pub(super) fn is_above_limit(&self, agent: &AgentName) -> bool {
        let limit = self.specs.agents.get(agent).and_then(|spec| spec.memory_limit);
        self.live[agent].memory.zip(limit).is_some_and(|(memory, limit)| memory > limit)
    }

    /// What is counted for an agent, running or to be started.
    pub(super) fn weight(&self, agent: &AgentName) -> u64 {
        let estimate = self.specs.agents.get(agent).and_then(|spec| spec.memory_estimate);
        match self.live.get(agent).and_then(|live| live.peak) {
            Some(peak) => peak.max(estimate.unwrap_or(0)),
            None => estimate.unwrap_or(512 * MIB),
        }
    }

    /// Whether these fit together, and what would be counted for one more.
    pub(super) fn fit<'a>(&self, there: impl IntoIterator<Item = &'a AgentName>, more: &AgentName) -> bool {
        let weights: Vec<_> = there.into_iter().map(|agent| self.weight(agent)).collect();
        let need = self.specs.agents.get(more).and_then(|spec| spec.memory_estimate).unwrap_or(512 * MIB);
        let total = weights.iter().sum::<u64>() + need;
        self.specs.max_running.is_none_or(|most| weights.len() < most.get())
            && (weights.is_empty() || self.specs.max_memory.is_none_or(|most| total <= most))
    }

    /// Whether what runs is too much already.
    pub(super) fn is_too_much<'a>(&self, there: impl IntoIterator<Item = &'a AgentName>) -> bool {
        let weights: Vec<_> = there.into_iter().map(|agent| self.weight(agent)).collect();
        self.specs.max_running.is_some_and(|most| weights.len() > most.get())
            || (weights.len() > 1 && self.specs.max_memory.is_some_and(|most| weights.iter().sum::<u64>() > most))
    }

    pub(super) fn staying(&self) -> Vec<AgentName> {
        self.live.iter().filter(|(_, live)| !live.stopping).map(|(name, _)| name.clone()).collect()
    }

    /// The agents that are waited for and do not run, in the order of those who wait.
    pub(super) fn blocked(&self) -> Vec<AgentName> {
        let mut blocked: Vec<AgentName> = Vec::new();
        for waiter in self.waiting.iter().filter(|waiter| !self.live.contains_key(&waiter.agent)) {
            if !blocked.contains(&waiter.agent) {
                blocked.push(waiter.agent.clone());
            }
        }
        blocked
    }
}

/// A spec that differs from others by the name of its program only.
pub(super) fn spec(program: &str) -> AgentSpec {
    AgentSpec::new(AgentCommand::new(program))
}

/// Agents with default specs.
pub(super) fn agents(names: &[&str], max_running: usize) -> Specs {
    let mut specs = names.iter().fold(Specs::new(), |specs, name| specs.agent(*name, spec(name)));
    specs.max_running = max_running.try_into().ok();
    specs
}
