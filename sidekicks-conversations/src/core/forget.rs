//! Forgetting: what was said is gone at once, while the agent that still works is seen off in the background.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use sidekicks_acp::schema::SessionId;
use sidekicks_acp::{AgentConnection, CallError, End, Lease, Phase, PromptId, SessionEvent, SessionEvents};
use tokio::sync::watch;
use tokio::time::timeout;

use super::turns::cancelled;
use super::{Core, Number, Orders, Session, Stage};
use crate::event::ResolvedBy;
use crate::failure::Failure;

/// A session to take leave of.
pub(crate) struct Farewell {
    /// Which session.
    pub(crate) number: Number,
    connection: Arc<dyn AgentConnection>,
    session: SessionId,
    /// The turn that still runs, with the lease that it is had under.
    turn: Option<(PromptId, Lease)>,
    _going_on: GoingOn,
}

/// How many farewells go on.
pub(crate) struct Farewells(watch::Sender<usize>);

/// Counts as long as it lives.
struct GoingOn(watch::Sender<usize>);

impl Farewells {
    pub(crate) fn none() -> Self {
        Self(watch::Sender::new(0))
    }

    fn begin(&self) -> GoingOn {
        self.0.send_modify(|count| *count += 1);
        GoingOn(self.0.clone())
    }

    /// Waits until none goes on. Cancel-safe.
    pub(crate) async fn over(&self) {
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await; // The sender is here.
    }
}

impl Drop for GoingOn {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Farewell {
    pub(super) fn to(
        number: Number,
        connection: Arc<dyn AgentConnection>,
        session: SessionId,
        turn: Option<(PromptId, Lease)>,
        farewells: &Farewells,
    ) -> Self {
        Self { number, connection, session, turn, _going_on: farewells.begin() }
    }

    /// Waits for the end of the turn, if one runs; condemns an agent that does not end it in time, and else closes the
    /// session, where the agent offers that. Each takes as long as `patience` at most.
    pub(crate) async fn take(self, mut events: Option<SessionEvents>, patience: Duration) {
        let Self { connection, session, turn, .. } = self;
        // The lease is held until all is done.
        let lease = match turn {
            Some((prompt, lease)) => {
                if timeout(patience, read(&mut events, Some(prompt))).await.is_err() {
                    return lease.condemn();
                }
                Some(lease)
            }
            None => None,
        };
        let close = async {
            let _ = timeout(patience, connection.close_session(&session)).await;
        };
        // Read on meanwhile, so that nothing waits for us.
        let rest = async {
            read(&mut events, None).await;
            pending().await
        };
        tokio::select! {
            () = close => {}
            () = rest => {}
        }
        drop(lease);
    }
}

/// Reads to the end of this turn, or of the session. Questions are answered "cancelled" by being dropped.
async fn read(events: &mut Option<SessionEvents>, turn: Option<PromptId>) {
    while let Some(event) = match events {
        Some(events) => events.next().await,
        None => None,
    } {
        match event {
            SessionEvent::TurnEnded { prompt, .. } if Some(prompt) == turn => return,
            _ => {}
        }
    }
}

impl Core {
    /// Begins anew.
    pub(crate) fn forget(&mut self) {
        self.settle_questions(ResolvedBy::Stop);
        self.see_off();
        let farewells = std::mem::take(&mut self.orders.farewells);
        let mut fresh = Self::new(self.agent.clone(), Arc::clone(&self.common), self.busy.clone());
        fresh.next_number = self.next_number;
        fresh.closed = self.closed;
        fresh.orders = Orders { follow: Some(None), farewells };
        *self = fresh;
        self.common.hub.remove(&self.agent);
        self.busy.send_replace(false);
    }

    /// The last handle is gone: what runs is cancelled, and the session is taken leave of.
    pub(crate) fn leave(&mut self) {
        if self.closed {
            return;
        }
        self.tell_late();
        self.stop();
        let answer = self.turn.as_ref().and_then(|turn| turn.answer.clone());
        self.see_off();
        if let Some(answer) = answer {
            self.finish_message(&answer, cancelled);
        }
        self.tell_turn();
        self.end_session();
        self.closed = true;
        self.take_in_all();
    }

    /// Nobody is left to wait for the agent: what is not over never will be.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.take_in_all();
        self.tell_late();
        match self.turn.as_ref().map(|turn| &turn.stage) {
            Some(Stage::Prompting(_)) => self.fail(&CallError::Ended { end: End::Closed, sent: true }),
            Some(_) => {
                let error = CallError::Ended { end: End::Closed, sent: false };
                self.fail_before_prompt(Failure::of_call(&error, Phase::Open));
            }
            None => {}
        }
        self.drop_queue();
        self.end_session();
        self.tell_turn();
        self.orders = Orders::default();
    }

    /// Takes leave of the session, and of the turn that is had in it.
    fn see_off(&mut self) {
        let turn = self.turn.take();
        let Some(Session { number, connection, id: Some(session), .. }) = self.session.take() else { return };
        let turn = turn.and_then(|turn| match turn.stage {
            Stage::Prompting(prompt) => {
                if !turn.cancelled {
                    let _ = connection.cancel(&session); // It fails only where the connection is over.
                }
                Some((prompt, turn.lease?))
            }
            _ => None,
        });
        self.orders.farewells.push(Farewell::to(number, connection, session, turn, &self.common.farewells));
    }
}
