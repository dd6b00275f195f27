//! How many agents fit, and who makes room for others.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use sidekicks_acp::{AgentName, StopCause};

use super::Core;
use super::queue::Blocked;
use super::slot::{Phase, Slot};

/// What all agents together may use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    pub(super) running: Option<usize>,
    /// In bytes.
    pub(super) memory: Option<u64>,
}

/// What some agents use together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load {
    running: usize,
    memory: u64,
}

impl Load {
    pub(super) fn add(&mut self, memory: u64) {
        self.running += 1;
        self.memory = self.memory.saturating_add(memory);
    }

    fn take(&mut self, memory: u64) {
        self.running -= 1;
        self.memory = self.memory.saturating_sub(memory);
    }

    fn of<'s>(slots: impl Iterator<Item = &'s Slot>) -> Self {
        let mut load = Self::default();
        slots.for_each(|slot| load.add(slot.reserved()));
        load
    }
}

impl Limits {
    /// Whether one more agent fits beside `load`. One alone always does.
    pub(super) fn fits(self, load: Load, need: u64) -> bool {
        let number = self.running.is_none_or(|most| load.running < most);
        let memory = self.memory.is_none_or(|most| load.memory.saturating_add(need) <= most);
        number && (memory || load.running == 0)
    }

    /// Whether `load` is too much already.
    fn exceeded_by(self, load: Load) -> bool {
        let number = self.running.is_some_and(|most| load.running > most);
        let memory = self.memory.is_some_and(|most| load.memory > most);
        number || (memory && load.running > 1)
    }
}

impl Core {
    /// What is used by all that are not yet gone.
    pub(super) fn load(&self) -> Load {
        Load::of(self.slots.values().filter(|slot| !matches!(slot.phase, Phase::Stopped)))
    }

    /// What is used by those that never make room: who does not fit beside them waits in vain.
    pub(super) fn pinned_load(&self) -> Load {
        Load::of(self.slots.values().filter(|slot| slot.stays() && slot.is_pinned()))
    }

    /// Stops idle agents, the least recently used first: as many as it takes for those who wait for room, and no more.
    pub(super) fn make_room(&mut self, blocked: &Blocked) {
        // Those that are stopping already leave their room to whoever waits.
        let mut load = Load::of(self.slots.values().filter(|slot| slot.stays()));
        if blocked.agents.is_empty() && !self.limits.exceeded_by(load) {
            return;
        }
        let mut victims = self.victims();
        while self.limits.exceeded_by(load)
            && let Some((victim, reserved)) = victims.pop()
        {
            load.take(reserved);
            self.stop(&victim, StopCause::Room);
        }
        let mut waited_for = BTreeSet::new();
        for agent in blocked.agents.iter().filter(|agent| waited_for.insert(*agent)) {
            let need = self.slots.get(agent).map_or(0, Slot::need);
            let (mut with, mut enough) = (load, victims.len());
            while !self.limits.fits(with, need) && enough > 0 {
                enough -= 1;
                with.take(victims[enough].1);
            }
            if !self.limits.fits(with, need) {
                return; // Stopping idle ones would not do; those behind have to wait for this one.
            }
            for (victim, _) in victims.split_off(enough).into_iter().rev() {
                self.stop(&victim, StopCause::Room);
            }
            load = with;
            load.add(need);
        }
    }

    /// Who may be stopped to make room, with what is counted for them; the least recently used is the last.
    fn victims(&self) -> Vec<(AgentName, u64)> {
        let evictable = self.slots.iter().filter(|(_, slot)| !slot.is_pinned());
        let mut idle: Vec<_> = evictable.filter_map(|(name, slot)| Some((slot.idle()?.used, name, slot))).collect();
        idle.sort_unstable_by_key(|&(used, ..)| Reverse(used));
        idle.into_iter().map(|(_, name, slot)| (name.clone(), slot.reserved())).collect()
    }
}
