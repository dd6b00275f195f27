//! Who gets what: from messages to the calls and sessions that wait for them.
//!
//! One lock guards one small state; everything under it is a plain decision and nothing waits. The reader hears, callers
//! speak, and whoever ends the connection settles all that is open.

mod sessions;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

use crate::AgentInfo;
use crate::error::{CallError, End};
use crate::options::Limits;
use crate::outbox::{Outbox, Refused};
use crate::raw::RawJson;
use crate::report::Traffic;
use crate::schema::SessionId;
use crate::session::Queue;
use crate::wire::{Addressed, Cut, Heard, Message};

use sessions::Sessions;

/// The heart of a connection.
#[derive(Debug)]
pub(crate) struct Router {
    pub(crate) outbox: Arc<Outbox>,
    state: Mutex<State>,
    end: watch::Sender<Option<End>>,
}

#[derive(Debug)]
struct State {
    /// Numbers our calls, prompts and the agent's questions.
    next: u64,
    pending: HashMap<u64, Pending>,
    sessions: Sessions,
    agent: Arc<AgentInfo>,
    traffic: Traffic,
    queue_limit: usize,
    /// The session queues that went over their limit since the reader last looked.
    full: Vec<Arc<Queue>>,
}

/// Who waits for a reply.
#[derive(Debug)]
enum Pending {
    Call(oneshot::Sender<Result<RawJson, CallError>>),
    Open(Arc<Queue>, Option<TimerGuard>),
    Prompt(SessionId),
}

/// Stops a timer when what it watches is settled.
#[derive(Debug)]
pub(crate) struct TimerGuard(pub(crate) AbortHandle);

impl Drop for TimerGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

impl Router {
    pub(crate) fn new(limits: &Limits) -> Self {
        let state = State {
            next: 0,
            pending: HashMap::new(),
            sessions: Sessions::default(),
            agent: Arc::default(),
            traffic: Traffic::default(),
            queue_limit: limits.session_queue,
            full: Vec::new(),
        };
        Self { outbox: Arc::new(Outbox::new(limits.outbox)), state: Mutex::new(state), end: watch::Sender::new(None) }
    }

    /// Remembers the handshake, for the login methods in later errors.
    pub(crate) fn introduce(&self, agent: Arc<AgentInfo>) {
        self.lock().agent = agent;
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.lock().traffic.clone()
    }

    pub(crate) fn end_so_far(&self) -> Option<End> {
        self.end.borrow().clone()
    }

    /// Waits for the end of the connection.
    pub(crate) async fn ended(&self) -> End {
        let mut end = self.end.subscribe();
        match end.wait_for(Option::is_some).await {
            Ok(end) => end.clone().unwrap_or(End::Closed),
            Err(_) => End::Closed,
        }
    }

    /// The session queues that became full: the reader waits for them before it reads on.
    pub(crate) fn take_full(&self) -> Vec<Arc<Queue>> {
        std::mem::take(&mut self.lock().full)
    }

    /// Begins a call; the receiver gets its outcome.
    pub(crate) fn call(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<(u64, oneshot::Receiver<Result<RawJson, CallError>>), CallError> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.lock();
        let call = state.number();
        self.send(call, method, params)?;
        state.pending.insert(call, Pending::Call(sender));
        Ok((call, receiver))
    }

    /// Nobody waits for this call any more: an unwritten one is not sent, a later reply is ignored.
    pub(crate) fn forget(&self, call: u64) {
        let mut state = self.lock();
        if state.pending.remove(&call).is_some() {
            self.outbox.take_back(call);
        }
    }

    /// Takes what the agent wrote.
    pub(crate) fn hear(&self, heard: Heard<'_>) {
        let mut state = self.lock();
        if self.end.borrow().is_some() {
            return; // Settled; what still comes is read only so that the agent can leave.
        }
        match heard {
            Heard::Message(message) => self.message(&mut state, message),
            Heard::Noise(line) => {
                tracing::debug!(line = %String::from_utf8_lossy(&line[..line.len().min(200)]), "noise");
                state.traffic.noise(line);
            }
            Heard::TooLong { head, length } => {
                tracing::warn!(length, head = %String::from_utf8_lossy(&head[..head.len().min(200)]), "line too long");
                state.traffic.too_long += 1;
                match Cut::read(head) {
                    Cut::Reply(id) => state.answered(&id, |_| Err(CallError::TooLong(length))),
                    Cut::Request(id) => self.outbox.refuse(&RawJson::copied(&id), &too_long(length)),
                    Cut::Unknown => {}
                }
            }
        }
    }

    fn message(&self, state: &mut State, message: Message<'_>) {
        match message {
            Message::Response { id, outcome } => state.reply(id, outcome),
            Message::Notification { method, params } => self.notification(state, &method, params),
            Message::Request { id, method, params } => self.request(state, id, &method, params),
        }
    }

    fn notification(&self, state: &mut State, method: &str, params: Option<&RawValue>) {
        match (method, params) {
            ("session/update", Some(params)) => state.update(params),
            ("$/cancel_request", Some(params)) => {
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Cancel<'a> {
                    #[serde(borrow)]
                    request_id: &'a RawValue,
                }
                if let Ok(cancel) = serde_json::from_str::<Cancel<'_>>(params.get()) {
                    state.sessions.withdraw(cancel.request_id.get());
                }
            }
            _ => {
                tracing::debug!(method, "unknown notification");
                state.traffic.unknown += 1;
            }
        }
    }

    fn request(&self, state: &mut State, id: &RawValue, method: &str, params: Option<&RawValue>) {
        let request = RawJson::copied(id);
        let refused = match method {
            "session/request_permission" => state.permission(&self.outbox, &request, params).err(),
            _ => {
                state.traffic.unknown += 1;
                Some(json!({ "code": METHOD_NOT_FOUND, "message": format!("Method not found: {method}") }))
            }
        };
        if let Some(error) = refused {
            self.outbox.refuse(&request, &error);
        }
    }

    /// Ends the connection, once: every call, prompt, session and question is settled with `end`.
    pub(crate) fn end(&self, end: End) {
        let mut state = self.lock();
        let first = self.end.send_if_modified(|now| {
            let first = now.is_none();
            if first {
                *now = Some(end.clone());
            }
            first
        });
        if !first {
            return;
        }
        tracing::debug!(%end, "connection ended");
        for (call, pending) in std::mem::take(&mut state.pending) {
            let error = CallError::Ended { end: end.clone(), sent: !self.outbox.holds(call) };
            state.settle(call, pending, Err(error));
        }
        state.sessions.end(&end);
        self.outbox.close();
    }

    fn send(&self, call: u64, method: &str, params: &Value) -> Result<(), CallError> {
        self.outbox.call(call, method, params).map_err(|refused| match refused {
            Refused::Full => CallError::Backpressure,
            Refused::Closed => CallError::Ended { end: self.end_so_far().unwrap_or(End::Closed), sent: false },
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn reply(&mut self, id: &RawValue, outcome: Result<&RawValue, &RawValue>) {
        self.answered(id, |agent| outcome.map(RawJson::copied).map_err(|error| agent.error(error.get()).into()));
    }

    fn answered(&mut self, id: &RawValue, outcome: impl FnOnce(&AgentInfo) -> Result<RawJson, CallError>) {
        match call_number(id).and_then(|call| self.pending.remove_entry(&call)) {
            Some((call, pending)) => self.settle(call, pending, outcome(&Arc::clone(&self.agent))),
            None => {
                // Agents answer a line that they could not read with `id: null`.
                tracing::debug!(id = id.get(), "reply to no call");
                self.traffic.stray_replies += 1;
            }
        }
    }

    fn settle(&mut self, call: u64, pending: Pending, outcome: Result<RawJson, CallError>) {
        match pending {
            Pending::Call(waiting) => {
                let _ = waiting.send(outcome); // Nobody waits any more: nothing to tell.
            }
            Pending::Open(queue, _timer) => self.traffic.dropped += self.sessions.opened(queue, outcome) as u64,
            Pending::Prompt(session) => self.sessions.turn_ended(&session, call, outcome),
        }
    }
}

/// Our number in a reply; some agents send it back as a string, or as a floating-point number.
fn call_number(id: &RawValue) -> Option<u64> {
    let number = id.get().trim_matches('"');
    number.strip_suffix(".0").unwrap_or(number).parse().ok()
}

/// A request longer than we read.
fn too_long(length: u64) -> Value {
    json!({ "code": INVALID_REQUEST, "message": format!("Request too long: {length} bytes on one line") })
}

/// Parameters that name no session.
fn no_session() -> Value {
    json!({ "code": INVALID_PARAMS, "message": "Invalid params: no sessionId" })
}
