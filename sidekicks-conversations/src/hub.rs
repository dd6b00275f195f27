//! Where everything that happens is applied and told, under one lock.

mod follower;
mod log;
mod queues;
mod subscription;
mod weight;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sidekicks_acp::AgentName;
use tokio::sync::Notify;
use tokio::task::coop::consume_budget;

pub use self::follower::Follower;
pub(crate) use self::follower::Room;
use self::log::Log;
use self::queues::Queues;
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
    /// There is something to read, or there never will be again.
    news: Notify,
    /// A queue that was full is not any more.
    room: Notify,
}

struct State {
    conversations: Vec<Arc<Transcript>>,
    /// Those that were forgotten while somebody read, and did not begin anew.
    removed: BTreeSet<AgentName>,
    log: Log,
    queues: Queues,
    /// The hub is gone: nothing happens any more.
    over: bool,
}

/// What there is to read at a moment.
enum Look {
    Event(Arc<Event>),
    Nothing,
    /// Nothing, for ever.
    Over,
}

/// What a backlog may be: at least one event, and not so many that their places alone fill the memory.
const BACKLOGS: RangeInclusive<usize> = 1..=1 << 20;

impl Hub {
    /// A subscriber that is more than `backlog` events behind gets a reset.
    pub(crate) fn new(backlog: usize) -> Self {
        let log = Log::new(backlog.clamp(*BACKLOGS.start(), *BACKLOGS.end()));
        let (conversations, removed) = (Vec::new(), BTreeSet::new());
        let state = State { conversations, removed, log, queues: Queues::default(), over: false };
        Self { shared: Arc::new(Shared { state: Mutex::new(state), news: Notify::new(), room: Notify::new() }) }
    }

    /// A new conversation, with a reset for those who follow already. Nothing where it is there.
    pub(crate) fn add(&self, agent: &AgentName) {
        let mut state = self.shared.lock();
        if state.knows(agent) {
            return;
        }
        let fresh = Arc::new(Transcript::new(agent.clone()));
        state.conversations.push(Arc::clone(&fresh));
        state.removed.remove(agent);
        state.tell(Event::Reset(fresh), 0);
        drop(state);
        self.shared.news.notify_waiters();
    }

    pub(crate) fn knows(&self, agent: &AgentName) -> bool {
        self.shared.lock().knows(agent)
    }

    /// A conversation is forgotten; that is told by a reset, too.
    pub(crate) fn remove(&self, agent: &AgentName) {
        let mut state = self.shared.lock();
        if state.knows(agent) {
            state.conversations.retain(|known| known.agent != *agent);
            state.removed.insert(agent.clone());
            state.tell(Event::Reset(Arc::new(Transcript::forgotten(agent.clone()))), 0);
            drop(state);
            self.shared.news.notify_waiters();
        }
    }

    /// The only way in which a conversation changes: what happens is applied and told together.
    pub(crate) fn publish(&self, event: Event) {
        let mut state = self.shared.lock();
        let followed = state.is_followed();
        let Some(known) = state.conversations.iter_mut().find(|known| known.agent == *event.agent()) else { return };
        let weight = if followed { weight::brought(&event, known) } else { 0 };
        Arc::make_mut(known).apply(&event);
        state.tell(event, weight);
        drop(state);
        // Outside the lock, so that those who wake can have it.
        if followed {
            self.shared.news.notify_waiters();
        }
    }

    /// Where nobody holds it, what comes next copies nothing; else it copies the list of messages once.
    pub(crate) fn transcript(&self, agent: &AgentName) -> Arc<Transcript> {
        self.shared.lock().transcript(agent)
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription::new(Arc::clone(&self.shared))
    }

    pub(crate) fn follow(&self, agent: &AgentName) -> Follower {
        Follower::new(Arc::clone(&self.shared), agent)
    }

    /// Tells whether those who follow this agent have room for more.
    pub(crate) fn room(&self, agent: &AgentName) -> Room {
        Room { shared: Arc::clone(&self.shared), agent: agent.clone() }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.news.notify_waiters();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `look` finds, once there is something. Cancel-safe: there is no waiting after a find.
    async fn read(&self, mut look: impl FnMut(&mut State) -> Look) -> Option<Arc<Event>> {
        // A reader that has much to read must not keep others from running.
        consume_budget().await;
        loop {
            // Made before we look, so that it hears of everything that we do not see.
            let news = self.news.notified();
            let found = look(&mut self.lock());
            match found {
                Look::Event(event) => return Some(event),
                Look::Nothing => news.await,
                Look::Over => return None,
            }
        }
    }
}

impl State {
    fn transcript(&self, agent: &AgentName) -> Arc<Transcript> {
        let found = self.conversations.iter().find(|known| known.agent == *agent);
        found.map_or_else(|| Arc::new(Transcript::forgotten(agent.clone())), Arc::clone)
    }

    fn knows(&self, agent: &AgentName) -> bool {
        self.conversations.iter().any(|known| known.agent == *agent)
    }

    fn is_followed(&self) -> bool {
        self.log.has_readers() || !self.queues.are_empty()
    }

    fn tell(&mut self, event: Event, weight: usize) {
        if self.is_followed() {
            let event = Arc::new(event);
            self.queues.push(&event, weight);
            if self.log.has_readers() {
                self.log.push(event, weight);
            }
        }
    }
}

impl Look {
    fn at(event: Option<Arc<Event>>, over: bool) -> Self {
        match event {
            Some(event) => Self::Event(event),
            None if over => Self::Over,
            None => Self::Nothing,
        }
    }
}
