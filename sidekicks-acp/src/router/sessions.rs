//! The sessions of a connection: how they are opened, and their queues.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::questions::Questions;
use super::turns::Turn;
use super::{Opening, Pending, Router, State, TimerGuard};
use crate::error::{CallError, End};
use crate::raw::{RawJson, listed};
use crate::schema::SessionId;
use crate::session::{OpenedSession, Queue, SessionEvent, SessionOrigin};

/// What came for sessions whose id is not known yet is kept up to these bounds.
const MAX_EARLY: usize = 1_000;
const MAX_EARLY_BYTES: usize = 1 << 20;

/// About what an event holds in memory: itself, what was read out of it, and its raw JSON.
pub(super) fn in_memory(raw: &str) -> usize {
    size_of::<SessionEvent>() + 2 * raw.len()
}

/// Adds `queue` to those whose readers are to be woken, once for all that one chunk brings.
pub(super) fn feed(fed: &mut Vec<Arc<Queue>>, queue: &Arc<Queue>) {
    if !fed.iter().any(|known| Arc::ptr_eq(known, queue)) {
        fed.push(Arc::clone(queue));
    }
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: HashMap<SessionId, Session>,
    /// How many are being opened whose id the agent has not told.
    nameless: usize,
    /// Events for sessions that are not known (yet), with their sizes.
    early: VecDeque<(SessionId, SessionEvent, usize)>,
    early_bytes: usize,
}

pub(super) struct Session {
    pub(super) queue: Arc<Queue>,
    /// Whether the agent has answered; one that is loaded or resumed speaks before.
    opened: bool,
    pub(super) turn: Option<Turn>,
    pub(super) questions: Questions,
}

impl Session {
    fn new(queue: Arc<Queue>, opened: bool) -> Self {
        Self { queue, opened, turn: None, questions: Questions::default() }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("opened", &self.opened).field("turn", &self.turn).finish_non_exhaustive()
    }
}

impl Router {
    /// Begins to open a session. `timer` is told the number of the call, and gives what stops it.
    pub(crate) fn open(
        &self,
        origin: &SessionOrigin,
        params: &Value,
        timer: impl FnOnce(u64) -> TimerGuard,
    ) -> Result<Arc<Queue>, CallError> {
        let (method, id) = match origin {
            SessionOrigin::New => ("session/new", None),
            SessionOrigin::Load(id) => ("session/load", Some(id)),
            SessionOrigin::Resume(id) => ("session/resume", Some(id)),
        };
        let request = self.written(method, Some(params))?;
        let mut state = self.lock();
        if let Some(id) = id.filter(|id| state.sessions.is_read(id)) {
            return Err(CallError::AlreadyOpen(id.clone()));
        }
        let call = self.send(request)?;
        let queue = Arc::new(Queue::new(state.queue_limit, Arc::clone(&self.drained)));
        match id {
            Some(id) => {
                // Nobody reads the one before.
                if let Some(before) = state.sessions.known.get(id).map(|known| Arc::clone(&known.queue)) {
                    state.end_session(&self.outbox, &before, &End::SessionClosed);
                }
                // What the agent tells of it before its answer comes in order.
                state.sessions.insert(id.clone(), Session::new(Arc::clone(&queue), false));
            }
            None => state.sessions.nameless += 1,
        }
        let opening = Opening { queue: Arc::clone(&queue), id: id.cloned(), _timer: timer(call) };
        self.expect(&mut state, call, Pending::Open(opening));
        Ok(queue)
    }

    /// Nobody reads `queue` any more. `unlearned` tells that nobody learned of its session either.
    pub(crate) fn abandoned(&self, queue: &Arc<Queue>, unlearned: bool) {
        let mut state = self.lock();
        let Some(id) = queue.session() else { return }; // The answer to its opening will find it so.
        let Some(session) = state.sessions.of(id, queue) else { return };
        let (opened, idle) = (session.opened, session.turn.is_none());
        if opened && idle {
            state.forget_session(id);
        }
        if opened && unlearned {
            self.close_unwanted(&mut state, id);
        }
    }

    pub(crate) fn is_open(&self, session: &SessionId) -> bool {
        self.lock().sessions.opened_mut(session).is_some()
    }

    /// Why a session that is not open is not.
    pub(crate) fn not_open(&self, session: &SessionId) -> CallError {
        match self.end_so_far() {
            Some(end) => CallError::Ended { end, sent: false },
            None => CallError::UnknownSession(session.clone()),
        }
    }
}

impl State {
    /// The agent answered an opening. Gives the id where nobody wants the session any more.
    pub(super) fn opened(&mut self, opening: &Opening, outcome: Result<RawJson, CallError>) -> Option<SessionId> {
        let queue = &opening.queue;
        let session = outcome.and_then(|answer| OpenedSession::read(answer, opening.id.as_ref()));
        let session = session.and_then(|session| self.sessions.new_to_us(session, queue));
        let mut unwanted = None;
        match session {
            Ok(session) if queue.is_abandoned() => {
                self.sessions.take(queue);
                unwanted = Some(session.id);
            }
            Ok(session) => {
                let id = session.id.clone();
                let size = in_memory(session.raw.as_str());
                queue.push(SessionEvent::Opened(Ok(session)), size);
                feed(&mut self.fed, queue);
                if let Some(session) = self.sessions.of(&id, queue) {
                    session.opened = true;
                } else if opening.id.is_none() {
                    self.sessions.insert(id.clone(), Session::new(Arc::clone(queue), true));
                    self.sessions.deliver_early(&id);
                }
            }
            Err(error) => {
                if let Some(id) = &opening.id
                    && let Some(session) = self.sessions.of(id, queue)
                {
                    session.questions.cancel().for_each(drop);
                    self.sessions.known.remove(id);
                }
                queue.push(SessionEvent::Opened(Err(error)), 0);
                queue.close();
            }
        }
        if opening.id.is_none() {
            self.sessions.nameless -= 1;
        }
        if self.sessions.nameless == 0 {
            self.sessions.early_bytes = 0;
            self.traffic.dropped += std::mem::take(&mut self.sessions.early).len() as u64;
        }
        unwanted
    }

    /// Nobody reads this session, and nothing is to come.
    pub(super) fn forget_session(&mut self, session: &SessionId) {
        if let Some(session) = self.sessions.known.remove(session) {
            self.questions.take_over(session.questions);
        }
    }

    pub(super) fn deliver(&mut self, session: SessionId, event: SessionEvent, size: usize) {
        let dropped = match self.sessions.known.get(&session) {
            Some(known) => {
                feed(&mut self.fed, &known.queue);
                known.queue.add(event, size)
            }
            None => self.sessions.keep(session, event, size),
        };
        self.traffic.dropped += u64::from(dropped.is_some());
    }
}

impl Sessions {
    pub(super) fn get_mut(&mut self, session: &SessionId) -> Option<&mut Session> {
        self.known.get_mut(session)
    }

    pub(super) fn opened_mut(&mut self, session: &SessionId) -> Option<&mut Session> {
        self.known.get_mut(session).filter(|session| session.opened)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Session> {
        self.known.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.known.values_mut()
    }

    /// Takes out the session that speaks through `queue`.
    pub(super) fn take(&mut self, queue: &Arc<Queue>) -> Option<Session> {
        let id = queue.session()?;
        self.of(id, queue)?;
        self.known.remove(id)
    }

    fn insert(&mut self, id: SessionId, session: Session) {
        session.queue.is_of(id.clone());
        self.known.insert(id, session);
    }

    /// Whether something for this session, which is not known, may belong to one that is being opened.
    pub(super) fn may_come(&self, session: &SessionId) -> bool {
        self.nameless > 0 && !self.knows(session)
    }

    /// This session, if it is the one that speaks through `queue`.
    fn of(&mut self, session: &SessionId, queue: &Arc<Queue>) -> Option<&mut Session> {
        self.known.get_mut(session).filter(|known| Arc::ptr_eq(&known.queue, queue))
    }

    pub(super) fn knows(&self, session: &SessionId) -> bool {
        self.known.contains_key(session)
    }

    fn is_read(&self, session: &SessionId) -> bool {
        self.known.get(session).is_some_and(|known| !known.queue.is_abandoned())
    }

    /// Keeps what came before the answer to opening its session; gives it back where there is nothing to wait for.
    fn keep(&mut self, session: SessionId, event: SessionEvent, size: usize) -> Option<SessionEvent> {
        let full = self.early.len() >= MAX_EARLY || self.early_bytes + size > MAX_EARLY_BYTES;
        if self.nameless == 0 || full {
            return Some(event);
        }
        self.early_bytes += size;
        self.early.push_back((session, event, size));
        None
    }

    fn deliver_early(&mut self, session: &SessionId) {
        let Some(known) = self.known.get_mut(session) else { return };
        let (ours, others) = std::mem::take(&mut self.early).into_iter().partition(|(of, ..)| of == session);
        let ours: VecDeque<_> = ours;
        self.early = others;
        for (_, event, size) in ours {
            self.early_bytes -= size;
            if let Some(question) = event.question() {
                known.questions.add(question);
            }
            known.queue.push(event, size);
        }
    }

    /// Drops a question that was taken back before its session is known, which answers it. Tells whether there was one.
    pub(super) fn withdraw_early(&mut self, request: &str) -> bool {
        let asked = |event: &SessionEvent| event.question().is_some_and(|question| question.is_request(request));
        let withdrawn = self.early.iter().position(|(_, event, _)| asked(event)).and_then(|at| self.early.remove(at));
        self.early_bytes -= withdrawn.as_ref().map_or(0, |(_, _, size)| *size);
        withdrawn.is_some()
    }

    /// An agent must not give the id of a session that is still read to another one.
    fn new_to_us(&self, session: OpenedSession, queue: &Arc<Queue>) -> Result<OpenedSession, CallError> {
        match self.known.get(&session.id) {
            Some(known) if !Arc::ptr_eq(&known.queue, queue) && !known.queue.is_abandoned() => {
                Err(CallError::Malformed(format!("session {} is open already", session.id)))
            }
            _ => Ok(session),
        }
    }

    pub(super) fn end(&mut self, end: &End) {
        self.early.clear();
        for (_, mut session) in self.known.drain() {
            session.questions.lapse();
            session.queue.push(SessionEvent::Ended(end.clone()), 0);
            session.queue.close();
        }
    }
}

impl OpenedSession {
    /// Reads the answer to an opening; `id` is that of a session that was asked for by its id.
    pub(super) fn read(raw: RawJson, id: Option<&SessionId>) -> Result<Self, CallError> {
        let answer = raw.to_value();
        let id = match id {
            Some(id) => id.clone(),
            None => answer["sessionId"].as_str().map(SessionId::new).ok_or_else(|| {
                CallError::Malformed("it names no session".to_owned()) // There is nothing to talk to.
            })?,
        };
        Ok(Self {
            id,
            modes: serde_json::from_value(answer["modes"].clone()).ok(),
            config_options: listed(&answer["configOptions"]),
            raw,
        })
    }
}
