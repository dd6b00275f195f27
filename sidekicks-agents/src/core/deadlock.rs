//! Whether those who wait do so for one another.

use std::sync::Arc;

use super::Core;
use super::queue::{Wait, Waiter};
use super::slot::{Phase, Slot};

impl Core {
    /// Refuses the youngest of those who hold something and wait in a circle; tells whether there was one.
    ///
    /// Somebody is served one day if something is starting or stopping already, or if one of those who hold what they
    /// wait for will let go of it: who waits for nothing here, is not known, or is served one day themselves.
    pub(super) fn break_deadlock(&mut self) -> bool {
        if self.queue.is_empty() {
            return false;
        }
        let mut stuck: Vec<&Waiter> = self.queue.iter().collect();
        loop {
            let before = stuck.len();
            let served: Vec<_> = stuck.iter().map(|waiter| self.is_served(waiter, &stuck)).collect();
            let mut served = served.into_iter();
            stuck.retain(|_| !served.next().unwrap_or(true));
            if stuck.len() == before {
                break;
            }
        }
        let youngest = stuck.into_iter().rev().find(|waiter| self.holds_something(waiter));
        let Some(ticket) = youngest.map(|waiter| waiter.ticket) else { return false };
        self.refuse(ticket, sidekicks_acp::ConnectError::WouldDeadlock);
        true
    }

    /// Whether somebody will be served, as far as is known, when all of `stuck` are not.
    fn is_served(&self, waiter: &Waiter, stuck: &[&Waiter]) -> bool {
        let lets_go = |owner: &Option<Arc<str>>| owner.is_none() || stuck.iter().all(|waiter| waiter.owner != *owner);
        let one_lets_go = |slot: &Slot| match &slot.phase {
            Phase::Running(running) => running.leases.values().any(lets_go),
            Phase::Starting | Phase::Stopping { .. } => true,
            Phase::Stopped => false,
        };
        match self.waits_for(waiter) {
            Wait::Change => true,
            Wait::Turn => self.slots.get(&waiter.agent).is_some_and(one_lets_go),
            Wait::Room => self.slots.values().filter(|slot| !slot.is_pinned()).any(one_lets_go),
        }
    }

    fn holds_something(&self, waiter: &Waiter) -> bool {
        let holds = |slot: &Slot| match &slot.phase {
            Phase::Running(running) => running.leases.values().any(|owner| *owner == waiter.owner),
            _ => false,
        };
        waiter.owner.is_some() && self.slots.values().any(holds)
    }
}
