//! When a reader holds up others for too long.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::turns::say_cancel;
use super::{Pending, Router, State};
use crate::error::End;
use crate::session::Queue;

impl Router {
    /// Waits until every full session queue has room again. The agent waits meanwhile, and with it all that is behind.
    pub(crate) async fn wait_for_readers(&self) {
        let full = std::mem::take(&mut self.lock().full);
        if full.is_empty() {
            return;
        }
        let paused = Instant::now();
        for queue in full {
            self.wait_for_room(&queue, paused).await;
        }
    }

    /// Waits for the reader of `queue`, until others waited behind it for too long: then its session is given up.
    async fn wait_for_room(&self, queue: &Arc<Queue>, paused: Instant) {
        loop {
            let held_up = self.lock().held_up_behind(queue);
            let patience = async {
                match held_up {
                    Some(since) => sleep_until(since.max(paused) + self.stall_timeout).await,
                    None => std::future::pending().await,
                }
            };
            let mut left = self.left.subscribe();
            tokio::select! {
                () = queue.room() => return,
                _ = self.ended() => return,
                _ = left.wait_for(|left| *left) => return,
                () = patience => return self.give_up_on(queue),
                () = self.busier.notified() => {}
            }
        }
    }

    fn give_up_on(&self, queue: &Arc<Queue>) {
        let mut state = self.lock();
        let Some(session) = state.sessions.reading(queue) else { return };
        tracing::warn!(%session, "nobody reads this session, and others wait; it is given up");
        if state.end_session(&self.outbox, &session, &End::ReaderStalled) {
            say_cancel(&self.outbox, &session); // Nobody would see what the agent goes on to do.
        }
    }
}

impl State {
    /// Since when somebody waits for what comes after the unread of `queue`: a call, or the turn of another session.
    fn held_up_behind(&self, queue: &Arc<Queue>) -> Option<Instant> {
        let calls = self.pending.values().filter_map(|expected| match &expected.who {
            Pending::Prompt(_) => None,
            Pending::Open(opening) if Arc::ptr_eq(&opening.queue, queue) => None,
            _ => Some(expected.since),
        });
        let turns = self.sessions.iter().filter_map(|session| {
            let another = !Arc::ptr_eq(&session.queue, queue) && !session.queue.is_abandoned();
            session.turn.filter(|_| another && !session.queue.is_full()).map(|turn| turn.since)
        });
        calls.chain(turns).min()
    }
}
