//! All conversations of a program.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sidekicks_acp::schema::McpServer;
use sidekicks_acp::{AgentName, Connector};
use tokio::runtime::Handle;

use crate::conversation::Conversation;
use crate::core::Farewells;
use crate::hub::{Hub, Subscription};
#[cfg(doc)]
use crate::transcript::Transcript;

/// Where conversations find their agents. Asked at each turn, so that a change takes effect at the next one.
///
/// Where the folder or the tool servers changed, that turn is in a new session, and the conversation says so
/// (`agent-restarted`). Another mode or model is set before the turn. Of an agent that is there no more what was said can
/// still be read.
///
/// A function from a name to a profile is one, and so is a map, an `Arc` of one, and one behind a lock, so that
/// `Arc<RwLock<HashMap<..>>>` is one whose agents can be changed. It is asked while a conversation is locked: it must not
/// block, nor call into conversations or drop the last of them, and who changes it must not call into them while they hold
/// its lock.
pub trait AgentDirectory: Send + Sync {
    /// The agent of this name, if there is one.
    fn find(&self, name: &AgentName) -> Option<AgentProfile>;
}

impl<F: Fn(&AgentName) -> Option<AgentProfile> + Send + Sync> AgentDirectory for F {
    fn find(&self, name: &AgentName) -> Option<AgentProfile> {
        self(name)
    }
}

impl AgentDirectory for HashMap<AgentName, AgentProfile> {
    fn find(&self, name: &AgentName) -> Option<AgentProfile> {
        self.get(name).cloned()
    }
}

impl<T: AgentDirectory + ?Sized> AgentDirectory for Arc<T> {
    fn find(&self, name: &AgentName) -> Option<AgentProfile> {
        (**self).find(name)
    }
}

impl<T: AgentDirectory + ?Sized> AgentDirectory for RwLock<T> {
    fn find(&self, name: &AgentName) -> Option<AgentProfile> {
        self.read().unwrap_or_else(PoisonError::into_inner).find(name)
    }
}

impl<T: AgentDirectory + Send + ?Sized> AgentDirectory for Mutex<T> {
    fn find(&self, name: &AgentName) -> Option<AgentProfile> {
        self.lock().unwrap_or_else(PoisonError::into_inner).find(name)
    }
}

/// How an agent is talked to.
#[derive(Clone)]
#[non_exhaustive]
pub struct AgentProfile {
    /// Where a connection to it is borrowed, for one turn at a time. It may be dropped while a conversation is locked: its
    /// `Drop`, if it has one, must not call into conversations.
    pub connector: Arc<dyn Connector>,
    /// The folder it works in; an absolute path.
    pub cwd: PathBuf,
    /// Tool servers that it is to connect to.
    pub mcp_servers: Vec<McpServer>,
    /// The mode that its sessions are to be in, one of those that it offers. Many agents ask for no permission in the
    /// mode that they begin in.
    ///
    /// Set when a session opens, and at the next turn where it changed. Where the agent refuses it, no prompt is sent.
    pub mode: Option<String>,
    /// The model that its sessions are to work with, as [`mode`](Self::mode).
    pub model: Option<String>,
}

impl AgentProfile {
    /// An agent that works in `cwd`, an absolute path.
    pub fn new(connector: impl Connector, cwd: impl Into<PathBuf>) -> Self {
        Self { connector: Arc::new(connector), cwd: cwd.into(), mcp_servers: Vec::new(), mode: None, model: None }
    }

    /// Gives the agent these tool servers.
    pub fn mcp_servers(mut self, servers: Vec<McpServer>) -> Self {
        self.mcp_servers = servers;
        self
    }

    /// Wants its sessions to be in this mode.
    pub fn mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(mode.into());
        self
    }

    /// Wants its sessions to work with this model.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }
}

impl fmt::Debug for AgentProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connector: _, cwd, mcp_servers: _, mode, model } = self;
        f.debug_struct("AgentProfile")
            .field("cwd", cwd)
            .field("mode", mode)
            .field("model", model)
            .finish_non_exhaustive()
    }
}

/// How conversations behave.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// How many messages may wait in one conversation. Default: 100.
    pub queue: usize,
    /// How long an agent may take to end a turn that was cancelled, before the turn is ended here and the agent is
    /// stopped. `Duration::MAX` waits for as long as it takes. Default: 10 seconds.
    pub cancel_timeout: Duration,
    /// How long an agent that works may say nothing at all until
    /// [`TurnState::silent_since`](crate::TurnState::silent_since) tells so. `Duration::MAX` is never. Default: 60 seconds.
    pub silence: Duration,
    /// How many events a subscriber may be behind before it gets a reset, at least 1. One that is 16 MiB behind gets one
    /// too. Default: 4096.
    pub backlog: usize,
    /// The time of day, in milliseconds since the Unix epoch. Default: the system's.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Options {
    /// Lets so many messages wait in one conversation.
    pub fn queue(mut self, messages: usize) -> Self {
        self.queue = messages;
        self
    }

    /// Gives an agent this long to end a turn that was cancelled.
    pub fn cancel_timeout(mut self, timeout: Duration) -> Self {
        self.cancel_timeout = timeout;
        self
    }

    /// Lets an agent be silent for so long before that is told.
    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Lets a subscriber be so many events behind.
    pub fn backlog(mut self, events: usize) -> Self {
        self.backlog = events;
        self
    }

    /// Takes the time of day from `clock`. It is asked while a conversation is locked: it must not block, nor call into
    /// conversations.
    pub fn clock(mut self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            queue: 100,
            cancel_timeout: Duration::from_secs(10),
            silence: Duration::from_secs(60),
            backlog: 4096,
            clock: Arc::new(system_clock),
        }
    }
}

fn system_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, cancel_timeout, silence, backlog, clock: _ } = self;
        f.debug_struct("Options")
            .field("queue", queue)
            .field("cancel_timeout", cancel_timeout)
            .field("silence", silence)
            .field("backlog", backlog)
            .finish_non_exhaustive()
    }
}

/// All conversations: one with each agent, in memory. Cheap to clone; all clones are the same.
///
/// When the last clone and the last [`Conversation`] are dropped, running turns are cancelled.
#[derive(Clone)]
pub struct Conversations {
    shared: Arc<Shared>,
}

/// What the conversations of a program have in common.
pub(crate) struct Common {
    pub(crate) directory: Box<dyn AgentDirectory>,
    pub(crate) options: Options,
    pub(crate) hub: Hub,
    pub(crate) farewells: Farewells,
    /// Numbers messages and questions: no id is used twice.
    next: AtomicU64,
}

struct Shared {
    common: Arc<Common>,
    runtime: Handle,
    conversations: Mutex<HashMap<AgentName, Conversation>>,
}

impl Common {
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn now(&self) -> u64 {
        (self.options.clock)()
    }
}

impl Conversations {
    /// No conversations yet, with the agents of `directory`.
    ///
    /// # Panics
    /// Outside a tokio runtime. When that runtime is gone, all turns end, and the conversations are closed.
    pub fn new(directory: impl AgentDirectory + 'static, options: Options) -> Self {
        let hub = Hub::new(options.backlog);
        let common = Common {
            directory: Box::new(directory),
            options,
            hub,
            farewells: Farewells::none(),
            next: AtomicU64::new(1),
        };
        let shared = Shared { common: Arc::new(common), runtime: Handle::current(), conversations: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// The conversation with this agent: made on first use, then always the same. `None` where there is no such agent
    /// and nothing was said to one of this name.
    pub fn with(&self, agent: &AgentName) -> Option<Conversation> {
        let mut conversations = self.shared.conversations.lock().unwrap_or_else(PoisonError::into_inner);
        let known = conversations.get(agent);
        if let Some(known) = known.filter(|_| self.shared.common.hub.knows(agent)) {
            return Some(known.clone());
        }
        self.shared.common.directory.find(agent)?;
        self.shared.common.hub.add(agent);
        if let Some(forgotten) = known {
            return Some(forgotten.clone());
        }
        let conversation = Conversation::begin(agent.clone(), Arc::clone(&self.shared.common), &self.shared.runtime);
        conversations.insert(agent.clone(), conversation.clone());
        Some(conversation)
    }

    /// Forgets everything that was said, as when another file was opened: what waits is dropped, turns are cancelled,
    /// questions are answered "cancelled", and each conversation is told as [removed](Transcript::removed).
    ///
    /// All that is so once this was polled first; what an agent still says is heard by nobody. It then waits until no agent
    /// works for what is forgotten, at most for [`Options::cancel_timeout`], and for as long again until it has closed the
    /// session where it can: one that does not end its turn is stopped. Cancel-safe: dropping the future only ends the waiting.
    ///
    /// [`Conversation`]s that are held stay valid, and empty. What is sent to them begins the conversation anew. To open
    /// another file: change the directory, forget, then stop the agents that are in it no more. What is sent in between is
    /// forgotten too, or had with the new ones.
    pub async fn forget(&self) {
        let conversations: Vec<Conversation> =
            self.shared.conversations.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        conversations.iter().for_each(Conversation::forget);
        drop(conversations);
        self.shared.common.farewells.over().await;
    }

    /// With whom there is a conversation, in the order of their names.
    pub fn agents(&self) -> Vec<AgentName> {
        let conversations = self.shared.conversations.lock().unwrap_or_else(PoisonError::into_inner);
        let known = conversations.keys().filter(|agent| self.shared.common.hub.knows(agent));
        let mut agents: Vec<_> = known.cloned().collect();
        agents.sort();
        agents
    }

    /// The events of all conversations; a reset of each comes first.
    pub fn subscribe(&self) -> Subscription {
        self.shared.common.hub.subscribe()
    }
}

impl fmt::Debug for Conversations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversations").finish_non_exhaustive()
    }
}
