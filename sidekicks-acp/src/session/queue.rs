//! The queue between the wire and whoever follows a session.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;

use super::SessionEvent;
use crate::schema::SessionId;

/// An ordered queue with one reader, bounded in bytes.
///
/// The bound is kept by the one who feeds it: [`push`](Self::push) never waits, since several events may come from one
/// read; before the next read the wire waits for queues that are [crowded](Self::is_crowded).
#[derive(Debug)]
pub(crate) struct Queue {
    limit: usize,
    state: Mutex<State>,
    filled: Notify,
    /// Told when there is room again; one for all queues of a connection.
    drained: Arc<Notify>,
    /// Whose queue it is, once that is known.
    session: OnceLock<SessionId>,
}

#[derive(Debug, Default)]
struct State {
    /// Each with what it counts for, in bytes.
    events: VecDeque<(SessionEvent, usize)>,
    bytes: usize,
    /// Nothing will be added any more.
    closed: bool,
    /// Nobody will read any more.
    abandoned: bool,
    /// Whether the reader learned that the session was opened.
    learned: bool,
}

impl Queue {
    pub(crate) fn new(limit: usize, drained: Arc<Notify>) -> Self {
        Self { limit, state: Mutex::default(), filled: Notify::new(), drained, session: OnceLock::new() }
    }

    pub(crate) fn is_of(&self, session: SessionId) {
        let _ = self.session.set(session); // A queue has one session, so it is the same.
    }

    pub(crate) fn session(&self) -> Option<&SessionId> {
        self.session.get()
    }

    /// Adds an event; gives it back when nobody will read it.
    pub(crate) fn push(&self, event: SessionEvent, size: usize) -> Option<SessionEvent> {
        let dropped = self.add(event, size);
        self.wake();
        dropped
    }

    /// Adds an event without a word to the reader, who must be [woken](Self::wake) soon.
    pub(crate) fn add(&self, event: SessionEvent, size: usize) -> Option<SessionEvent> {
        let mut state = self.lock();
        if state.abandoned || state.closed {
            return Some(event);
        }
        state.bytes = state.bytes.saturating_add(size);
        state.events.push_back((event, size));
        None
    }

    /// Tells the reader that there is something.
    pub(crate) fn wake(&self) {
        self.filled.notify_one();
    }

    /// After this nothing more is taken; what is in the queue can still be read.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
        self.drained.notify_one();
    }

    /// The reader is gone: what is in the queue is dropped, and with it the questions, which are thereby cancelled. Tells
    /// whether it never learned that the session was opened, if it was.
    pub(crate) fn abandon(&self) -> bool {
        let mut state = self.lock();
        state.abandoned = true;
        state.bytes = 0;
        let (dropped, learned) = (mem::take(&mut state.events), state.learned);
        drop(state);
        self.drained.notify_one();
        drop(dropped); // Outside the lock: a question that is dropped answers.
        !learned
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }

    pub(crate) fn is_full(&self) -> bool {
        self.lock().bytes > self.limit
    }

    /// Whether it holds more than half of its limit. What went over its limit is waited for until then, so that the wire
    /// is not woken for each event; and not if nothing more is to come.
    pub(crate) fn is_crowded(&self) -> bool {
        let state = self.lock();
        !state.closed && state.bytes > self.limit / 2
    }

    pub(crate) async fn pop(&self) -> Option<SessionEvent> {
        loop {
            {
                let mut state = self.lock();
                if let Some((event, size)) = state.events.pop_front() {
                    state.learned |= matches!(event, SessionEvent::Opened(_));
                    let before = state.bytes;
                    state.bytes -= size.min(before);
                    let half = self.limit / 2;
                    let drained = before > half && state.bytes <= half;
                    drop(state);
                    if drained {
                        self.drained.notify_one();
                    }
                    return Some(event);
                }
                if state.closed {
                    return None;
                }
            }
            self.filled.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
