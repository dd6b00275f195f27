//! Where agents are found, and how they are talked to.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use sidekicks_acp::schema::McpServer;
use sidekicks_acp::{AgentName, Connector};

use crate::policy::{Policy, Rule};

/// Where conversations find their agents. Asked at each turn and each question, so that a change takes effect at the next
/// one.
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
    /// Where a connection to it is borrowed, for one turn at a time. It may be dropped, and what it lends be called, while
    /// a conversation is locked: its `Drop`, if it has one, and what a connection does before it waits for the agent must
    /// not call into conversations.
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
    /// What becomes of its questions before anybody is asked. Looked at when a question comes, so that a change takes effect
    /// at the next one.
    pub policy: Policy,
    /// What goes before the policy: the first rule that fits decides.
    pub rules: Vec<Rule>,
}

impl AgentProfile {
    /// An agent that works in `cwd`, an absolute path.
    pub fn new(connector: impl Connector, cwd: impl Into<PathBuf>) -> Self {
        Self {
            connector: Arc::new(connector),
            cwd: cwd.into(),
            mcp_servers: Vec::new(),
            mode: None,
            model: None,
            policy: Policy::default(),
            rules: Vec::new(),
        }
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

    /// Decides about its questions by this policy.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Decides about its questions by these rules first, in this order.
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules = rules.into_iter().collect();
        self
    }
}

impl fmt::Debug for AgentProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connector: _, cwd, mcp_servers: _, mode, model, policy, rules } = self;
        f.debug_struct("AgentProfile")
            .field("cwd", cwd)
            .field("mode", mode)
            .field("model", model)
            .field("policy", policy)
            .field("rules", rules)
            .finish_non_exhaustive()
    }
}
