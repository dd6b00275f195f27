//! Looking at the agents, now and as they change.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sidekicks_acp::AgentName;
use tokio::sync::watch;

use crate::state::AgentState;

/// All agents by name, as they are.
pub(crate) type States = BTreeMap<AgentName, Arc<AgentState>>;

/// Where the newest state of each agent stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Board {
    states: Arc<Mutex<States>>,
}

impl Board {
    pub(crate) fn states(&self) -> MutexGuard<'_, States> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts these up; tells whether there is anything new. An agent without a state was removed.
    pub(crate) fn put(&self, changes: Vec<(AgentName, Option<AgentState>)>) -> bool {
        let mut states = self.states();
        let mut new = false;
        for (name, state) in changes {
            new |= match state {
                Some(state) if states.get(&name).is_some_and(|before| before.is_same(&state)) => false,
                Some(state) => {
                    states.insert(name, Arc::new(state));
                    true
                }
                None => states.remove(&name).is_some(),
            };
        }
        new
    }
}

/// The states of all agents, first as they are and then as they change.
///
/// Each agent's states come in order; what different agents did comes in any order, so two that took turns may seem to run at
/// once. [`Supervisor::states`](crate::Supervisor::states) is one moment of all.
///
/// Made by [`Supervisor::changes`](crate::Supervisor::changes). A slow reader misses states in between and nothing else:
/// how the last start failed, how the last connection and process ended, and the number of the start are part of every
/// state. It holds one state per agent, however long nobody reads, and holds up nobody.
#[derive(Debug)]
pub struct Changes {
    board: Board,
    /// Ends with the supervisor.
    bell: watch::Receiver<()>,
    told: States,
    untold: VecDeque<AgentName>,
}

impl Changes {
    pub(crate) fn new(board: Board, mut bell: watch::Receiver<()>) -> Self {
        bell.mark_changed();
        Self { board, bell, told: States::new(), untold: VecDeque::new() }
    }

    /// The next agent whose state is another than the one that was last told, with its state now; `None` instead of that
    /// where the agent was removed. Agents take turns, so that a lively one does not hide the others.
    ///
    /// `None` once the supervisor is gone. Cancel-safe.
    pub async fn next(&mut self) -> Option<(AgentName, Option<Arc<AgentState>>)> {
        loop {
            while let Some(name) = self.untold.pop_front() {
                let now = self.board.states().get(&name).cloned();
                let before = match &now {
                    Some(state) => self.told.insert(name.clone(), Arc::clone(state)),
                    None => self.told.remove(&name),
                };
                if !is_same(before.as_ref(), now.as_ref()) {
                    return Some((name, now));
                }
            }
            let over = self.bell.changed().await.is_err();
            self.look();
            if over && self.untold.is_empty() {
                return None;
            }
        }
    }

    /// Finds out whose state is another one.
    fn look(&mut self) {
        let states = self.board.states();
        let removed = self.told.keys().filter(|name| !states.contains_key(*name));
        let changed = states.iter().filter(|(name, state)| !is_same(self.told.get(*name), Some(state)));
        self.untold.extend(removed.chain(changed.map(|(name, _)| name)).cloned());
    }
}

fn is_same(one: Option<&Arc<AgentState>>, other: Option<&Arc<AgentState>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}
