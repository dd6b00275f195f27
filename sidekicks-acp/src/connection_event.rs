//! What an agent says that belongs to no session.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::raw::RawJson;
use crate::session::{ElicitationRequest, QuestionId};

/// Something that the agent says outside of every session, see [`AgentConnection::event`](crate::AgentConnection::event).
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectionEvent {
    /// A notification that is not in the protocol, or not in version 1 of it.
    Notification(Notification),
    /// The agent asks the user for something on behalf of a call, a login say. The request carries its own reply.
    Elicitation(ElicitationRequest),
    /// The agent took a question back that was delivered before; an answer reaches nobody.
    Withdrawn(QuestionId),
}

/// A notification as the agent wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notification {
    /// Its method.
    pub method: String,
    /// Its parameters; `null` where it has none.
    pub params: RawJson,
}

impl Notification {
    /// A notification, for connections of your own making.
    pub fn new(method: impl Into<String>, params: RawJson) -> Self {
        Self { method: method.into(), params }
    }
}

/// Most embedders never look, so what is kept has a bound: the newest.
const MAX: usize = 1_000;
const MAX_BYTES: usize = 1 << 20;

/// The events of a connection that nobody took yet.
#[derive(Debug, Default)]
pub(crate) struct ConnectionEvents {
    state: Mutex<State>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Each with what it counts for, in bytes.
    events: VecDeque<(ConnectionEvent, usize)>,
    bytes: usize,
}

impl ConnectionEvents {
    /// Adds an event; tells how many older ones had to go for it.
    pub(crate) fn push(&self, event: ConnectionEvent, size: usize) -> u64 {
        let mut state = self.lock();
        let mut gone = Vec::new();
        while state.events.len() >= MAX || (state.bytes + size > MAX_BYTES && !state.events.is_empty()) {
            if let Some((event, size)) = state.events.pop_front() {
                state.bytes -= size;
                gone.push(event);
            }
        }
        state.bytes += size;
        state.events.push_back((event, size));
        drop(state);
        self.filled.notify_one();
        gone.len() as u64 // Dropped here, outside the lock: a question that is dropped answers.
    }

    /// The next one. Cancel-safe; each goes to one caller.
    pub(crate) async fn pop(&self) -> ConnectionEvent {
        loop {
            if let Some(event) = self.try_pop() {
                return event;
            }
            self.filled.notified().await;
        }
    }

    pub(crate) fn try_pop(&self) -> Option<ConnectionEvent> {
        let mut state = self.lock();
        let (event, size) = state.events.pop_front()?;
        state.bytes -= size;
        let more = !state.events.is_empty();
        drop(state);
        if more {
            self.filled.notify_one(); // Two that came together woke one reader only.
        }
        Some(event)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(number: usize) -> ConnectionEvent {
        ConnectionEvent::Notification(Notification::new(number.to_string(), RawJson::default()))
    }

    fn method(event: ConnectionEvent) -> String {
        match event {
            ConnectionEvent::Notification(notification) => notification.method,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn the_newest_are_kept() {
        let events = ConnectionEvents::default();
        let dropped: u64 = (0..MAX + 10).map(|n| events.push(numbered(n), 10)).sum();
        assert_eq!(dropped, 10);
        assert_eq!(method(events.pop().await), "10");
        assert_eq!(events.push(numbered(1), MAX_BYTES), MAX as u64 - 1, "one that is large by itself is kept");
        assert_eq!(method(events.pop().await), "1");
        assert!(events.try_pop().is_none());
    }

    #[tokio::test]
    async fn two_readers_share_what_comes() {
        let events = ConnectionEvents::default();
        let both = async { tokio::join!(events.pop(), events.pop()) };
        let feed = async {
            tokio::task::yield_now().await;
            events.push(numbered(1), 1);
            events.push(numbered(2), 1);
        };
        let ((one, two), ()) = tokio::join!(both, feed);
        let mut methods = [method(one), method(two)];
        methods.sort();
        assert_eq!(methods, ["1", "2"]);
    }
}
