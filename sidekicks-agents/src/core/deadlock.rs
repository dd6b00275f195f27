//! Whether those who wait do so for one another.

use std::collections::HashSet;

use sidekicks_acp::ConnectError;

use super::Core;
use super::queue::{Wait, Waiter};
use super::slot::{Phase, Slot};

impl Core {
    /// Refuses the youngest of those who hold something and wait in a circle; tells whether there was one.
    ///
    /// Somebody is served one day if something is starting or stopping already, or if one of those who hold what they
    /// wait for will let go of it: who waits for nothing here, is not known, or is served one day themselves.
    pub(super) fn break_deadlock(&mut self) -> bool {
        let leases = self.slots.values().filter_map(Slot::running).flat_map(|running| running.leases.values());
        let holders: HashSet<&str> = leases.flatten().map(|owner| &**owner).collect();
        let holds = |waiter: &&Waiter| waiter.owner.as_deref().is_some_and(|owner| holders.contains(owner));
        if !self.queue.iter().any(|waiter| holds(&waiter)) {
            return false; // Mostly so.
        }
        let mut stuck: Vec<&Waiter> = self.queue.iter().collect();
        loop {
            let before = stuck.len();
            let owners: HashSet<&str> = stuck.iter().filter_map(|waiter| waiter.owner.as_deref()).collect();
            let room = self.slots.values().any(|slot| !slot.is_pinned() && one_lets_go(slot, &owners));
            stuck.retain(|waiter| !match self.waits_for(waiter) {
                Wait::Change => true,
                Wait::Turn => self.slots.get(&waiter.agent).is_some_and(|slot| one_lets_go(slot, &owners)),
                Wait::Room => room,
            });
            if stuck.len() == before {
                break;
            }
        }
        let Some(ticket) = stuck.into_iter().rev().find(holds).map(|waiter| waiter.ticket) else { return false };
        self.refuse(ticket, ConnectError::WouldDeadlock);
        true
    }
}

/// Whether something of this agent comes free although all of `stuck` wait for ever.
fn one_lets_go(slot: &Slot, stuck: &HashSet<&str>) -> bool {
    match &slot.phase {
        Phase::Running(running) => {
            running.leases.values().any(|owner| owner.as_deref().is_none_or(|owner| !stuck.contains(owner)))
        }
        Phase::Starting | Phase::Stopping { .. } => true,
        Phase::Stopped => false,
    }
}
