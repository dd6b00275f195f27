//! What each message of the agent is, and who gets it.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Router;
use super::sessions::in_memory;
use crate::connection_event::{ConnectionEvent, Notification};
use crate::error::CallError;
use crate::raw::RawJson;
use crate::session::{SessionEvent, Update};
use crate::wire::{Addressed, Cut, Heard, Message, UpdateLine};

/// JSON-RPC 2.0, 5.1.
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;

impl Router {
    /// Takes what the agent wrote.
    pub(crate) fn hear(&self, heard: Heard<'_>) {
        if let Some(recorder) = &self.recorder {
            recorder.heard(&heard);
        }
        if self.end.borrow().is_some() {
            return; // Settled; what still comes is read only so that the agent can leave.
        }
        match heard {
            Heard::Update { line, .. } => self.told(line),
            Heard::Message { message, .. } => match message {
                Message::Response { id, outcome } => {
                    self.reply(id, |agent| {
                        outcome.map(RawJson::copied).map_err(|error| agent.error(error.get()).into())
                    });
                }
                Message::Notification { method, params } => self.notification(&method, params),
                Message::Request { id, method, params } => self.request(id, &method, params),
            },
            Heard::Noise(line) => {
                tracing::debug!(line = %String::from_utf8_lossy(&line[..line.len().min(200)]), "noise");
                self.lock().traffic.noise(line);
            }
            Heard::TooLong { head, length } => {
                tracing::warn!(length, head = %String::from_utf8_lossy(&head[..head.len().min(200)]), "line too long");
                self.lock().traffic.too_long += 1;
                match Cut::read(head) {
                    Cut::Reply(id) => self.reply(&id, |_| Err(CallError::TooLong(length))),
                    Cut::Request(id) => self.outbox.refuse(&RawJson::copied(&id), &too_long(length)),
                    Cut::Unknown => {}
                }
            }
        }
    }

    /// To be called after each chunk that was heard: wakes the readers of what it told, each once. A chunk may hold hundreds
    /// of updates, and to wake somebody costs more than an update.
    pub(crate) fn wake_readers(&self) {
        let mut state = self.lock();
        for queue in std::mem::take(&mut state.fed) {
            queue.wake();
            if queue.is_full() && !state.full.iter().any(|full| Arc::ptr_eq(full, &queue)) {
                state.full.push(queue);
            }
        }
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let params = params.unwrap_or(RawValue::NULL);
        match method {
            "session/update" => self.update(params),
            "$/cancel_request" => {
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Cancel<'a> {
                    #[serde(borrow)]
                    request_id: &'a RawValue,
                }
                if let Ok(cancel) = serde_json::from_str::<Cancel<'_>>(params.get()) {
                    self.lock().withdraw(cancel.request_id.get());
                }
            }
            _ => self.unknown_notification(method, params),
        }
    }

    fn update(&self, params: &RawValue) {
        match serde_json::from_str::<Addressed<'_>>(params.get()) {
            Ok(to) => {
                let update = Update::new(RawJson::copied(to.update.unwrap_or(RawValue::NULL)));
                self.told(UpdateLine { session: to.session_id, update });
            }
            Err(error) => {
                tracing::debug!(%error, "update for no session");
                self.lock().traffic.dropped += 1;
            }
        }
    }

    /// Delivers an update. It was read before the state is locked, for which callers wait.
    fn told(&self, UpdateLine { session, mut update }: UpdateLine) {
        let size = in_memory(update.raw.as_str());
        let mut state = self.lock();
        update.late = state.sessions.get_mut(&session).is_none_or(|session| session.turn.is_none());
        state.deliver(session, SessionEvent::Update(update), size);
    }

    fn unknown_notification(&self, method: &str, params: &RawValue) {
        tracing::debug!(method, "unknown notification");
        let notification = Notification::new(method, RawJson::copied(params));
        let size = in_memory(params.get()) + method.len();
        let session = serde_json::from_str::<Addressed<'_>>(params.get()).map(|to| to.session_id);
        let mut state = self.lock();
        if self.end.borrow().is_some() {
            return; // It ended meanwhile, and nothing comes after that.
        }
        state.traffic.unknown += 1;
        match session {
            Ok(session) if state.sessions.knows(&session) || state.sessions.may_come(&session) => {
                state.deliver(session, SessionEvent::Notification(notification), size);
            }
            _ => state.aside(ConnectionEvent::Notification(notification), size),
        }
    }

    fn request(&self, id: &RawValue, method: &str, params: Option<&RawValue>) {
        let request = RawJson::copied(id);
        let mut state = self.lock();
        if self.end.borrow().is_some() {
            return; // It ended meanwhile: nobody can be answered.
        }
        match method {
            "session/request_permission" => {
                if let Err(refusal) = state.permission(&self.outbox, request.clone(), params) {
                    self.outbox.refuse(&request, &refusal);
                }
            }
            "elicitation/create" if self.elicits => state.elicitation(&self.outbox, request, params),
            // It was not offered, so nobody is there to be asked.
            "elicitation/create" => self.outbox.decline(&request, &json!({ "action": "decline" })),
            _ => {
                state.traffic.unknown += 1;
                let error = json!({ "code": METHOD_NOT_FOUND, "message": format!("Method not found: {method}") });
                self.outbox.refuse(&request, &error);
            }
        }
    }
}

/// A request longer than we read.
fn too_long(length: u64) -> Value {
    json!({ "code": INVALID_REQUEST, "message": format!("Request too long: {length} bytes on one line") })
}
