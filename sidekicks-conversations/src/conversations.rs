//! All conversations of a program.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sidekicks_acp::AgentName;
use tokio::runtime::Handle;

use crate::conversation::Conversation;
use crate::core::Farewells;
use crate::directory::AgentDirectory;
use crate::hub::{Hub, Subscription};
use crate::options::Options;
#[cfg(doc)]
use crate::transcript::Transcript;

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
