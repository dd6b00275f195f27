//! Where everything that happens is applied and told, under one lock.

mod log;
mod subscription;
mod weight;

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sidekicks_acp::AgentName;
use tokio::sync::Notify;

use self::log::Log;
pub use self::subscription::Subscription;
use crate::event::Event;
use crate::transcript::Transcript;

/// All conversations as they are, and who follows them.
pub(crate) struct Hub {
    shared: Arc<Shared>,
}

/// What the hub and those who follow have in common.
struct Shared {
    state: Mutex<State>,
    /// There is something in the log, or there never will be again.
    news: Notify,
}

struct State {
    transcripts: Vec<Arc<Transcript>>,
    log: Log,
    /// The hub is gone: nothing happens any more.
    over: bool,
}

/// What a backlog may be: at least one event, and not so many that their places alone fill the memory.
const BACKLOGS: RangeInclusive<usize> = 1..=1 << 20;

impl Hub {
    /// A subscriber that is more than `backlog` events behind gets a reset.
    pub(crate) fn new(backlog: usize) -> Self {
        let log = Log::new(backlog.clamp(*BACKLOGS.start(), *BACKLOGS.end()));
        let state = Mutex::new(State { transcripts: Vec::new(), log, over: false });
        Self { shared: Arc::new(Shared { state, news: Notify::new() }) }
    }

    /// A new conversation, with a reset for those who follow already. Nothing where it is there.
    pub(crate) fn add(&self, agent: &AgentName) {
        let mut state = self.shared.lock();
        if state.find(agent).is_some() {
            return;
        }
        let transcript = Arc::new(Transcript::new(agent.clone()));
        state.transcripts.push(Arc::clone(&transcript));
        let told = state.tell(Event::Reset(transcript), 0);
        drop(state);
        self.shared.wake(told);
    }

    pub(crate) fn knows(&self, agent: &AgentName) -> bool {
        self.shared.lock().find(agent).is_some()
    }

    /// A conversation is forgotten; that is told by a reset, too.
    pub(crate) fn remove(&self, agent: &AgentName) {
        let mut state = self.shared.lock();
        if state.find(agent).is_some() {
            state.transcripts.retain(|transcript| transcript.agent != *agent);
            let told = state.tell(Event::Reset(Arc::new(forgotten(agent))), 0);
            drop(state);
            self.shared.wake(told);
        }
    }

    /// The only way in which a conversation changes: what happens is applied and told together.
    pub(crate) fn publish(&self, event: Event) {
        let mut state = self.shared.lock();
        let Some(transcript) = state.transcripts.iter_mut().find(|transcript| transcript.agent == *event.agent())
        else {
            return;
        };
        let weight = weight::brought(&event, transcript);
        Arc::make_mut(transcript).apply(&event);
        let told = state.tell(event, weight);
        drop(state);
        self.shared.wake(told);
    }

    pub(crate) fn transcript(&self, agent: &AgentName) -> Arc<Transcript> {
        let found = self.shared.lock().find(agent).map(Arc::clone);
        found.unwrap_or_else(|| Arc::new(forgotten(agent)))
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription::new(Arc::clone(&self.shared))
    }
}

/// What is left of a conversation that was forgotten.
fn forgotten(agent: &AgentName) -> Transcript {
    Transcript { removed: true, ..Transcript::new(agent.clone()) }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.wake(true);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Outside the lock, so that those who wake can have it.
    fn wake(&self, told: bool) {
        if told {
            self.news.notify_waiters();
        }
    }
}

impl State {
    fn find(&self, agent: &AgentName) -> Option<&Arc<Transcript>> {
        self.transcripts.iter().find(|transcript| transcript.agent == *agent)
    }

    /// `false` where there is nobody to tell.
    fn tell(&mut self, event: Event, weight: usize) -> bool {
        let told = self.log.has_readers();
        if told {
            self.log.push(Arc::new(event), weight);
        }
        told
    }
}
