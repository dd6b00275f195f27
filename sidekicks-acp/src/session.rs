//! A session: how it is opened, and everything it says, in order.

mod permission;
mod queue;
mod update;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{CallError, End};
use crate::raw::RawJson;
use crate::schema::{McpServer, SessionConfigOption, SessionId, SessionModeState};

pub(crate) use permission::Question;
pub use permission::{PermissionOption, PermissionOutcome, PermissionRequest, QuestionId};
pub(crate) use queue::Queue;
pub use update::{Unrecognised, Update};

/// How to open a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenSession {
    /// The working folder of the session; must be absolute. Agents differ in what they do where it does not exist.
    pub cwd: PathBuf,
    /// Tool servers that the agent is to connect to.
    pub mcp_servers: Vec<McpServer>,
}

impl OpenSession {
    /// A new session that works in `cwd`, an absolute path.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self { cwd: cwd.into(), mcp_servers: Vec::new() }
    }

    /// Gives the agent these tool servers.
    pub fn mcp_servers(mut self, servers: Vec<McpServer>) -> Self {
        self.mcp_servers = servers;
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
    /// The outcome of opening; of a new session always the first event. After an error nothing follows.
    Opened(Result<OpenedSession, CallError>),
    /// The agent tells something, in a turn or between turns.
    Update(Update),
    /// The agent asks for permission. The request carries its own reply.
    Permission(PermissionRequest),
    /// A question that was delivered before was taken back, by the agent or by a cancel; an answer reaches nobody.
    Withdrawn(QuestionId),
    /// A prompt's turn ended: exactly one for each prompt. Everything that the agent wrote before it came before.
    TurnEnded {
        /// Which prompt.
        prompt: PromptId,
        /// How it ended.
        end: Result<TurnEnd, CallError>,
    },
    /// The connection ended; always last.
    Ended(End),
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
/// Dropping it never holds the connection up: what comes later is dropped, and questions are answered "cancelled".
/// Not reading it does, once it holds [`Limits::session_queue`](crate::Limits::session_queue) bytes: the agent waits.
pub struct SessionEvents {
    pub(crate) queue: Arc<Queue>,
}

impl SessionEvents {
    /// The next event; `None` after the last one. Cancel-safe: an event is lost by no drop of this future.
    pub async fn next(&mut self) -> Option<SessionEvent> {
        self.queue.pop().await
    }

    /// A queue that is not fed by the wire, for connections of your own making.
    pub fn channel() -> (SessionEventSender, Self) {
        let queue = Arc::new(Queue::new(usize::MAX));
        (SessionEventSender { queue: Arc::clone(&queue) }, Self { queue })
    }
}

impl Drop for SessionEvents {
    fn drop(&mut self) {
        self.queue.abandon();
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
