//! The limits of a connection, as values.

use std::time::Duration;
#[cfg(feature = "process")]
use std::{fmt, sync::Arc};

use crate::recorder::Recorder;
use crate::schema::{
    BooleanConfigOptionCapabilities, ClientCapabilities, ClientSessionCapabilities, CompactionCapabilities,
    Implementation, NoticeCapabilities, SessionConfigOptionsCapabilities,
};

/// How a connection behaves. Begin with the default and set what is to differ:
///
/// ```
/// use std::time::Duration;
///
/// use sidekicks_acp::ConnectOptions;
/// use sidekicks_acp::schema::{ElicitationCapabilities, ElicitationFormCapabilities};
///
/// let mut options = ConnectOptions::default();
/// options.start_timeout = Duration::from_secs(120);
/// options.limits.line = 16 << 20;
/// // This program shows forms: see `SessionEvent::Elicitation`.
/// let forms = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
/// options.capabilities = options.capabilities.elicitation(forms);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// What we call ourselves in the handshake.
    pub client: Implementation,
    /// What we offer to agents. By default that boolean options can be set, and that notices and compactions are read,
    /// which come as [`Update`](crate::Update)s; an agent that is not offered those tells them as part of its answer, or
    /// not at all. An embedder that asks its user for what an agent elicits, or runs a login in a terminal, offers that
    /// here; as soon as `elicitation` is there, whatever is in it, an agent's `elicitation/create` is delivered. The
    /// services that this crate does not have, files and terminals, are never offered.
    pub capabilities: ClientCapabilities,
    /// How long starting may take, from the start of the program to the answer of the handshake. Default: 60 seconds;
    /// an agent behind `npx` downloads itself the first time.
    pub start_timeout: Duration,
    /// How long any other call may take, but for a prompt and a login. Default: 60 seconds.
    pub call_timeout: Duration,
    /// How long a login may take, for which a person may have to visit a page. Default: 10 minutes.
    pub login_timeout: Duration,
    /// How long a session that nobody reads may hold up others, see [`End::ReaderStalled`](crate::End::ReaderStalled).
    /// Default: 30 seconds.
    pub stall_timeout: Duration,
    /// How much is kept.
    pub limits: Limits,
    /// Writes down what goes over the wire.
    pub recorder: Option<Recorder>,
    /// Names the agent in the variable `SIDEKICKS_AGENT`, by which all its processes are found again, whoever looks at them.
    /// Characters other than ASCII letters, digits, `.`, `_` and `-` are replaced there. Default: empty.
    #[cfg(feature = "process")]
    pub label: String,
    /// Ends the agent also when this program is killed.
    #[cfg(feature = "process")]
    pub guard: Option<crate::Guard>,
    #[cfg(feature = "process")]
    pub(crate) on_stderr: Option<OnLine>,
}

/// Who is told of each line.
#[cfg(feature = "process")]
#[derive(Clone)]
pub(crate) struct OnLine(pub(crate) Arc<dyn Fn(&str) + Send + Sync>);

#[cfg(feature = "process")]
impl fmt::Debug for OnLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnLine")
    }
}

#[cfg(feature = "process")]
impl ConnectOptions {
    /// Hands each line that the agent writes to stderr to `heard`, without its line feed, as it comes: to show what an
    /// agent does that takes long to start. Of a line longer than [`Limits::stderr`] only the head. The agent's text,
    /// control characters and all.
    ///
    /// It is called by the task that drains stderr, so it must not block. It is not called any more after it panicked. The
    /// end of stderr is kept all the same.
    pub fn on_stderr(mut self, heard: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_stderr = Some(OnLine(Arc::new(heard)));
        self
    }
}

impl Default for ConnectOptions {
    fn default() -> Self {
        let boolean = SessionConfigOptionsCapabilities::new().boolean(BooleanConfigOptionCapabilities::new());
        let session = ClientSessionCapabilities::new()
            .config_options(boolean)
            .notices(NoticeCapabilities::new())
            .compaction(CompactionCapabilities::new());
        Self {
            client: Implementation::new("sidekicks", env!("CARGO_PKG_VERSION")),
            capabilities: ClientCapabilities::new().session(session),
            start_timeout: Duration::from_secs(60),
            call_timeout: Duration::from_secs(60),
            login_timeout: Duration::from_secs(600),
            stall_timeout: Duration::from_secs(30),
            limits: Limits::default(),
            recorder: None,
            #[cfg(feature = "process")]
            label: String::new(),
            #[cfg(feature = "process")]
            on_stderr: None,
            #[cfg(feature = "process")]
            guard: None,
        }
    }
}

/// How much a connection keeps in memory, in bytes. What is said of a session holds for each of them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// The longest line that is read as a message; a longer one is passed over. Default: 64 MiB.
    pub line: usize,
    /// What may wait to be written before calls are refused with `Backpressure`. Default: 16 MiB. One message larger
    /// than that is taken when nothing else waits; answers to the agent's questions have as much room again, and a cancel
    /// always gets in.
    pub outbox: usize,
    /// What a session may have said without being read; then the agent has to wait. Default: 8 MiB.
    pub session_queue: usize,
    /// How much of the end of stderr is kept. Default: 64 KiB.
    pub stderr: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 64 << 20, outbox: 16 << 20, session_queue: 8 << 20, stderr: 64 << 10 }
    }
}
