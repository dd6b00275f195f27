//! The open sessions of a connection: their queues, turns and questions.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::{fmt, mem};

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Addressed, Pending, Router, State, TimerGuard, no_session};
use crate::error::{CallError, End};
use crate::outbox::Outbox;
use crate::raw::RawJson;
use crate::schema::SessionId;
use crate::session::{
    OpenedSession, PermissionRequest, PromptId, Question, Queue, SessionEvent, StopReason, TurnEnd, Update,
};

/// What came for sessions whose id is not known yet is kept up to these bounds.
const MAX_EARLY: usize = 1_000;
const MAX_EARLY_BYTES: usize = 1 << 20;

/// About what an event holds in memory: itself, what was read out of it, and its raw JSON.
fn in_memory(params: &RawValue) -> usize {
    size_of::<SessionEvent>() + 2 * params.get().len()
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: HashMap<SessionId, Session>,
    /// How many are being opened.
    opening: usize,
    /// Events for sessions that are not known (yet), with their sizes.
    early: VecDeque<(SessionId, SessionEvent, usize)>,
    early_bytes: usize,
}

struct Session {
    queue: Arc<Queue>,
    turn: Option<Turn>,
    /// Those that may still be open.
    questions: Vec<Arc<Question>>,
}

#[derive(Debug, Clone, Copy)]
struct Turn {
    prompt: u64,
    cancelled: bool,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("turn", &self.turn).finish_non_exhaustive()
    }
}

impl Router {
    /// Begins to open a session. `timer` is told the number of the call, and gives what stops it.
    pub(crate) fn open(
        &self,
        method: &str,
        params: &Value,
        timer: impl FnOnce(u64) -> TimerGuard,
    ) -> Result<Arc<Queue>, CallError> {
        let mut state = self.lock();
        let call = state.number();
        self.send(call, method, params)?;
        let queue = Arc::new(Queue::new(state.queue_limit));
        state.pending.insert(call, Pending::Open(Arc::clone(&queue), Some(timer(call))));
        state.sessions.opening += 1;
        Ok(queue)
    }

    /// The agent did not answer the opening in time.
    pub(crate) fn expire(&self, call: u64, error: CallError) {
        let mut state = self.lock();
        if let Some(pending) = state.pending.remove(&call) {
            self.outbox.take_back(call); // What failed must not be tried after all.
            state.settle(call, pending, Err(error));
        }
    }

    pub(crate) fn prompt(&self, session: &SessionId, content: &Value) -> Result<PromptId, CallError> {
        let mut state = self.lock();
        let prompt = state.number();
        let Some(open) = state.sessions.open.get_mut(session) else {
            return Err(self.not_open(session));
        };
        if open.turn.is_some() {
            return Err(CallError::PromptPending);
        }
        let params = serde_json::json!({ "sessionId": session, "prompt": content });
        self.send(prompt, "session/prompt", &params)?;
        open.turn = Some(Turn { prompt, cancelled: false });
        state.pending.insert(prompt, Pending::Prompt(session.clone()));
        Ok(PromptId(prompt))
    }

    pub(crate) fn cancel(&self, session: &SessionId) -> Result<(), CallError> {
        let mut state = self.lock();
        let State { sessions, pending, .. } = &mut *state;
        let Some(open) = sessions.open.get_mut(session) else {
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
            open.queue.push(SessionEvent::TurnEnded { prompt, end: Ok(end) }, 0);
            return Ok(());
        }
        turn.cancelled = true;
        self.outbox.notify_first("session/cancel", &serde_json::json!({ "sessionId": session }));
        for question in mem::take(&mut open.questions) {
            open.withdraw(&question);
        }
        Ok(())
    }

    fn not_open(&self, session: &SessionId) -> CallError {
        match self.end_so_far() {
            Some(end) => CallError::Ended { end, sent: false },
            None => CallError::UnknownSession(session.clone()),
        }
    }
}

impl State {
    pub(super) fn update(&mut self, params: &RawValue) {
        let size = in_memory(params);
        match serde_json::from_str::<Addressed<'_>>(params.get()) {
            Ok(Addressed { session_id, update }) => {
                let late = self.sessions.open.get(&session_id).is_none_or(|session| session.turn.is_none());
                let update = Update::read(update.unwrap_or(RawValue::NULL), late);
                self.deliver(session_id, SessionEvent::Update(update), size);
            }
            Err(error) => {
                tracing::debug!(%error, "update for no session");
                self.traffic.dropped += 1;
            }
        }
    }

    /// A question of the agent; an error is what to answer instead.
    pub(super) fn permission(
        &mut self,
        outbox: &Arc<Outbox>,
        request: &RawJson,
        params: Option<&RawValue>,
    ) -> Result<(), Value> {
        let params = params.ok_or_else(no_session)?;
        let Addressed { session_id, .. } = serde_json::from_str(params.get()).map_err(|_| no_session())?;
        let question = Arc::new(Question::on_the_wire(self.number(), request.clone(), Arc::clone(outbox)));
        let asked = PermissionRequest::read(session_id.clone(), RawJson::copied(params), Arc::clone(&question));
        if let Some(open) = self.sessions.open.get_mut(&session_id) {
            if open.turn.is_some_and(|turn| turn.cancelled) {
                return Ok(()); // It crossed our cancel on its way; dropping it answers "cancelled".
            }
            open.questions.retain(|question| !question.is_settled());
            open.questions.push(question);
        }
        self.deliver(session_id, SessionEvent::Permission(asked), in_memory(params));
        Ok(())
    }

    fn deliver(&mut self, session: SessionId, event: SessionEvent, size: usize) {
        let dropped = match self.sessions.open.get(&session) {
            Some(open) => {
                let dropped = open.queue.push(event, size);
                if open.queue.is_full() && !self.full.iter().any(|queue| Arc::ptr_eq(queue, &open.queue)) {
                    self.full.push(Arc::clone(&open.queue));
                }
                if dropped.is_some() && open.turn.is_none() {
                    self.sessions.open.remove(&session); // Nobody reads it, and nothing is to come.
                }
                dropped
            }
            None => self.sessions.keep(session, event, size),
        };
        if dropped.is_some() {
            self.traffic.dropped += 1;
        }
    }
}

impl Sessions {
    /// Keeps what came before the answer to opening its session; gives it back where there is nothing to wait for.
    fn keep(&mut self, session: SessionId, event: SessionEvent, size: usize) -> Option<SessionEvent> {
        let full = self.early.len() >= MAX_EARLY || self.early_bytes + size > MAX_EARLY_BYTES;
        if self.opening == 0 || full {
            return Some(event);
        }
        self.early_bytes += size;
        self.early.push_back((session, event, size));
        None
    }

    /// Gives how many early events were for nobody.
    pub(super) fn opened(&mut self, queue: Arc<Queue>, outcome: Result<RawJson, CallError>) -> usize {
        self.opening -= 1;
        match outcome.and_then(OpenedSession::read).and_then(|session| self.new_to_us(session)) {
            Ok(session) => {
                let id = session.id.clone();
                queue.push(SessionEvent::Opened(Ok(session)), 0);
                let mut questions = Vec::new();
                let (ours, others) = mem::take(&mut self.early).into_iter().partition(|(of, ..)| *of == id);
                let ours: VecDeque<_> = ours;
                self.early = others;
                for (_, event, size) in ours {
                    self.early_bytes -= size;
                    if let SessionEvent::Permission(asked) = &event {
                        questions.push(asked.question());
                    }
                    queue.push(event, size);
                }
                self.open.insert(id, Session { queue, turn: None, questions });
            }
            Err(error) => {
                queue.push(SessionEvent::Opened(Err(error)), 0);
                queue.close();
            }
        }
        if self.opening == 0 {
            self.early_bytes = 0;
            return std::mem::take(&mut self.early).len();
        }
        0
    }

    /// An agent must not give the id of a session that is still read to another one.
    fn new_to_us(&self, session: OpenedSession) -> Result<OpenedSession, CallError> {
        match self.open.get(&session.id) {
            Some(open) if !open.queue.is_abandoned() => {
                Err(CallError::Malformed(format!("session {} is open already", session.id)))
            }
            _ => Ok(session),
        }
    }

    pub(super) fn turn_ended(&mut self, session: &SessionId, prompt: u64, outcome: Result<RawJson, CallError>) {
        let Some(open) = self.open.get_mut(session) else { return };
        open.turn = None;
        let end = outcome.map(TurnEnd::read);
        open.queue.push(SessionEvent::TurnEnded { prompt: PromptId(prompt), end }, 0);
        if open.queue.is_abandoned() {
            self.open.remove(session);
        }
    }

    /// The agent takes its request back.
    pub(super) fn withdraw(&mut self, request: &str) {
        for session in self.open.values_mut() {
            if let Some(at) = session.questions.iter().position(|question| question.is_request(request)) {
                let question = session.questions.swap_remove(at);
                session.withdraw(&question);
            }
        }
    }

    pub(super) fn end(&mut self, end: &End) {
        self.early.clear();
        for (_, session) in self.open.drain() {
            for question in &session.questions {
                question.lapse();
            }
            session.queue.push(SessionEvent::Ended(end.clone()), 0);
            session.queue.close();
        }
    }
}

impl Session {
    fn withdraw(&self, question: &Question) {
        if question.cancel().is_ok() {
            self.queue.push(SessionEvent::Withdrawn(question.id()), 0);
        }
    }
}

impl OpenedSession {
    fn read(raw: RawJson) -> Result<Self, CallError> {
        let answer = raw.to_value();
        let id = answer["sessionId"].as_str().ok_or_else(|| CallError::Malformed("it names no session".to_owned()))?;
        Ok(Self {
            id: SessionId::new(id),
            modes: serde_json::from_value(answer["modes"].clone()).ok(),
            config_options: serde_json::from_value(answer["configOptions"].clone()).unwrap_or_default(),
            raw,
        })
    }
}

impl TurnEnd {
    fn read(raw: RawJson) -> Self {
        let reason = raw.to_value()["stopReason"].as_str().map_or(StopReason::from(""), StopReason::from);
        Self { stop_reason: reason, prompt_sent: true, raw }
    }
}
