//! What holds whatever happens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use sidekicks_acp::{AgentName, ConnectError, Generation, StopCause};

use super::world::{Live, MAX_BYPASS, MIB, World, spec};
use crate::core::{Effect, Input, LeaseId, Returned, Waiter};
use crate::specs::Specs;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const OWNERS: [Option<&str>; 4] = [None, Some("x"), Some("y"), Some("z")];

/// Something that may happen. What cannot at that moment is passed over.
#[derive(Debug, Clone)]
enum Act {
    Borrow { agent: usize, owner: usize, patience: Option<u64> },
    Abandon(usize),
    Return { place: usize, condemned: bool },
    Ready(usize),
    Fail(usize),
    Crash(usize),
    Gone(usize),
    Wait(u64),
    Measure { agent: usize, mebibytes: u64 },
    Change { agent: usize, to: Change },
    Limit { running: usize, mebibytes: u64 },
    Pin { agent: usize, pinned: bool },
    Reset(usize),
    Stop(usize),
    StopAll,
}

#[derive(Debug, Clone)]
enum Change {
    Removed,
    Program(u8),
    Turns(u32),
    Estimate(u64),
    Limit(u64),
    IdleAfter(Option<u64>),
}

fn act() -> impl Strategy<Value = Act> {
    let agent = || 0..NAMES.len();
    let seconds = || prop_oneof![0..3u64, 0..40u64];
    let change = prop_oneof![
        Just(Change::Removed),
        (0..2u8).prop_map(Change::Program),
        (1..3u32).prop_map(Change::Turns),
        (1..1500u64).prop_map(Change::Estimate),
        (1..1500u64).prop_map(Change::Limit),
        proptest::option::of(1..30u64).prop_map(Change::IdleAfter),
    ];
    prop_oneof![
        8 => (agent(), 0..OWNERS.len(), proptest::option::weighted(0.2, seconds()))
            .prop_map(|(agent, owner, patience)| Act::Borrow { agent, owner, patience }),
        1 => (0..9usize).prop_map(Act::Abandon),
        6 => (0..9usize, proptest::bool::weighted(0.1)).prop_map(|(place, condemned)| Act::Return { place, condemned }),
        6 => agent().prop_map(Act::Ready),
        1 => agent().prop_map(Act::Fail),
        1 => agent().prop_map(Act::Crash),
        6 => agent().prop_map(Act::Gone),
        4 => seconds().prop_map(Act::Wait),
        3 => (agent(), 1..1500u64).prop_map(|(agent, mebibytes)| Act::Measure { agent, mebibytes }),
        1 => (agent(), change).prop_map(|(agent, to)| Act::Change { agent, to }),
        1 => (0..5usize, 0..3000u64).prop_map(|(running, mebibytes)| Act::Limit { running, mebibytes }),
        1 => (agent(), any::<bool>()).prop_map(|(agent, pinned)| Act::Pin { agent, pinned }),
        1 => agent().prop_map(Act::Reset),
        1 => agent().prop_map(Act::Stop),
        1 => Just(Act::StopAll),
    ]
}

impl World {
    fn is_live(&self, agent: &str, is: impl Fn(&Live) -> bool) -> bool {
        self.live.get(&agent.into()).is_some_and(is)
    }

    /// Does it, if it can happen; gives what follows from it.
    fn act(&mut self, act: &Act) -> Option<Vec<Effect>> {
        Some(match *act {
            Act::Borrow { agent, owner, patience } => {
                self.borrow(NAMES[agent], OWNERS[owner], patience.map(Duration::from_secs))
            }
            Act::Abandon(place) => self.abandon(self.waiting.get(place)?.ticket),
            Act::Return { place, condemned } => {
                let how = if condemned { Returned::Condemned } else { Returned::Done };
                self.lent.get(place)?;
                self.returned(place, how)
            }
            // A start that was given up may succeed all the same.
            Act::Ready(agent) if self.is_live(NAMES[agent], |live| !live.ready) => self.ready(NAMES[agent]),
            Act::Fail(agent) if self.is_live(NAMES[agent], |live| !live.ready) => self.fail(NAMES[agent]),
            Act::Crash(agent) if self.is_live(NAMES[agent], |live| live.ready && !live.stopping) => {
                self.crash(NAMES[agent])
            }
            Act::Gone(agent) if self.is_live(NAMES[agent], |live| live.stopping) => self.gone(NAMES[agent]),
            Act::Wait(seconds) => self.wait(Duration::from_secs(seconds)),
            Act::Measure { agent, mebibytes } if self.is_live(NAMES[agent], |live| live.ready) => {
                self.measured(NAMES[agent], mebibytes * MIB)
            }
            Act::Change { agent, ref to } => {
                let mut specs = self.specs.clone();
                let spec = specs.agents.entry(NAMES[agent].into()).or_insert_with(|| spec("program"));
                match *to {
                    Change::Removed => drop(specs.agents.remove(&NAMES[agent].into())),
                    Change::Program(number) => spec.command.program = format!("program {number}").into(),
                    Change::Turns(turns) => spec.turns = turns.try_into().ok()?,
                    Change::Estimate(mebibytes) => spec.memory_estimate = Some(mebibytes * MIB),
                    Change::Limit(mebibytes) => spec.memory_limit = Some(mebibytes * MIB),
                    Change::IdleAfter(seconds) => spec.idle_timeout = seconds.map(Duration::from_secs),
                }
                self.apply(specs)
            }
            Act::Limit { running, mebibytes } => {
                let mut specs = self.specs.clone();
                specs.max_running = running.try_into().ok();
                specs.max_memory = (mebibytes > 500).then_some(mebibytes * MIB);
                self.apply(specs)
            }
            Act::Pin { agent, pinned } => self.pin(NAMES[agent], pinned),
            Act::Reset(agent) => self.reset(NAMES[agent]),
            Act::Stop(agent) => self.feed(Input::Stop(NAMES[agent].into())),
            Act::StopAll => self.feed(Input::StopAll),
            _ => return None,
        })
    }

    /// What may not have been done.
    fn check_done(&self, before: &Before, act: &Act, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Start { agent, generation, .. } => {
                    let last = before.generations.get(agent).copied().unwrap_or(0);
                    assert_eq!(generation.0, last + 1, "{agent}");
                    assert!(self.specs.agents.contains_key(agent));
                    let others = self.live.keys().filter(|name| *name != agent);
                    assert!(self.fit(others, agent), "{agent} does not fit");
                }
                Effect::Stop { agent, cause, .. } => self.check_stop(before, act, agent, *cause),
                Effect::Lend { ticket, agent, generation, .. } => {
                    let overtaken = |waiter: &Waiter| waiter.agent == *agent && waiter.ticket < *ticket;
                    assert!(!self.waiting.iter().any(overtaken), "somebody who waits for {agent} was overtaken");
                    let live = &self.live[agent];
                    assert!(live.ready && live.generation == *generation && !self.is_outdated(agent));
                    assert!(live.leases.len() <= self.specs.agents[agent].turns.get() as usize);
                }
                Effect::Refuse { ticket, error } => {
                    let waiter = before.waiting.iter().find(|waiter| waiter.ticket == *ticket);
                    match error {
                        ConnectError::Start(_) if matches!(act, Act::Fail(_)) => {}
                        ConnectError::Start(_) | ConnectError::NoRoom { .. } => {
                            // Who has just come with no time at all is not among those who waited before.
                            assert!(waiter.is_none_or(|waiter| waiter.deadline.is_some_and(|end| end <= self.now)));
                        }
                        ConnectError::Stopped => assert!(matches!(act, Act::Stop(_) | Act::StopAll)),
                        ConnectError::Backoff { last: _, retry_after } => {
                            assert!(*retry_after <= Duration::from_secs(600) && !retry_after.is_zero());
                            let agent = match act {
                                Act::Borrow { agent, .. } if waiter.is_none() => NAMES[*agent].into(),
                                _ => waiter.expect("they waited").agent.clone(),
                            };
                            assert!(self.failures.get(&agent).is_some_and(|&failures| failures >= 3), "{agent}");
                        }
                        ConnectError::TooLarge => {
                            assert!(NAMES.iter().any(|name| self.is_pinned(&(*name).into())));
                        }
                        ConnectError::Unknown | ConnectError::WouldDeadlock => {} // The second is looked at when it happens.
                        other => panic!("{other}"),
                    }
                }
            }
        }
        self.check_room_made(effects);
    }

    fn check_stop(&self, before: &Before, act: &Act, agent: &AgentName, cause: StopCause) {
        let given_back = match act {
            Act::Return { place, .. } => before.lent.get(*place).is_some_and(|(name, ..)| name == agent),
            _ => false,
        };
        let leases = before.live.get(agent).map_or(0, |live| live.leases.len());
        let idle = leases == usize::from(given_back) || leases == 0;
        match cause {
            StopCause::Asked => assert!(matches!(act, Act::Stop(_) | Act::StopAll | Act::Ready(_))),
            StopCause::Condemned => assert!(matches!(act, Act::Return { condemned: true, .. } | Act::Ready(_))),
            StopCause::Reload => assert!(self.is_outdated(agent) && idle || matches!(act, Act::Ready(_))),
            StopCause::Memory => assert!(self.is_above_limit(agent) && idle),
            StopCause::Room => assert!(idle && !self.is_pinned(agent)),
            StopCause::Idle => {
                let after = self.specs.agents[agent].idle_timeout.expect("it has an idle time");
                assert!(idle && !self.is_pinned(agent) && self.live[agent].rested.0 + after <= self.now);
            }
            other => panic!("{other:?}"),
        }
    }

    /// Those who made room were the least recently used ones, and not one too many.
    fn check_room_made(&self, effects: &[Effect]) {
        let victim = |effect: &Effect| match effect {
            Effect::Stop { agent, cause: StopCause::Room, .. } => Some(agent.clone()),
            _ => None,
        };
        let victims: Vec<_> = effects.iter().filter_map(victim).collect();
        let used = |agent: &AgentName| self.live[agent].rested.1;
        let Some(last) = victims.iter().max_by_key(|agent| used(agent)) else { return };
        let idle = self.live.iter().filter(|(name, live)| live.is_idle() && !self.is_pinned(name));
        assert!(idle.clone().all(|(name, _)| used(name) >= used(last)), "{last} was used later than another one");
        let with = self.served_without(&[]);
        let without = self.served_without(std::slice::from_ref(last));
        let staying = self.staying();
        assert!(with > without || self.is_too_much(staying.iter().chain([last])), "{last} was stopped for nobody");
    }

    /// How many of those who wait for room get it when everything that is stopping is gone but these.
    fn served_without(&self, kept: &[AgentName]) -> usize {
        let mut there = self.staying();
        there.extend_from_slice(kept);
        let blocked = self.blocked();
        let fits = |agent: AgentName| {
            let fits = self.fit(there.iter(), &agent);
            there.push(agent);
            fits
        };
        blocked.into_iter().map(fits).take_while(|fits| *fits).count()
    }

    /// What must not be left undone.
    fn check_undone(&self) {
        assert!(self.core.next_tick().is_none_or(|tick| tick > self.now));
        let blocked = self.blocked();
        let aged = self
            .waiting
            .iter()
            .position(|waiter| blocked.first() == Some(&waiter.agent) && waiter.since + MAX_BYPASS <= self.now);
        for (place, waiter) in self.waiting.iter().enumerate() {
            assert!(waiter.deadline.is_none_or(|deadline| deadline > self.now), "{waiter:?} is late");
            let spec = self.specs.agents.get(&waiter.agent).expect("nobody waits for an agent that is not there");
            let Some(live) = self.live.get(&waiter.agent).filter(|live| live.ready && !live.stopping) else { continue };
            let free = live.leases.len() < spec.turns.get() as usize && !self.is_outdated(&waiter.agent);
            let stays_behind = aged.is_some_and(|aged| aged < place) && !self.is_pinned(&waiter.agent);
            let to_be_stopped = live.leases.is_empty() && self.is_above_limit(&waiter.agent);
            assert!(!free || stays_behind || to_be_stopped, "{waiter:?} could be served");
        }
        self.check_room();
        for (name, live) in self.live.iter().filter(|(_, live)| live.is_idle()) {
            let after = self.specs.agents.get(name).and_then(|spec| spec.idle_timeout);
            let over = after.is_some_and(|after| live.rested.0 + after <= self.now);
            assert!(!self.is_outdated(name) && !self.is_above_limit(name) && (!over || self.is_pinned(name)), "{name}");
        }
    }

    /// Room is made for all for whom it can be made, and nobody waits for what never comes.
    fn check_room(&self) {
        let mut there = self.staying();
        let is_victim = |name: &AgentName| self.live.get(name).is_some_and(Live::is_idle) && !self.is_pinned(name);
        let pinned: Vec<_> = there.iter().filter(|name| self.is_pinned(name)).cloned().collect();
        assert!(!self.is_too_much(&there) || !there.iter().any(is_victim), "somebody should go");
        let blocked = self.blocked();
        if let Some(first) = blocked.first() {
            assert!(!self.fit(self.live.keys(), first), "{first} could start");
        }
        for agent in &blocked {
            assert!(self.fit(&pinned, agent), "{agent} waits in vain");
        }
        for agent in blocked {
            if !self.fit(&there, &agent) {
                let kept = there.iter().filter(|name| !is_victim(name));
                assert!(!self.fit(kept, &agent), "nobody made room for {agent}");
                return;
            }
            there.push(agent);
        }
    }

    /// Everything gets on, and everybody lets go who does not wait themselves, until nobody waits.
    fn come_to_rest(&mut self) {
        for _ in 0..2_000 {
            if self.waiting.is_empty() {
                return;
            }
            let waits =
                |owner: &Option<Arc<str>>| owner.is_some() && self.waiting.iter().any(|waiter| waiter.owner == *owner);
            let lets_go = |(agent, _, lease): &(AgentName, _, _)| {
                !self.live.get(agent).and_then(|live| live.leases.get(lease)).is_some_and(waits)
            };
            if let Some(place) = self.lent.iter().position(lets_go) {
                self.returned(place, Returned::Done);
            } else if let Some((name, live)) = self.live.iter().find(|(_, live)| live.stopping || !live.ready) {
                let name = name.to_string();
                if live.stopping {
                    self.gone(&name)
                } else {
                    self.ready(&name)
                };
            } else {
                let tick = self.core.next_tick().expect("somebody waits for nothing");
                self.wait(tick - self.now);
            }
            self.check_undone();
        }
        panic!("they wait for ever: {:?}", self.waiting);
    }
}

/// What was known before something happened.
struct Before {
    live: BTreeMap<AgentName, Live>,
    generations: BTreeMap<AgentName, u64>,
    waiting: Vec<Waiter>,
    lent: Vec<(AgentName, Generation, LeaseId)>,
}

fn specs() -> impl Strategy<Value = Specs> {
    let estimates = vec(proptest::option::of(1..1500u64), NAMES.len());
    let limits = (0..5usize, proptest::option::of(600..3000u64), estimates);
    limits.prop_map(|(running, mebibytes, estimates)| {
        let mut specs = Specs::new();
        for (name, estimate) in NAMES.iter().zip(estimates) {
            let mut spec = spec("program 0");
            spec.memory_estimate = estimate.map(|mebibytes| mebibytes * MIB);
            specs = specs.agent(*name, spec);
        }
        specs.max_running = running.try_into().ok();
        specs.max_memory = mebibytes.map(|mebibytes| mebibytes * MIB);
        specs
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing is done that may not be, nothing is left undone that can be, and in the end everybody was answered.
    #[test]
    fn everybody_is_answered_and_no_rule_is_broken(specs in specs(), acts in vec(act(), 1..120)) {
        let mut world = World::new(specs);
        for act in &acts {
            let before = Before {
                live: world.live.clone(),
                generations: world.generations.clone(),
                waiting: world.waiting.clone(),
                lent: world.lent.clone(),
            };
            let Some(effects) = world.act(act) else { continue };
            world.check_done(&before, act, &effects);
            world.check_undone();
        }
        world.come_to_rest();
        world.feed(Input::Close);
        let names: Vec<_> = world.live.keys().map(ToString::to_string).collect();
        names.iter().for_each(|name| drop(world.gone(name)));
        prop_assert!(world.core.is_still() && world.live.is_empty());
    }
}
