//! The agent asks the user for something: a form to fill in, or a page to visit.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::question::{OpenQuestion, Outcome, Question, QuestionId};
use crate::error::AnswerError;
use crate::raw::{RawJson, lenient};
use crate::schema::{CreateElicitationRequest, ElicitationContentValue, SessionId};

/// How an elicitation was answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitationOutcome {
    /// The user agreed, with what was filled in where it is a form.
    Accepted(Option<BTreeMap<String, ElicitationContentValue>>),
    /// The user refused.
    Declined,
    /// The user was not heard, or closed it without an answer.
    Cancelled,
}

impl Outcome for ElicitationOutcome {
    fn cancelled() -> Self {
        Self::Cancelled
    }

    fn to_result(&self) -> Value {
        match self {
            Self::Accepted(Some(content)) => json!({ "action": "accept", "content": content }),
            Self::Accepted(None) => json!({ "action": "accept" }),
            Self::Declined => json!({ "action": "decline" }),
            Self::Cancelled => json!({ "action": "cancel" }),
        }
    }
}

/// The agent asks the user for something, and waits for the answer.
///
/// It comes only where [`ConnectOptions::capabilities`](crate::ConnectOptions::capabilities) offer it; otherwise the
/// agent is answered "declined" and nobody is asked. It is settled exactly once, as a
/// [`PermissionRequest`](crate::PermissionRequest) is: by a method, by dropping it (which answers "cancelled"), or by the
/// agent or a cancelled turn, of which [`SessionEvent::Withdrawn`](crate::SessionEvent) tells.
#[non_exhaustive]
pub struct ElicitationRequest {
    /// The session that asks; `None` where it belongs to another call, such as a login.
    pub session: Option<SessionId>,
    /// The agent's words to the user. Control characters and all.
    pub message: String,
    /// The request as the schema has it, or why it cannot be read as one; some agents leave out parts of a form.
    pub typed: Result<Box<CreateElicitationRequest>, String>,
    /// The parameters of the request as the agent wrote them.
    pub raw: RawJson,
    question: Arc<Question<ElicitationOutcome>>,
}

impl ElicitationRequest {
    /// A question for connections of your own making: `params` are those of `elicitation/create`, and `answer` is called
    /// once, with how it was settled. It must not block, nor call back into who settles it.
    pub fn new(id: QuestionId, params: &Value, answer: impl FnOnce(ElicitationOutcome) + Send + 'static) -> Self {
        Self::read(params.into(), Arc::new(Question::new(id, RawJson::default(), answer)))
    }

    pub(crate) fn read(raw: RawJson, question: Arc<Question<ElicitationOutcome>>) -> Self {
        let params = raw.to_value();
        Self {
            session: params["sessionId"].as_str().map(SessionId::new),
            message: params["message"].as_str().unwrap_or_default().to_owned(),
            typed: lenient(raw.as_str()).map_err(|error| error.to_string()),
            raw,
            question,
        }
    }

    /// Which question this is, for [`SessionEvent::Withdrawn`](crate::SessionEvent::Withdrawn).
    pub fn id(&self) -> QuestionId {
        self.question.id()
    }

    pub(crate) fn question(&self) -> Arc<dyn OpenQuestion> {
        Arc::clone(&self.question) as _
    }

    /// Answers a form with what the user filled in, by the names of its fields. It is not checked against the form.
    ///
    /// ```
    /// # use sidekicks_acp::{AnswerError, ElicitationRequest};
    /// # fn answer(request: &ElicitationRequest) -> Result<(), AnswerError> {
    /// request.submit([("name".to_owned(), "Ada".to_owned().into()), ("age".to_owned(), 36.into())].into())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it is settled already.
    pub fn submit(&self, content: BTreeMap<String, ElicitationContentValue>) -> Result<(), AnswerError> {
        self.question.settle(ElicitationOutcome::Accepted(Some(content)))
    }

    /// Answers that the user agrees: to visit the page, say. For a form see [`submit`](Self::submit).
    ///
    /// # Errors
    /// When it is settled already.
    pub fn accept(&self) -> Result<(), AnswerError> {
        self.question.settle(ElicitationOutcome::Accepted(None))
    }

    /// Answers that the user refuses.
    ///
    /// # Errors
    /// When it is settled already.
    pub fn decline(&self) -> Result<(), AnswerError> {
        self.question.settle(ElicitationOutcome::Declined)
    }

    /// Answers that the user gave no answer.
    ///
    /// # Errors
    /// When it is settled already.
    pub fn cancel(&self) -> Result<(), AnswerError> {
        self.question.cancel()
    }
}

impl Drop for ElicitationRequest {
    fn drop(&mut self) {
        let _ = self.cancel();
    }
}

impl fmt::Debug for ElicitationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElicitationRequest").field("question", &self.question).field("raw", &self.raw).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ElicitationMode;
    use std::sync::Mutex;

    #[test]
    fn each_way_to_settle_it_is_heard_once() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ask = || {
            let heard = Arc::clone(&heard);
            let params = json!({ "sessionId": "s", "message": "Which?", "mode": "form", "requestedSchema":
                { "type": "object", "properties": { "a": { "type": "string" } } } });
            ElicitationRequest::new(QuestionId::new(1), &params, move |outcome| {
                heard.lock().unwrap().push(outcome.to_result());
            })
        };
        let form = ask();
        assert_eq!((form.session.as_ref().unwrap().to_string().as_str(), form.message.as_str()), ("s", "Which?"));
        assert!(matches!(&form.typed.as_ref().unwrap().mode, ElicitationMode::Form(_)), "{:?}", form.typed);
        form.submit([("a".to_owned(), "b".to_owned().into())].into()).unwrap();
        assert_eq!(form.decline(), Err(AnswerError::AlreadySettled));
        ask().accept().unwrap();
        ask().decline().unwrap();
        drop(ask());
        let expected = [
            json!({ "action": "accept", "content": { "a": "b" } }),
            json!({ "action": "accept" }),
            json!({ "action": "decline" }),
            json!({ "action": "cancel" }),
        ];
        assert_eq!(*heard.lock().unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_read_is_still_asked() {
        let params = json!({ "message": "Which?", "mode": "form", "requestedSchema": 7, "requestId": 3 });
        let request = ElicitationRequest::new(QuestionId::new(1), &params, drop);
        assert_eq!((request.session.as_ref(), request.message.as_str()), (None, "Which?"));
        assert!(request.typed.is_err());
        assert_eq!(request.raw.to_value()["requestedSchema"], 7);
    }
}
