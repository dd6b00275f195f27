//! One connection to one agent, over any pair of byte streams.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::agent_info::BadHandshake;
use crate::calls;
use crate::connection_event::ConnectionEvent;
use crate::connector::AgentConnection;
use crate::error::{CallError, End, StopCause};
use crate::options::{ConnectOptions, Limits};
use crate::router::{About, Router, TimerGuard};
use crate::schema::{AuthMethodId, ContentBlock, SessionId};
use crate::session::{OpenSession, PromptId, SessionEvents};
use crate::start::{StartError, StartFailure};
use crate::wire::MessageReader;
use crate::{AgentInfo, RawJson, Traffic};

/// A live connection to one agent, after the handshake. Cheap to clone; the last clone that is dropped closes it.
///
/// Reading and writing are tasks of their own, so that no caller ever waits for a pipe. Whatever the agent writes, the
/// connection goes on: what is no message is counted ([`traffic`](Self::traffic)) and never answered.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    router: Arc<Router>,
    agent: Arc<AgentInfo>,
    call_timeout: Duration,
    login_timeout: Duration,
    runtime: Handle,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.router.end(End::Closed);
    }
}

impl Connection {
    /// Connects over a pair of streams and shakes hands: a socket, a pipe, or one end of an in-memory stream.
    ///
    /// Must be called in a tokio runtime. When the reader ends, the connection ends with [`End::OutputClosed`]. When the
    /// connection ends, both streams are dropped. Cancel-safe: dropping the future closes the connection.
    ///
    /// # Errors
    /// When the agent does not answer the handshake in time, refuses it, leaves, or speaks another version.
    pub async fn over<R, W>(reader: R, writer: W, options: &ConnectOptions) -> Result<Self, StartError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let wire = Wire::new(options);
        let (router, limits) = (wire.router(), options.limits.clone());
        tokio::spawn(async move {
            let _at_work = AtWork(&router);
            tokio::select! {
                end = listen(reader, &router, &limits) => router.end(end),
                _ = router.ended() => {}
            }
        });
        tokio::spawn(speak(writer, wire.router()));
        let router = wire.router();
        let noise = || router.traffic().noise_lines;
        wire.shake_hands(options).await.map_err(|failure| StartError { noise: noise(), ..failure.into() })
    }

    /// How the connection ended, once it has.
    pub fn end(&self) -> Option<End> {
        self.inner.router.end_so_far()
    }

    /// Ends the connection with [`End::Closed`], whoever else has a clone of it. A process is not stopped by this but
    /// loses its stdin.
    pub fn close(&self) {
        self.inner.router.end(End::Closed);
    }

    /// The same with [`End::Stopped`], for those who stop an agent that is no process.
    pub fn stop(&self, cause: StopCause) {
        self.inner.router.end(End::Stopped(cause));
    }

    /// What was counted on the connection so far.
    pub fn traffic(&self) -> Traffic {
        self.inner.router.traffic()
    }
}

#[async_trait]
impl AgentConnection for Connection {
    fn agent(&self) -> &AgentInfo {
        &self.inner.agent
    }

    fn open(&self, request: OpenSession) -> Result<SessionEvents, CallError> {
        let params = calls::opening(&request, &self.inner.agent.capabilities)?;
        let (after, router) = (self.inner.call_timeout, Arc::downgrade(&self.inner.router));
        let queue = self.inner.router.open(&request.origin, &params, |call| {
            let timer = self.inner.runtime.spawn(async move {
                loop {
                    tokio::time::sleep(after).await;
                    if router.upgrade().is_none_or(|router| router.expire(call, after)) {
                        return;
                    }
                }
            });
            TimerGuard(timer.abort_handle())
        })?;
        Ok(SessionEvents::over(queue, Arc::downgrade(&self.inner.router)))
    }

    fn is_open(&self, session: &SessionId) -> bool {
        self.inner.router.is_open(session)
    }

    fn prompt(&self, session: &SessionId, content: Vec<ContentBlock>) -> Result<PromptId, CallError> {
        calls::check(&content, &self.inner.agent.capabilities)?;
        self.inner.router.prompt(session, &content)
    }

    fn cancel(&self, session: &SessionId) -> Result<(), CallError> {
        self.inner.router.cancel(session)
    }

    async fn authenticate(&self, method: &AuthMethodId) -> Result<(), CallError> {
        let login = call(&self.inner.router, "authenticate", &json!({ "methodId": method }), About::Itself)?;
        login.cancelled_on_drop().within(self.inner.login_timeout).await.map(drop)
    }

    async fn close_session(&self, session: &SessionId) -> Result<(), CallError> {
        let offered = self.inner.agent.capabilities.session_capabilities.close.is_some();
        calls::offered(offered, "session/close")?;
        if !self.is_open(session) {
            return Err(self.inner.router.not_open(session));
        }
        let params = json!({ "sessionId": session });
        let close = call(&self.inner.router, "session/close", &params, About::Closing(session))?;
        close.within(self.inner.call_timeout).await.map(drop)
    }

    async fn call_raw(&self, method: &str, params: Value) -> Result<Value, CallError> {
        let call = call(&self.inner.router, method, &params, About::Itself)?;
        let result = call.within(self.inner.call_timeout).await?;
        result.tree().map_err(|error| CallError::Malformed(error.to_string()))
    }

    async fn event(&self) -> Option<ConnectionEvent> {
        self.inner.router.event().await
    }

    async fn closed(&self) -> End {
        self.inner.router.ended().await
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("agent", &self.inner.agent.implementation).finish_non_exhaustive()
    }
}

/// A connection before its handshake; dropping it ends the connection.
pub(crate) struct Wire {
    router: Arc<Router>,
    shook_hands: bool,
}

impl Wire {
    pub(crate) fn new(options: &ConnectOptions) -> Self {
        Self { router: Arc::new(Router::new(options)), shook_hands: false }
    }

    pub(crate) fn router(&self) -> Arc<Router> {
        Arc::clone(&self.router)
    }

    pub(crate) async fn shake_hands(mut self, options: &ConnectOptions) -> Result<Connection, StartFailure> {
        let router = self.router();
        let answer = async {
            let call = call(&router, "initialize", &calls::handshake(options), About::Itself)?;
            call.within(options.start_timeout).await
        };
        let answer = answer.await.map_err(StartFailure::from)?;
        let agent = AgentInfo::read(answer).map_err(|bad| match bad {
            BadHandshake::Version(theirs) => StartFailure::UnsupportedVersion { theirs },
            BadHandshake::Malformed(why) => StartFailure::Handshake(CallError::Malformed(why)),
        })?;
        let agent = Arc::new(agent);
        router.introduce(Arc::clone(&agent));
        let ConnectOptions { call_timeout, login_timeout, .. } = *options;
        let inner = Inner { router, agent, call_timeout, login_timeout, runtime: Handle::current() };
        self.shook_hands = true; // From here on the connection ends it.
        Ok(Connection { inner: Arc::new(inner) })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if !self.shook_hands {
            self.router.end(End::Closed);
        }
    }
}

/// A call that was queued. Dropping it ignores the reply; an unwritten call is then not sent.
struct Call<'a> {
    router: &'a Router,
    number: u64,
    reply: oneshot::Receiver<Result<RawJson, CallError>>,
    /// Whether the agent is told of a drop.
    cancels: bool,
}

fn call<'a>(router: &'a Router, method: &str, params: &Value, about: About<'_>) -> Result<Call<'a>, CallError> {
    let (number, reply) = router.call(method, params, about)?;
    Ok(Call { router, number, reply, cancels: false })
}

impl Call<'_> {
    fn cancelled_on_drop(mut self) -> Self {
        self.cancels = true;
        self
    }

    /// Waits for the outcome. An agent that is too late is told that nobody waits any more.
    async fn within(mut self, time: Duration) -> Result<RawJson, CallError> {
        match tokio::time::timeout(time, &mut self.reply).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(CallError::Ended { end: self.router.end_so_far().unwrap_or(End::Closed), sent: true }),
            Err(_) => {
                self.cancels = true;
                Err(CallError::TimedOut(time))
            }
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        match self.cancels {
            true => self.router.give_up(self.number),
            false => drop(self.router.forget(self.number)),
        }
    }
}

/// Ends the connection when the task that reads or writes is gone for whatever reason, a panic or the end of the runtime:
/// nobody may wait for what nobody does.
struct AtWork<'a>(&'a Router);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.end(End::task_gone());
    }
}

/// What an agent that left may have said last, in bytes: the most that a pipe of ours holds. It is read although nobody
/// makes room for it, since it would be lost with the pipe.
const LAST_WORDS: usize = 1 << 20;

/// Reads until the stream ends and tells how it ended.
pub(crate) async fn listen(mut reader: impl AsyncRead + Unpin, router: &Router, limits: &Limits) -> End {
    let mut messages = MessageReader::new(limits.line);
    let mut buffer = vec![0; 64 * 1024];
    let mut last_words = LAST_WORDS;
    loop {
        match reader.read(&mut buffer).await {
            Ok(0) => {
                messages.finish(&mut |heard| router.hear(heard));
                router.wake_readers();
                return End::OutputClosed;
            }
            Ok(length) => {
                messages.push(&buffer[..length], &mut |heard| router.hear(heard));
                router.wake_readers();
                if router.has_left() {
                    if last_words < length {
                        return End::OutputClosed; // Whoever goes on is not the agent.
                    }
                    last_words -= length;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return End::Failed(error.to_string()),
        }
        router.wait_for_readers().await;
    }
}

/// How long the reader has to find out why the agent takes nothing any more.
const REASON_GRACE: Duration = Duration::from_millis(250);

/// Writes what is in the outbox until the connection ends; then the stream is dropped, even under a pending write.
pub(crate) async fn speak(mut writer: impl AsyncWrite + Unpin, router: Arc<Router>) {
    let _at_work = AtWork(&router);
    let write = async {
        while let Some(line) = router.outbox.next().await {
            if let Some(recorder) = &router.recorder {
                recorder.said(&line); // Before the agent can answer it.
            }
            writer.write_all(&line).await?;
            writer.flush().await?;
        }
        std::io::Result::Ok(())
    };
    let outcome = tokio::select! {
        outcome = write => outcome,
        _ = router.ended() => return,
    };
    drop(writer);
    if let Err(error) = outcome {
        tracing::debug!(%error, "writing to the agent failed");
        if tokio::time::timeout(REASON_GRACE, router.ended()).await.is_err() {
            router.end(End::InputClosed);
        }
    }
}
