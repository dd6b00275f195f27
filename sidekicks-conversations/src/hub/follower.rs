//! Following one conversation without missing anything.

use std::fmt;
use std::sync::Arc;

use sidekicks_acp::AgentName;

use super::queues::QueueKey;
use super::{Look, Shared};
use crate::event::Event;

/// The events of one conversation, each of them, in order.
///
/// First comes a reset, then everything that happens. Unlike a [`Subscription`](crate::Subscription) it never gets another
/// reset for being slow: once about 1,024 events or 4 MiB are unread, the conversation stops listening to its agent, so
/// that the agent waits, until half of them are read. What a person does is heard meanwhile; a turn that is cancelled is
/// heard to its end at once. Other conversations are not held
/// up, but for the room that this agent keeps meanwhile: its turn is not over, nor is [`idle`](crate::Conversation::idle). A question to the agent that comes meanwhile, as
/// [`set_mode`](crate::Conversation::set_mode), waits too: after 30 seconds of that the turn is given up
/// (`reader-stalled`). Once the conversation is forgotten a reset says so. Dropping it lets the agent go on.
pub struct Follower {
    shared: Arc<Shared>,
    key: QueueKey,
}

impl Follower {
    pub(super) fn new(shared: Arc<Shared>, agent: &AgentName) -> Self {
        // As it is, and what comes after it: under one lock, so that nothing is between them.
        let mut state = shared.lock();
        let reset = Arc::new(Event::Reset(state.transcript(agent)));
        let key = state.queues.join(agent.clone(), reset);
        drop(state);
        Self { shared, key }
    }

    /// The next event; `None` when there can be none any more. Cancel-safe.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        let Self { shared, key } = self;
        shared
            .read(|state| {
                let (event, room) = state.queues.pop(*key);
                if room {
                    shared.room.notify_waiters();
                }
                Look::at(event, state.over)
            })
            .await
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.shared.lock().queues.leave(self.key);
        self.shared.room.notify_waiters();
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").finish_non_exhaustive()
    }
}

/// Whether there is room for more of what an agent says. It keeps no conversation alive.
pub(crate) struct Room {
    pub(super) shared: Arc<Shared>,
    pub(super) agent: AgentName,
}

impl Room {
    /// Whether somebody who follows has much to read, so that the agent is to wait.
    pub(crate) fn is_full(&self) -> bool {
        self.shared.lock().queues.are_full(&self.agent)
    }

    /// Waits until it is not full. Cancel-safe.
    pub(crate) async fn made(&self) {
        loop {
            // Made before we look, so that it hears of everything that we do not see.
            let room = self.shared.room.notified();
            if !self.is_full() {
                return;
            }
            room.await;
        }
    }
}
