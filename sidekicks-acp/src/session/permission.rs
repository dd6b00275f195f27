//! The agent asks whether it may do something.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::question::{OpenQuestion, Outcome, Question, QuestionId};
use crate::error::AnswerError;
use crate::raw::RawJson;
use crate::schema::{SessionId, ToolCallUpdate};

/// How a question was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionOutcome {
    /// With the option of this id.
    Selected(String),
    /// Not at all, because the turn is over.
    Cancelled,
}

impl Outcome for PermissionOutcome {
    fn cancelled() -> Self {
        Self::Cancelled
    }

    fn to_result(&self) -> Value {
        let outcome = match self {
            Self::Selected(option) => json!({ "outcome": "selected", "optionId": option }),
            Self::Cancelled => json!({ "outcome": "cancelled" }),
        };
        json!({ "outcome": outcome })
    }
}

/// The agent asks for permission, and waits for the answer. `sidekicks-conversations` shows it as a `Permission`, and
/// calls *resolved* what is *settled* here.
///
/// It is settled exactly once: by [`select`](Self::select), by [`cancel`](Self::cancel), by dropping it (which answers
/// "cancelled"), or by the agent or a cancelled turn, of which [`SessionEvent::Withdrawn`](crate::SessionEvent) tells.
#[non_exhaustive]
pub struct PermissionRequest {
    /// The session that asks.
    pub session: SessionId,
    /// The tool call in question, as far as it can be read: agents send from a bare id to the whole call, or nothing.
    pub tool_call: Option<ToolCallUpdate>,
    /// What can be answered, in the agent's order. Kinds repeat and the first is not always the mildest: choose by id.
    pub options: Vec<PermissionOption>,
    /// The parameters of the request as the agent wrote them.
    pub raw: RawJson,
    question: Arc<Question<PermissionOutcome>>,
}

/// One answer that the agent offers; a `Choice` in `sidekicks-conversations`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionOption {
    /// What is sent back.
    pub id: String,
    /// The agent's label.
    pub name: String,
    /// The protocol's word (`allow_once`, `allow_always`, `reject_once`, `reject_always`), or what else the agent
    /// wrote.
    pub kind: String,
}

impl PermissionRequest {
    /// A question for connections of your own making: `params` are those of `session/request_permission`, and `answer`
    /// is called once, with how it was settled. It must not block, nor call back into who settles it.
    pub fn new(id: QuestionId, params: &Value, answer: impl FnOnce(PermissionOutcome) + Send + 'static) -> Self {
        let session = SessionId::new(params["sessionId"].as_str().unwrap_or_default());
        Self::read(session, params.into(), Arc::new(Question::new(id, RawJson::default(), answer)))
    }

    pub(crate) fn read(session: SessionId, raw: RawJson, question: Arc<Question<PermissionOutcome>>) -> Self {
        let params = raw.to_value();
        let tool_call = params.get("toolCall").and_then(|call| serde_json::from_value(call.clone()).ok());
        let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        let options = options.iter().filter_map(PermissionOption::read).collect();
        Self { session, tool_call, options, raw, question }
    }

    /// Which question this is, for [`SessionEvent::Withdrawn`](crate::SessionEvent::Withdrawn).
    pub fn id(&self) -> QuestionId {
        self.question.id()
    }

    pub(crate) fn question(&self) -> Arc<dyn OpenQuestion> {
        Arc::clone(&self.question) as _
    }

    /// Answers with the option of this id.
    ///
    /// # Errors
    /// When it is settled already, or the agent offers no such option; the question then stays as it is.
    pub fn select(&self, option: &str) -> Result<(), AnswerError> {
        if !self.options.iter().any(|offered| offered.id == option) {
            return Err(AnswerError::UnknownOption(option.to_owned()));
        }
        self.question.settle(PermissionOutcome::Selected(option.to_owned()))
    }

    /// Answers "cancelled": the question was not answered, because the turn is over.
    ///
    /// # Errors
    /// When it is settled already.
    pub fn cancel(&self) -> Result<(), AnswerError> {
        self.question.cancel()
    }
}

impl Drop for PermissionRequest {
    fn drop(&mut self) {
        let _ = self.cancel();
    }
}

impl fmt::Debug for PermissionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionRequest").field("question", &self.question).field("raw", &self.raw).finish()
    }
}

impl PermissionOption {
    /// An option, or `None` where there is no id to answer with. An id that is a number is answered as its text.
    fn read(option: &Value) -> Option<Self> {
        let id = match &option["optionId"] {
            Value::String(id) => id.clone(),
            Value::Number(id) => id.to_string(),
            _ => return None,
        };
        let name = option["name"].as_str().filter(|name| !name.is_empty()).unwrap_or(&id).to_owned();
        Some(Self { id, name, kind: option["kind"].as_str().unwrap_or_default().to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_question_of_another_transport_is_answered_once() {
        let answers = Arc::new(Mutex::new(Vec::new()));
        let ask = || {
            let heard = Arc::clone(&answers);
            let params = json!({ "sessionId": "s", "options": [{ "optionId": "y", "kind": "allow_once" }] });
            PermissionRequest::new(QuestionId::new(1), &params, move |outcome| heard.lock().unwrap().push(outcome))
        };
        let request = ask();
        assert_eq!((request.session.to_string().as_str(), request.options[0].name.as_str()), ("s", "y"));
        request.select("y").unwrap();
        assert_eq!(request.select("y"), Err(AnswerError::AlreadySettled));
        drop(request);
        drop(ask());
        let expected = [PermissionOutcome::Selected("y".to_owned()), PermissionOutcome::Cancelled];
        assert_eq!(*answers.lock().unwrap(), expected);
    }
}
