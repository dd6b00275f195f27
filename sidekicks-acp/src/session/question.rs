//! A question that the agent waits on: answered once, by whoever comes first.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::error::AnswerError;
use crate::outbox::Outbox;
use crate::raw::RawJson;

/// Names one question of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuestionId(u64);

impl QuestionId {
    /// An id for a connection of your own making; unique among the questions of that connection.
    pub fn new(number: u64) -> Self {
        Self(number)
    }
}

/// How a kind of question can be settled.
pub(crate) trait Outcome: Send + 'static {
    /// Nobody answered, because the turn or the session is over.
    fn cancelled() -> Self;

    /// The result of the agent's request.
    fn to_result(&self) -> Value;
}

/// The reply to a question, sent once.
pub(crate) struct Question<O> {
    id: QuestionId,
    /// The agent's id of the request, as it wrote it.
    request: RawJson,
    /// Where the answer goes, until there is one.
    open: Mutex<Option<Answer<O>>>,
}

type Answer<O> = Box<dyn FnOnce(O) + Send>;

impl<O: Outcome> Question<O> {
    pub(crate) fn new(id: QuestionId, request: RawJson, answer: impl FnOnce(O) + Send + 'static) -> Self {
        Self { id, request, open: Mutex::new(Some(Box::new(answer))) }
    }

    /// The question that `request` is on the wire: its answer goes through `outbox`.
    pub(crate) fn on_the_wire(id: u64, request: RawJson, outbox: Arc<Outbox>) -> Self {
        let reply_to = request.clone();
        Self::new(QuestionId(id), request, move |outcome: O| outbox.answer(&reply_to, &outcome.to_result()))
    }

    pub(crate) fn settle(&self, outcome: O) -> Result<(), AnswerError> {
        let answer = self.open().take();
        answer.ok_or(AnswerError::AlreadySettled).map(|answer| answer(outcome))
    }

    fn open(&self) -> MutexGuard<'_, Option<Answer<O>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question of any kind, for those who only end it.
pub(crate) trait OpenQuestion: Send + Sync {
    fn id(&self) -> QuestionId;

    /// Whether the agent calls its request `id`.
    fn is_request(&self, id: &str) -> bool;

    fn is_settled(&self) -> bool;

    fn cancel(&self) -> Result<(), AnswerError>;

    /// The connection is over: nobody can be answered any more.
    fn lapse(&self);
}

impl<O: Outcome> OpenQuestion for Question<O> {
    fn id(&self) -> QuestionId {
        self.id
    }

    fn is_request(&self, id: &str) -> bool {
        self.request.as_str() == id
    }

    fn is_settled(&self) -> bool {
        self.open().is_none()
    }

    fn cancel(&self) -> Result<(), AnswerError> {
        self.settle(O::cancelled())
    }

    fn lapse(&self) {
        let lapsed = self.open().take();
        drop(lapsed); // Outside the lock, like every answer.
    }
}

impl<O> fmt::Debug for Question<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("id", &self.id).field("request", &self.request).finish_non_exhaustive()
    }
}
