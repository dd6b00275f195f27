//! Following all conversations.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::log::{Gone, Place};
use super::{Look, Shared, State};
use crate::event::Event;
use crate::transcript::Transcript;

/// The events of all conversations, in order.
///
/// First comes a reset of each conversation. A reader that falls behind, by [`Options::backlog`](crate::Options::backlog)
/// events or by 16 MiB, loses nothing but the steps between: it gets a fresh reset of each, also of those that were forgotten
/// meanwhile. Nobody ever waits for a reader. Dropping it lets go of what was not read.
pub struct Subscription {
    shared: Arc<Shared>,
    place: Place,
    /// Resets that come before what is at `place`.
    resets: VecDeque<Arc<Event>>,
    /// When the last batch was handed over.
    drawn: Option<Instant>,
}

impl Subscription {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        // Everything as it is, and what comes after it: under one lock, so that nothing is between them.
        let mut state = shared.lock();
        if !state.log.has_readers() {
            state.removed.clear(); // Nobody is left who knew them.
        }
        let (resets, place) = (state.resets(), state.log.join());
        drop(state);
        Self { shared, place, resets, drawn: None }
    }

    /// The next event; `None` when there can be none any more. Cancel-safe.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        let Self { shared, place, resets, .. } = self;
        shared
            .read(|state| {
                if resets.is_empty() {
                    match state.log.next(place) {
                        Ok(event) => return Look::at(event, state.over),
                        Err(Gone) => *resets = state.catch_up(place),
                    }
                }
                Look::at(resets.pop_front(), state.over)
            })
            .await
    }

    /// Everything that happened since the last batch, at most once per `period`, with neighbouring changes of one part
    /// made one: however fast the agent writes, an interface redraws once a frame. Cancel-safe.
    pub async fn next_batch(&mut self, period: Duration) -> Option<Vec<Arc<Event>>> {
        let first = self.next().await?;
        // Put back while we wait, so that dropping this future loses nothing.
        self.resets.push_front(first);
        let left = self.drawn.map_or(Duration::ZERO, |drawn| period.saturating_sub(drawn.elapsed()));
        if !left.is_zero() {
            sleep(left).await;
        }
        let mut batch = Vec::new();
        // What comes while we are at it waits for the next frame.
        for event in self.drain() {
            push_joined(&mut batch, event);
        }
        self.drawn = Some(Instant::now());
        Some(batch)
    }

    /// Takes all that there is.
    fn drain(&mut self) -> Vec<Arc<Event>> {
        let mut all: Vec<_> = self.resets.drain(..).collect();
        let mut state = self.shared.lock();
        all.reserve(state.log.unread(&self.place));
        loop {
            match state.log.next(&mut self.place) {
                Ok(Some(event)) => all.push(event),
                Ok(None) => return all,
                Err(Gone) => return state.catch_up(&mut self.place).into(), // They say it all.
            }
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.lock().log.leave(&self.place);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

impl State {
    fn resets(&self) -> VecDeque<Arc<Event>> {
        self.conversations.iter().map(|known| Arc::new(Event::Reset(Arc::clone(known)))).collect()
    }

    /// Everything as it is, for a reader that goes on after it: it may have missed that a conversation was forgotten.
    fn catch_up(&mut self, place: &mut Place) -> VecDeque<Arc<Event>> {
        self.log.leave(place);
        *place = self.log.join();
        let mut resets = self.resets();
        let forgotten = self.removed.iter().map(|agent| Transcript::forgotten(agent.clone()));
        resets.extend(forgotten.map(|whole| Arc::new(Event::Reset(Arc::new(whole)))));
        resets
    }
}

/// Adds `event`. Where it and the last one are of one part it is appended to that as a fragment, or takes its place as a
/// whole.
fn push_joined(batch: &mut Vec<Arc<Event>>, event: Arc<Event>) {
    if let Some(last) = batch.last_mut().filter(|last| of_one_part(last, &event)) {
        match &*event {
            Event::MessageDelta { part: Some(_), .. } => {
                *last = event;
                return;
            }
            Event::MessageDelta { text: Some(fragment), .. } => {
                if let Event::MessageDelta { text: Some(text), .. } = Arc::make_mut(last) {
                    text.push_str(fragment);
                    return;
                }
            }
            _ => {}
        }
    }
    batch.push(event);
}

fn of_one_part(last: &Event, next: &Event) -> bool {
    match (last, next) {
        (
            Event::MessageDelta { agent, message_id, index, .. },
            Event::MessageDelta { agent: next_agent, message_id: next_id, index: next_index, .. },
        ) => agent == next_agent && message_id == next_id && index == next_index,
        _ => false,
    }
}
