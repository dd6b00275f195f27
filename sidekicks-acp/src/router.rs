//! Who gets what: from messages to the calls and sessions that wait for them.
//!
//! One lock guards one small state; everything under it is a plain decision and nothing waits. The reader hears, callers
//! speak, and whoever ends the connection settles all that is open.

mod hearing;
mod questions;
mod sessions;
mod stalls;
mod turns;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::AgentInfo;
use crate::connection_event::{ConnectionEvent, ConnectionEvents};
use crate::error::{CallError, End};
use crate::options::ConnectOptions;
use crate::outbox::{Outbox, Refused, Request};
use crate::raw::RawJson;
use crate::recorder::Recorder;
use crate::report::Traffic;
use crate::schema::SessionId;
use crate::session::{OpenedSession, Queue};

use questions::Questions;
use sessions::Sessions;

/// The heart of a connection.
#[derive(Debug)]
pub(crate) struct Router {
    pub(crate) outbox: Arc<Outbox>,
    /// Numbers our calls and prompts.
    calls: AtomicU64,
    state: Mutex<State>,
    end: watch::Sender<Option<End>>,
    /// Whether the agent has left, so that only its last words are to come.
    left: watch::Sender<bool>,
    /// Somebody more waits for the agent.
    busier: Notify,
    /// A session queue that was crowded has room.
    drained: Arc<Notify>,
    stall_timeout: Duration,
    /// Whether the agent may ask the user for something.
    elicits: bool,
    pub(crate) recorder: Option<Recorder>,
}

struct State {
    /// Numbers the agent's questions.
    asked: u64,
    pending: HashMap<u64, Expected>,
    sessions: Sessions,
    /// Those of the agent that belong to no session.
    questions: Questions,
    asides: Arc<ConnectionEvents>,
    agent: Arc<AgentInfo>,
    traffic: Traffic,
    queue_limit: usize,
    /// The session queues whose readers do not know yet what the chunk that is being heard brought.
    fed: Vec<Arc<Queue>>,
    /// The session queues that went over their limit since the reader last looked.
    full: Vec<Arc<Queue>>,
}

/// A reply that the agent owes us.
struct Expected {
    since: Instant,
    who: Pending,
}

/// Who waits for a reply.
enum Pending {
    Call(Reply),
    /// The same, and when it succeeds the session of this queue is over.
    Close(Arc<Queue>, Reply),
    Open(Opening),
    /// Nobody: the opening timed out. A session that is opened all the same is closed again.
    Late,
    Prompt(SessionId),
}

type Reply = oneshot::Sender<Result<RawJson, CallError>>;

/// A session that is being opened.
struct Opening {
    queue: Arc<Queue>,
    /// Its id, where the agent is asked for it by that.
    id: Option<SessionId>,
    _timer: TimerGuard,
}

/// Stops a timer when what it watches is settled.
pub(crate) struct TimerGuard(pub(crate) AbortHandle);

impl Drop for TimerGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a call is about, besides its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About<'a> {
    Itself,
    /// It closes this session.
    Closing(&'a SessionId),
}

impl Router {
    pub(crate) fn new(options: &ConnectOptions) -> Self {
        let state = State {
            asked: 0,
            pending: HashMap::new(),
            sessions: Sessions::default(),
            questions: Questions::default(),
            asides: Arc::default(),
            agent: Arc::default(),
            traffic: Traffic::default(),
            queue_limit: options.limits.session_queue,
            fed: Vec::new(),
            full: Vec::new(),
        };
        Self {
            outbox: Arc::new(Outbox::new(options.limits.outbox)),
            calls: AtomicU64::new(1),
            state: Mutex::new(state),
            end: watch::Sender::new(None),
            left: watch::Sender::new(false),
            busier: Notify::new(),
            drained: Arc::default(),
            stall_timeout: options.stall_timeout,
            elicits: options.capabilities.elicitation.is_some(),
            recorder: options.recorder.clone(),
        }
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

    /// The agent has left: what it still said is read to its end, whether or not its sessions are read.
    #[cfg(feature = "process")]
    pub(crate) fn agent_left(&self) {
        self.left.send_replace(true);
    }

    pub(crate) fn has_left(&self) -> bool {
        *self.left.borrow()
    }

    /// The next that the agent says outside of every session; `None` once the connection is over and all was taken.
    pub(crate) async fn event(&self) -> Option<ConnectionEvent> {
        let asides = Arc::clone(&self.lock().asides);
        tokio::select! {
            biased;
            event = asides.pop() => Some(event),
            _ = self.ended() => asides.try_pop(),
        }
    }

    /// Begins a call; the receiver gets its outcome.
    pub(crate) fn call(
        &self,
        method: &str,
        params: &Value,
        about: About<'_>,
    ) -> Result<(u64, oneshot::Receiver<Result<RawJson, CallError>>), CallError> {
        let (sender, receiver) = oneshot::channel();
        let request = self.written(method, Some(params).filter(|params| !params.is_null()))?;
        let mut state = self.lock();
        let call = self.send(request)?;
        let who = match about {
            About::Itself => Pending::Call(sender),
            About::Closing(session) => match state.sessions.get_mut(session) {
                Some(known) => Pending::Close(Arc::clone(&known.queue), sender),
                None => Pending::Call(sender), // It ended meanwhile.
            },
        };
        self.expect(&mut state, call, who);
        Ok((call, receiver))
    }

    /// Nobody waits for this call any more: an unwritten one is not sent, a later reply is ignored. Tells whether the agent
    /// works on it for nobody.
    pub(crate) fn forget(&self, call: u64) -> bool {
        let mut state = self.lock();
        let taken_back = self.outbox.take_back(call);
        match state.pending.get(&call) {
            None => false,
            // A closing that was written takes effect, whether or not somebody waits.
            Some(Expected { who: Pending::Close(..), .. }) if !taken_back => false,
            Some(_) => {
                state.pending.remove(&call);
                !taken_back
            }
        }
    }

    /// The same, and the agent is told.
    pub(crate) fn give_up(&self, call: u64) {
        if self.forget(call) {
            self.outbox.withdraw(call);
        }
    }

    /// The agent did not answer an opening in this time. Tells `false` where it could not, since it waits for the reader
    /// of what it tells.
    pub(crate) fn expire(&self, call: u64, after: Duration) -> bool {
        let mut state = self.lock();
        let held_up = |who: &Pending| matches!(who, Pending::Open(opening) if opening.queue.is_crowded());
        if state.pending.get(&call).is_some_and(|expected| held_up(&expected.who)) {
            return false;
        }
        if let Some(expected) = state.pending.remove(&call) {
            let written = self.outbox.withdraw(call);
            self.settle(&mut state, call, expected.who, Err(CallError::TimedOut(after)));
            if written {
                self.expect(&mut state, call, Pending::Late);
            }
        }
        true
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
        let unwritten = self.outbox.close();
        for (call, expected) in std::mem::take(&mut state.pending) {
            let error = CallError::Ended { end: end.clone(), sent: !unwritten.contains(&call) };
            self.settle(&mut state, call, expected.who, Err(error));
        }
        state.sessions.end(&end);
        state.questions.lapse();
    }

    fn reply(&self, id: &RawValue, outcome: impl FnOnce(&AgentInfo) -> Result<RawJson, CallError>) {
        let mut state = self.lock();
        match call_number(id).and_then(|call| state.pending.remove_entry(&call)) {
            Some((call, expected)) => {
                let outcome = outcome(&state.agent);
                self.settle(&mut state, call, expected.who, outcome);
            }
            None => {
                // Agents answer a line that they could not read with `id: null`.
                tracing::debug!(id = id.get(), "reply to no call");
                state.traffic.stray_replies += 1;
            }
        }
    }

    fn settle(&self, state: &mut State, call: u64, who: Pending, outcome: Result<RawJson, CallError>) {
        match who {
            Pending::Call(reply) => {
                let _ = reply.send(outcome); // Nobody waits any more: nothing to tell.
            }
            Pending::Close(queue, reply) => {
                if outcome.is_ok() {
                    state.end_session(&self.outbox, &queue, &End::SessionClosed);
                }
                let _ = reply.send(outcome);
            }
            Pending::Open(opening) => {
                if let Some(unwanted) = state.opened(&opening, outcome) {
                    self.close_unwanted(state, &unwanted);
                }
            }
            Pending::Late => {
                let opened = outcome.and_then(|answer| OpenedSession::read(answer, None));
                if let Some(late) = opened.ok().filter(|late| !state.sessions.knows(&late.id)) {
                    self.close_unwanted(state, &late.id);
                }
            }
            Pending::Prompt(session) => {
                self.outbox.take_back_cancel(call); // With nothing to cancel, some agents would cancel the next prompt.
                state.turn_ended(&session, call, outcome);
            }
        }
    }

    /// Nobody learned of this session, so nobody else could close it.
    fn close_unwanted(&self, state: &mut State, session: &SessionId) {
        if state.agent.capabilities.session_capabilities.close.is_some() {
            let request = self.written("session/close", Some(&json!({ "sessionId": session })));
            if let Ok(call) = request.and_then(|request| self.send(request)) {
                self.expect(state, call, Pending::Call(oneshot::channel().0));
            }
        }
    }

    /// A call with a number of its own, not sent yet.
    fn written(&self, method: &str, params: Option<&impl Serialize>) -> Result<Request, CallError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        Request::new(call, method, params).map_err(|error| CallError::NotUnicode(error.to_string()))
    }

    /// Gives the number of the call.
    fn send(&self, request: Request) -> Result<u64, CallError> {
        let call = request.call;
        self.outbox.call(request).map(|()| call).map_err(|refused| match refused {
            Refused::Full => CallError::Backpressure,
            Refused::Closed => CallError::Ended { end: self.end_so_far().unwrap_or(End::Closed), sent: false },
        })
    }

    fn expect(&self, state: &mut State, call: u64, who: Pending) {
        state.pending.insert(call, Expected { since: Instant::now(), who });
        self.busier.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn aside(&mut self, event: ConnectionEvent, size: usize) {
        self.traffic.dropped += self.asides.push(event, size);
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("sessions", &self.sessions)
            .field("traffic", &self.traffic)
            .finish_non_exhaustive()
    }
}

/// Our number in a reply; some agents send it back as a string, or as a floating-point number.
fn call_number(id: &RawValue) -> Option<u64> {
    let number = id.get().trim_matches('"');
    number.strip_suffix(".0").unwrap_or(number).parse().ok()
}
