//! What the agent asks, and who is to answer.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::State;
use super::hearing::INVALID_PARAMS;
use super::sessions::in_memory;
use crate::connection_event::ConnectionEvent;
use crate::outbox::Outbox;
use crate::raw::RawJson;
use crate::schema::SessionId;
use crate::session::{ElicitationRequest, OpenQuestion, Outcome, PermissionRequest, Question, SessionEvent};
use crate::wire::Addressed;

/// Questions that may still be open.
#[derive(Default)]
pub(super) struct Questions {
    asked: Vec<Arc<dyn OpenQuestion>>,
    /// How many there may be before the settled ones are looked for.
    enough: usize,
}

impl Questions {
    pub(super) fn add(&mut self, question: Arc<dyn OpenQuestion>) {
        if self.asked.len() >= self.enough {
            self.asked.retain(|question| !question.is_settled());
            self.enough = 16 + 2 * self.asked.len(); // So that each is looked at a few times, however many there are.
        }
        self.asked.push(question);
    }

    /// Those of a session that is known no more, whose questions somebody may still hold.
    pub(super) fn take_over(&mut self, questions: Self) {
        questions.asked.into_iter().filter(|question| !question.is_settled()).for_each(|question| self.add(question));
    }

    /// The question that the agent calls request `id`.
    fn take(&mut self, id: &str) -> Option<Arc<dyn OpenQuestion>> {
        let at = self.asked.iter().position(|question| question.is_request(id) && !question.is_settled())?;
        Some(self.asked.swap_remove(at))
    }

    /// Answers every one "cancelled"; gives those for which that was the answer.
    pub(super) fn cancel(&mut self) -> impl Iterator<Item = Arc<dyn OpenQuestion>> + use<> {
        std::mem::take(&mut self.asked).into_iter().filter(|question| question.cancel().is_ok())
    }

    /// Nobody can be answered any more.
    pub(super) fn lapse(&mut self) {
        std::mem::take(&mut self.asked).iter().for_each(|question| question.lapse());
    }
}

/// What to answer instead of asking anybody.
pub(super) type Refusal = Value;

impl State {
    pub(super) fn permission(
        &mut self,
        outbox: &Arc<Outbox>,
        request: RawJson,
        params: Option<&RawValue>,
    ) -> Result<(), Refusal> {
        let params = params.ok_or_else(no_session)?;
        let Addressed { session_id, .. } = serde_json::from_str(params.get()).map_err(|_| no_session())?;
        let size = size(&request, params);
        let question = self.question(outbox, request);
        let asked = PermissionRequest::read(session_id.clone(), RawJson::copied(params), question);
        let open = asked.question();
        self.ask(session_id, SessionEvent::Permission(asked), open, size);
        Ok(())
    }

    /// Asks the session, or, where it belongs to none, whoever listens to the connection.
    pub(super) fn elicitation(&mut self, outbox: &Arc<Outbox>, request: RawJson, params: Option<&RawValue>) {
        let params = params.unwrap_or(RawValue::NULL);
        let size = size(&request, params);
        let question = self.question(outbox, request);
        let asked = ElicitationRequest::read(RawJson::copied(params), question);
        let open = asked.question();
        match asked.session.clone() {
            Some(session) => self.ask(session, SessionEvent::Elicitation(asked), open, size),
            None => {
                self.questions.add(open);
                self.aside(ConnectionEvent::Elicitation(asked), size);
            }
        }
    }

    fn question<O: Outcome>(&mut self, outbox: &Arc<Outbox>, request: RawJson) -> Arc<Question<O>> {
        self.asked += 1;
        Arc::new(Question::on_the_wire(self.asked, request, Arc::clone(outbox)))
    }

    fn ask(&mut self, session: SessionId, asked: SessionEvent, question: Arc<dyn OpenQuestion>, size: usize) {
        if let Some(open) = self.sessions.get_mut(&session) {
            if open.is_cancelled() {
                return; // It crossed our cancel on its way; dropping it answers "cancelled".
            }
            open.questions.add(question);
        }
        self.deliver(session, asked, size);
    }

    /// The agent takes its request back.
    pub(super) fn withdraw(&mut self, request: &str) {
        if self.sessions.withdraw_early(request) {
            return;
        }
        if let Some(question) = self.questions.take(request) {
            if question.cancel().is_ok() {
                self.aside(ConnectionEvent::Withdrawn(question.id()), 0);
            }
            return;
        }
        for session in self.sessions.iter_mut() {
            if let Some(question) = session.questions.take(request) {
                if question.cancel().is_ok() {
                    session.queue.push(SessionEvent::Withdrawn(question.id()), 0);
                }
                return;
            }
        }
    }
}

/// What a question counts for in a queue: its id is kept with it, and for its answer.
fn size(request: &RawJson, params: &RawValue) -> usize {
    in_memory(params.get()) + 2 * request.as_str().len()
}

/// Parameters that name no session.
fn no_session() -> Refusal {
    json!({ "code": INVALID_PARAMS, "message": "Invalid params: no sessionId" })
}
