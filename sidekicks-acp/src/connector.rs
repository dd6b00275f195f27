//! Where a live connection is had, and what it can do: the two traits that everything meets through.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::borrow::Borrow;
use crate::calls;
use crate::connection_event::ConnectionEvent;
use crate::error::{CallError, End};
use crate::raw::listed;
use crate::schema::{
    AuthMethodId, ContentBlock, ListSessionsRequest, ListSessionsResponse, SessionConfigId, SessionConfigOption,
    SessionConfigOptionValue, SessionId, SessionModeId,
};
use crate::session::{OpenSession, PromptId, SessionEvents};
use crate::{AgentInfo, StartError};

/// Where a live connection to one agent is borrowed.
///
/// A supervised agent is one, [`SingleAgent`](crate::SingleAgent) is one, and so is any other transport.
#[async_trait]
pub trait Connector: Send + Sync + 'static {
    /// Borrows a live connection, starting the agent where needed. Drop the lease when the turn ends.
    ///
    /// Cancel-safe: dropping the future gives up the place in the queue. Whether a start that was begun for this borrower
    /// goes on is the connector's business.
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError>;
}

#[async_trait]
impl<C: Connector + ?Sized> Connector for Arc<C> {
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError> {
        (**self).borrow(request).await
    }
}

/// Counts the starts of one agent: a session lives in one generation only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Generation(pub u64);

/// A borrowed connection. Dropping it gives the connection back; nothing is awaited and no runtime is needed.
#[must_use = "a lease that is dropped gives the agent back at once"]
pub struct Lease {
    connection: Arc<dyn AgentConnection>,
    generation: Generation,
    guard: Option<Box<dyn LeaseGuard>>,
}

/// What happens at the end of a [`Lease`]. For those who write a [`Connector`].
pub trait LeaseGuard: Send + Sync + 'static {
    /// The borrower is done. Must not block.
    fn release(self: Box<Self>);

    /// The borrower is done, and this process does not obey: it is to be stopped. Must not block.
    fn condemn(self: Box<Self>);
}

impl Lease {
    /// Lends `connection`; `guard` hears of the end of it, exactly once.
    ///
    /// Lend clones of one `Arc` for as long as a generation lasts: by that, borrowers know whether the sessions that they
    /// opened are there.
    pub fn new(connection: Arc<dyn AgentConnection>, generation: Generation, guard: impl LeaseGuard) -> Self {
        Self { connection, generation, guard: Some(Box::new(guard)) }
    }

    /// The connection. A clone of it may outlive the lease, to hear what comes late; no turn may be begun on it then.
    pub fn connection(&self) -> &Arc<dyn AgentConnection> {
        &self.connection
    }

    /// Which start of the agent this is.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Gives the connection back and says that the process does not obey, so that it is stopped.
    pub fn condemn(mut self) {
        if let Some(guard) = self.guard.take() {
            guard.condemn();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(guard) = self.guard.take() {
            guard.release();
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("generation", &self.generation).finish_non_exhaustive()
    }
}

/// A live connection to an agent: its sessions and their turns.
///
/// `open`, `prompt` and `cancel` only queue; what comes of them is told by the session's [`SessionEvents`], in order.
/// Every other call ends by its result, an error, a timeout or the end of the connection, and may be dropped at any time:
/// then its reply is ignored, and nothing is sent if it was not written yet.
///
/// On a [`Connection`](crate::Connection) its methods need this trait in scope; behind a [`Lease`] they do not. The ids are
/// the [`schema`](crate::schema)'s, which has a `new` for each that takes any text.
///
/// Those who bring a transport of their own write the methods without a body; the others are made of
/// [`call_raw`](Self::call_raw).
#[async_trait]
pub trait AgentConnection: Send + Sync + 'static {
    /// What the agent said of itself in the handshake.
    fn agent(&self) -> &AgentInfo;

    /// Opens a session: a new one, or one that the agent remembers. The outcome is an event:
    /// [`SessionEvent::Opened`](crate::SessionEvent::Opened).
    ///
    /// Dropping the events before that closes the session of which nobody learned, where the agent offers that.
    ///
    /// # Errors
    /// At once, with nothing sent: for a relative folder, what the agent does not offer, a session that is open and read,
    /// a full outbox, or a connection that is over.
    fn open(&self, request: OpenSession) -> Result<SessionEvents, CallError>;

    /// Whether a session of this id is open here. Other transports may always say yes, and let the agent refuse.
    fn is_open(&self, _session: &SessionId) -> bool {
        true
    }

    /// Sends a prompt. Its end is an event: exactly one [`SessionEvent::TurnEnded`](crate::SessionEvent::TurnEnded).
    ///
    /// # Errors
    /// At once, with nothing sent: for an empty prompt, content that the agent does not take, an unknown session, a
    /// prompt that is pending already, a full outbox or a connection that is over.
    fn prompt(&self, session: &SessionId, content: Vec<ContentBlock>) -> Result<PromptId, CallError>;

    /// Cancels the pending prompt of a session and answers its open questions "cancelled", as ACP asks of a client.
    ///
    /// The turn still ends by its [`SessionEvent::TurnEnded`](crate::SessionEvent::TurnEnded). A prompt whose line was
    /// not yet written is taken back and ends at once. With no prompt pending nothing is sent: some agents would
    /// cancel their next prompt.
    ///
    /// # Errors
    /// For an unknown session or a connection that is over.
    fn cancel(&self, session: &SessionId) -> Result<(), CallError>;

    /// Puts a session into one of its modes, `session/set_mode`.
    ///
    /// Success is no proof: some agents say yes to a mode that they do not have. Agents confirm by a
    /// `current_mode_update`, a `config_option_update`, or not at all.
    async fn set_mode(&self, session: &SessionId, mode: &SessionModeId) -> Result<(), CallError> {
        call_of(self, session, "session/set_mode", json!({ "modeId": mode })).await.map(drop)
    }

    /// Sets an option of a session, `session/set_config_option`: `true.into()` where it is a boolean, the id of the choice
    /// otherwise, `"large".into()`. Gives all of its options as they are then; none where the agent does not tell them.
    async fn set_config_option(
        &self,
        session: &SessionId,
        option: &SessionConfigId,
        value: SessionConfigOptionValue,
    ) -> Result<Vec<SessionConfigOption>, CallError> {
        let mut params = calls::written(&value)?; // With its `type`, without which agents take no boolean.
        params["configId"] = calls::written(option)?;
        let answer = call_of(self, session, "session/set_config_option", params).await?;
        Ok(listed(&answer["configOptions"]))
    }

    /// Chooses the model of a session by `session/set_model`. That method is no longer in the protocol, but some agents
    /// offer their models by it alone; others have a config option.
    async fn set_model(&self, session: &SessionId, model: &str) -> Result<(), CallError> {
        call_of(self, session, "session/set_model", json!({ "modelId": model })).await.map(drop)
    }

    /// Closes a session, `session/close`, for agents that offer it: its prompt ends, and its events with
    /// [`End::SessionClosed`]. Agents that keep sessions can resume it later.
    ///
    /// A closing that was written takes effect also when this future is dropped.
    async fn close_session(&self, session: &SessionId) -> Result<(), CallError> {
        calls::offered(self.agent().capabilities.session_capabilities.close.is_some(), "session/close")?;
        call_of(self, session, "session/close", json!({})).await.map(drop)
    }

    /// The sessions that the agent remembers, a page of them, for agents that offer `session/list`. Entries that cannot
    /// be read are left out. `updatedAt` comes with and without a time zone.
    async fn list_sessions(&self, request: ListSessionsRequest) -> Result<ListSessionsResponse, CallError> {
        calls::offered(self.agent().capabilities.session_capabilities.list.is_some(), "session/list")?;
        let answer = self.call_raw("session/list", calls::written(&request)?).await?;
        let cursor = answer["nextCursor"].as_str().map(str::to_owned);
        Ok(ListSessionsResponse::new(listed(&answer["sessions"])).next_cursor(cursor))
    }

    /// Makes the agent forget a session, `session/delete`, for agents that offer it. One that is open is better closed
    /// first.
    async fn delete_session(&self, session: &SessionId) -> Result<(), CallError> {
        calls::offered(self.agent().capabilities.session_capabilities.delete.is_some(), "session/delete")?;
        self.call_raw("session/delete", json!({ "sessionId": session })).await.map(drop)
    }

    /// Logs in by one of the [methods](AgentInfo::auth_methods) of the agent, `authenticate`.
    ///
    /// It may take as long as a person needs to visit a page. On a [`Connection`](crate::Connection) the time is
    /// [`ConnectOptions::login_timeout`](crate::ConnectOptions::login_timeout), and dropping the future tells the agent
    /// that nobody waits any more.
    async fn authenticate(&self, method: &AuthMethodId) -> Result<(), CallError> {
        self.call_raw("authenticate", json!({ "methodId": method })).await.map(drop)
    }

    /// Logs out, for agents that offer `logout`.
    async fn logout(&self) -> Result<(), CallError> {
        calls::offered(self.agent().capabilities.auth.logout.is_some(), "logout")?;
        self.call_raw("logout", json!({})).await.map(drop)
    }

    /// Calls any method, such as a vendor's own, without any check. Success is no proof that the agent knows the method.
    ///
    /// Polled once, it is queued: what is called, or polled first, later comes to the agent later.
    async fn call_raw(&self, method: &str, params: Value) -> Result<Value, CallError>;

    /// The next thing that the agent says outside of every session; `None` once the connection is over.
    ///
    /// The newest 1,000 are kept, up to 1 MiB, until somebody asks, from before the handshake on. Each goes to one
    /// caller. Cancel-safe.
    async fn event(&self) -> Option<ConnectionEvent> {
        self.closed().await;
        None
    }

    /// Waits for the end of the connection. Any number may wait; cancel-safe.
    async fn closed(&self) -> End;
}

/// A call about an open session.
async fn call_of<C: AgentConnection + ?Sized>(
    connection: &C,
    session: &SessionId,
    method: &str,
    mut params: Value,
) -> Result<Value, CallError> {
    if !connection.is_open(session) {
        return Err(tokio::select! {
            biased;
            end = connection.closed() => CallError::Ended { end, sent: false },
            () = std::future::ready(()) => CallError::UnknownSession(session.clone()),
        });
    }
    params["sessionId"] = calls::written(session)?;
    connection.call_raw(method, params).await
}

/// Why no connection could be had.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The agent could not be started.
    #[error("the agent could not be started")]
    Start(#[source] Arc<StartError>),
    /// It failed several times lately; nothing was tried.
    #[error("the agent failed several times; it can be tried again in {} seconds", .retry_after.as_secs())]
    Backoff {
        /// How long until it is tried again.
        retry_after: Duration,
        /// The last failure.
        #[source]
        last: Arc<StartError>,
    },
    /// The deadline passed while others held all the room there is.
    #[error("there is no room: held by {}", .holders.join(", "))]
    NoRoom {
        /// Who holds it.
        holders: Vec<String>,
    },
    /// Everybody who holds a connection waits for another one.
    #[error("everybody waits for somebody else")]
    WouldDeadlock,
    /// The agent needs more than all the room there is.
    #[error("the agent needs more room than there is")]
    TooLarge,
    /// There is no agent of this name.
    #[error("there is no such agent")]
    Unknown,
    /// The agent was stopped by this program while it was waited for.
    #[error("the agent was stopped")]
    Stopped,
    /// No connection is handed out any more.
    #[error("the agents are shut down")]
    Closed,
    /// Another transport's own reason.
    #[error("no connection was made")]
    Other(#[source] Arc<dyn std::error::Error + Send + Sync>),
}

impl ConnectError {
    /// The code of this error, one of [`CODES`](crate::CODES).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Start(error) => error.code(),
            Self::Backoff { .. } => "backoff",
            Self::NoRoom { .. } => "agent-room",
            Self::WouldDeadlock => "would-deadlock",
            Self::TooLarge => "too-large",
            Self::Unknown => "unknown-agent",
            Self::Stopped => "agent-stopped",
            Self::Closed => "closed",
            Self::Other(_) => "connection-lost",
        }
    }
}
