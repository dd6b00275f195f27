//! A session: how it is opened, and everything it says, in order.

mod elicitation;
mod permission;
mod question;
mod queue;
mod update;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use crate::connection_event::Notification;
use crate::error::{CallError, End};
use crate::raw::RawJson;
use crate::router::Router;
use crate::schema::{McpServer, Meta, SessionConfigOption, SessionId, SessionModeState};

pub use elicitation::{ElicitationOutcome, ElicitationRequest};
pub use permission::{PermissionOption, PermissionOutcome, PermissionRequest};
pub use question::QuestionId;
pub(crate) use question::{OpenQuestion, Outcome, Question};
pub(crate) use queue::Queue;
pub(crate) use update::{Known, has_one_word};
pub use update::{Unrecognised, Update};

/// How to open a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenSession {
    /// A new session, or one that the agent remembers.
    pub origin: SessionOrigin,
    /// The working folder of the session; must be absolute. Agents differ in what they do where it does not exist.
    pub cwd: PathBuf,
    /// Tool servers that the agent is to connect to.
    pub mcp_servers: Vec<McpServer>,
    /// More folders that the agent may work in, absolute ones; only for agents that offer `additionalDirectories`.
    pub additional_directories: Vec<PathBuf>,
    /// What goes to the agent as `_meta`: some agents take settings of their own there.
    pub meta: Option<Meta>,
}

/// Where a session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionOrigin {
    /// A new one, `session/new`.
    New,
    /// One that the agent tells again from its beginning, `session/load`. Everything that comes before
    /// [`SessionEvent::Opened`] is that replay, and nothing after it. For agents that offer `loadSession`.
    ///
    /// It does not time out while the agent waits for the reader of that replay; the agent has the whole time again then.
    Load(SessionId),
    /// One that goes on without being told again, `session/resume`. For agents that offer it.
    Resume(SessionId),
}

impl OpenSession {
    /// A new session that works in `cwd`, an absolute path.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self::from(SessionOrigin::New, cwd.into())
    }

    /// The agent's session of this id, told again. `cwd` is an absolute path.
    pub fn load(session: SessionId, cwd: impl Into<PathBuf>) -> Self {
        Self::from(SessionOrigin::Load(session), cwd.into())
    }

    /// The agent's session of this id, not told again. `cwd` is an absolute path.
    pub fn resume(session: SessionId, cwd: impl Into<PathBuf>) -> Self {
        Self::from(SessionOrigin::Resume(session), cwd.into())
    }

    fn from(origin: SessionOrigin, cwd: PathBuf) -> Self {
        Self { origin, cwd, mcp_servers: Vec::new(), additional_directories: Vec::new(), meta: None }
    }

    /// Gives the agent these tool servers.
    pub fn mcp_servers(mut self, servers: Vec<McpServer>) -> Self {
        self.mcp_servers = servers;
        self
    }

    /// Lets the agent work in these folders too.
    pub fn additional_directories(mut self, folders: Vec<PathBuf>) -> Self {
        self.additional_directories = folders;
        self
    }

    /// Sends this as `_meta`.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}

/// A session that the agent opened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenedSession {
    /// The agent's id of it.
    pub id: SessionId,
    /// The modes it can be in, where the agent has modes.
    pub modes: Option<SessionModeState>,
    /// What can be chosen in it.
    pub config_options: Vec<SessionConfigOption>,
    /// The whole answer.
    pub raw: RawJson,
}

impl OpenedSession {
    /// A session with this id and nothing to choose, for connections of your own making.
    pub fn new(id: SessionId) -> Self {
        Self { id, modes: None, config_options: Vec::new(), raw: RawJson::default() }
    }
}

/// Names one prompt of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PromptId(pub(crate) u64);

impl PromptId {
    /// An id for a connection of your own making; unique among the prompts of that connection.
    pub fn new(number: u64) -> Self {
        Self(number)
    }
}

/// What a session says. Everything comes through one queue, in the order in which the agent wrote it.
#[derive(Debug)]
#[non_exhaustive]
pub enum SessionEvent {
    /// The outcome of opening; of a new or resumed session the first event that matters, of a loaded one the end of its
    /// replay. After an error nothing follows.
    Opened(Result<OpenedSession, CallError>),
    /// The agent tells something, in a turn or between turns.
    Update(Update),
    /// The agent asks for permission. The request carries its own reply.
    Permission(PermissionRequest),
    /// The agent asks the user for something. The request carries its own reply.
    Elicitation(ElicitationRequest),
    /// A notification that names this session and is not in the protocol: a vendor's own, or a newer one.
    Notification(Notification),
    /// A question that came before was taken back, by the agent or by a cancel; an answer reaches nobody.
    Withdrawn(QuestionId),
    /// A prompt's turn ended: exactly one for each prompt, for as long as the events are read. Everything that the agent
    /// wrote before it came before.
    TurnEnded {
        /// Which prompt.
        prompt: PromptId,
        /// How it ended.
        end: Result<TurnEnd, CallError>,
    },
    /// The connection or this session ended; always last, unless it was never opened.
    Ended(End),
}

impl SessionEvent {
    /// The question that this event asks, if it asks one.
    pub(crate) fn question(&self) -> Option<Arc<dyn OpenQuestion>> {
        match self {
            Self::Permission(request) => Some(request.question()),
            Self::Elicitation(request) => Some(request.question()),
            _ => None,
        }
    }
}

/// The normal end of a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnEnd {
    /// Why the agent stopped.
    pub stop_reason: StopReason,
    /// Whether the prompt was written. `false` only for a prompt that was cancelled before.
    pub prompt_sent: bool,
    /// The whole answer.
    pub raw: RawJson,
}

impl TurnEnd {
    /// An end with this reason, for connections of your own making.
    pub fn new(stop_reason: StopReason) -> Self {
        Self { stop_reason, prompt_sent: true, raw: RawJson::default() }
    }
}

/// Why an agent stopped at the end of a turn; what ACP does not know is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The agent was done.
    EndTurn,
    /// The model reached its limit of tokens.
    MaxTokens,
    /// The agent reached its limit of requests to the model.
    MaxTurnRequests,
    /// The agent refused to go on.
    Refusal,
    /// The client cancelled.
    Cancelled,
    /// A word that ACP 1 does not know; `unknown` where the agent gave none.
    Other(Arc<str>),
}

impl StopReason {
    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::MaxTurnRequests => "max_turn_requests",
            Self::Refusal => "refusal",
            Self::Cancelled => "cancelled",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for StopReason {
    fn from(word: &str) -> Self {
        match word {
            "end_turn" => Self::EndTurn,
            "max_tokens" => Self::MaxTokens,
            "max_turn_requests" => Self::MaxTurnRequests,
            "refusal" => Self::Refusal,
            "cancelled" => Self::Cancelled,
            "" => Self::Other("unknown".into()),
            other => Self::Other(other.into()),
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The reading end of a session's queue.
///
/// Dropping it never holds the connection up: what comes later is dropped, and questions are answered "cancelled". A
/// prompt that is pending goes on at the agent; cancel it first where it is to stop. The session is not open here any
/// more, but at the agent it is, unless nobody learned of it: then it is closed, where the agent offers that.
///
/// Not reading it does hold the connection up, once it holds [`Limits::session_queue`](crate::Limits::session_queue)
/// bytes: the agent waits.
pub struct SessionEvents {
    queue: Arc<Queue>,
    /// Where it comes from, to tell that nobody reads it any more.
    wire: Option<Weak<Router>>,
}

impl SessionEvents {
    /// The next event; `None` after the last one. Cancel-safe: an event is lost by no drop of this future.
    pub async fn next(&mut self) -> Option<SessionEvent> {
        self.queue.pop().await
    }

    /// A queue that is not fed by the wire, for connections of your own making.
    pub fn channel() -> (SessionEventSender, Self) {
        let queue = Arc::new(Queue::new(usize::MAX, Arc::default()));
        (SessionEventSender { queue: Arc::clone(&queue) }, Self { queue, wire: None })
    }

    pub(crate) fn over(queue: Arc<Queue>, wire: Weak<Router>) -> Self {
        Self { queue, wire: Some(wire) }
    }
}

impl Drop for SessionEvents {
    fn drop(&mut self) {
        let unlearned = self.queue.abandon();
        if let Some(router) = self.wire.as_ref().and_then(Weak::upgrade) {
            router.abandoned(&self.queue, unlearned);
        }
    }
}

impl fmt::Debug for SessionEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionEvents").finish_non_exhaustive()
    }
}

/// The writing end of [`SessionEvents::channel`]. Dropping it ends the events.
pub struct SessionEventSender {
    queue: Arc<Queue>,
}

impl SessionEventSender {
    /// Adds an event at the end; never waits.
    pub fn send(&self, event: SessionEvent) {
        self.queue.push(event, 0);
    }
}

impl Drop for SessionEventSender {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl fmt::Debug for SessionEventSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionEventSender").finish_non_exhaustive()
    }
}
