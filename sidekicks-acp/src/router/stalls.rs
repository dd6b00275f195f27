//! When a reader holds up others for too long.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::{Pending, Router, State};
use crate::error::End;
use crate::session::Queue;

impl Router {
    /// Waits until every session queue that went over its limit has room again. The agent waits meanwhile, and with it all
    /// that is behind; a reader that lets others wait for too long is given up.
    pub(crate) async fn wait_for_readers(&self) {
        let mut full = std::mem::take(&mut self.lock().full);
        if full.is_empty() {
            return;
        }
        let paused = Instant::now();
        let mut left = self.left.subscribe();
        loop {
            full.retain(|queue| queue.is_crowded());
            if full.is_empty() {
                return;
            }
            let held_up = self.lock().held_up(&full);
            let patience = async {
                // A time beyond all clocks means: for ever.
                match held_up
                    .and_then(|(since, queue)| Some((since.max(paused).checked_add(self.stall_timeout)?, queue)))
                {
                    Some((until, queue)) => {
                        sleep_until(until).await;
                        queue
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.drained.notified() => {}
                () = self.busier.notified() => {}
                _ = self.ended() => return,
                _ = left.wait_for(|left| *left) => return,
                queue = patience => self.give_up_on(&queue, paused),
            }
        }
    }

    fn give_up_on(&self, queue: &Arc<Queue>, paused: Instant) {
        let mut state = self.lock();
        // Whoever waited may have gone, and the reader may have come back at the last moment.
        let since = state.held_up_behind(queue).filter(|_| queue.is_crowded());
        if since.is_none_or(|since| since.max(paused).elapsed() < self.stall_timeout) {
            return;
        }
        let Some(session) = queue.session().cloned() else { return };
        tracing::warn!(%session, "nobody reads this session, and others wait; it is given up");
        if let Some(prompt) = state.end_session(&self.outbox, queue, &End::ReaderStalled) {
            self.outbox.cancel(prompt, &session); // Nobody would see what the agent goes on to do.
        }
    }
}

impl State {
    /// Which of these queues has held up somebody for the longest time, and since when.
    fn held_up(&self, full: &[Arc<Queue>]) -> Option<(Instant, Arc<Queue>)> {
        let held_up = full.iter().filter_map(|queue| Some((self.held_up_behind(queue)?, Arc::clone(queue))));
        held_up.min_by_key(|(since, _)| *since)
    }

    /// Since when somebody waits for what comes after the unread of `queue`: a call, or the turn of another session.
    fn held_up_behind(&self, queue: &Arc<Queue>) -> Option<Instant> {
        let calls = self.pending.values().filter_map(|expected| match &expected.who {
            Pending::Prompt(_) | Pending::Late => None,
            Pending::Open(opening) if opening.queue.is_crowded() => None, // It waits for its own reader.
            Pending::Call(reply) | Pending::Close(_, reply) if reply.is_closed() => None, // Nobody waits for it.
            _ => Some(expected.since),
        });
        let turns = self.sessions.iter().filter_map(|session| {
            let another = !Arc::ptr_eq(&session.queue, queue) && !session.queue.is_abandoned();
            session.turn.filter(|_| another && !session.queue.is_crowded()).map(|turn| turn.since)
        });
        calls.chain(turns).min()
    }
}
