//! Prompts and their turns.

use std::sync::Arc;

use serde::Serialize;
use tokio::time::Instant;

use super::sessions::{Session, feed, in_memory};
use super::{Expected, Pending, Router, State};
use crate::error::{CallError, End};
use crate::outbox::Outbox;
use crate::raw::RawJson;
use crate::schema::{ContentBlock, SessionId};
use crate::session::{PromptId, Queue, SessionEvent, StopReason, TurnEnd};

/// A prompt that the agent has not answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub(super) prompt: u64,
    pub(super) since: Instant,
    cancelled: bool,
}

impl Router {
    pub(crate) fn prompt(&self, session: &SessionId, content: &[ContentBlock]) -> Result<PromptId, CallError> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            session_id: &'a SessionId,
            prompt: &'a [ContentBlock],
        }
        let request = self.written("session/prompt", Some(&Params { session_id: session, prompt: content }))?;
        let mut state = self.lock();
        let Some(open) = state.sessions.opened_mut(session) else {
            return Err(self.not_open(session));
        };
        if open.turn.is_some() {
            return Err(CallError::PromptPending);
        }
        let prompt = self.send(request)?;
        open.turn = Some(Turn { prompt, since: Instant::now(), cancelled: false });
        self.expect(&mut state, prompt, Pending::Prompt(session.clone()));
        Ok(PromptId(prompt))
    }

    pub(crate) fn cancel(&self, session: &SessionId) -> Result<(), CallError> {
        let mut state = self.lock();
        let State { sessions, pending, .. } = &mut *state;
        let Some(open) = sessions.opened_mut(session) else {
            return Err(self.not_open(session));
        };
        let Some(turn) = open.turn.as_mut().filter(|turn| !turn.cancelled) else {
            return Ok(()); // Nothing to cancel, or it is being cancelled.
        };
        if self.outbox.take_back(turn.prompt) {
            let prompt = PromptId(turn.prompt);
            pending.remove(&turn.prompt);
            open.turn = None;
            let end = TurnEnd { prompt_sent: false, ..TurnEnd::new(StopReason::Cancelled) };
            if open.queue.push(SessionEvent::TurnEnded { prompt, end: Ok(end) }, 0).is_some() {
                state.forget_session(session);
            }
            return Ok(());
        }
        turn.cancelled = true;
        self.outbox.cancel(turn.prompt, session);
        for question in open.questions.cancel() {
            open.queue.push(SessionEvent::Withdrawn(question.id()), 0);
        }
        Ok(())
    }
}

impl State {
    pub(super) fn turn_ended(&mut self, session: &SessionId, prompt: u64, outcome: Result<RawJson, CallError>) {
        let Some(open) = self.sessions.get_mut(session).filter(|open| open.is_in_turn(prompt)) else { return };
        open.turn = None;
        let end = outcome.map(TurnEnd::read);
        let size = end.as_ref().map_or(0, |end| in_memory(end.raw.as_str()));
        let unread = open.queue.push(SessionEvent::TurnEnded { prompt: PromptId(prompt), end }, size);
        feed(&mut self.fed, &open.queue);
        if unread.is_some() {
            self.forget_session(session);
        }
    }

    /// Ends the session of this queue, which the connection outlives. Gives the prompt that was pending, if the agent has
    /// it.
    pub(super) fn end_session(&mut self, outbox: &Outbox, queue: &Arc<Queue>, end: &End) -> Option<u64> {
        let mut open = self.sessions.take(queue)?;
        for question in open.questions.cancel() {
            open.queue.push(SessionEvent::Withdrawn(question.id()), 0);
        }
        let mut at_work = None;
        if let Some(Turn { prompt, .. }) = open.turn {
            self.pending.remove(&prompt);
            at_work = Some(prompt).filter(|prompt| !outbox.take_back(*prompt));
            let failed = CallError::Ended { end: end.clone(), sent: at_work.is_some() };
            open.queue.push(SessionEvent::TurnEnded { prompt: PromptId(prompt), end: Err(failed) }, 0);
        }
        let opening = |expected: &Expected| matches!(&expected.who, Pending::Open(it) if Arc::ptr_eq(&it.queue, queue));
        match self.pending.extract_if(|_, expected| opening(expected)).next() {
            // It was still being loaded; the answer would find nobody.
            Some((call, _)) => {
                let failed = CallError::Ended { end: end.clone(), sent: outbox.withdraw(call) };
                open.queue.push(SessionEvent::Opened(Err(failed)), 0);
            }
            None => drop(open.queue.push(SessionEvent::Ended(end.clone()), 0)),
        }
        open.queue.close();
        at_work
    }
}

impl Session {
    pub(super) fn is_cancelled(&self) -> bool {
        self.turn.is_some_and(|turn| turn.cancelled)
    }

    fn is_in_turn(&self, prompt: u64) -> bool {
        self.turn.is_some_and(|turn| turn.prompt == prompt)
    }
}

impl TurnEnd {
    fn read(raw: RawJson) -> Self {
        let reason = raw.to_value()["stopReason"].as_str().map_or(StopReason::from(""), StopReason::from);
        Self { stop_reason: reason, prompt_sent: true, raw }
    }
}
