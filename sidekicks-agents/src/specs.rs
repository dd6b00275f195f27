//! What agents there are, as data.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use sidekicks_acp::{AgentCommand, AgentName, ConnectOptions, StopPolicy};

/// All agents of a program, and how much room they have together.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use sidekicks_acp::AgentCommand;
/// use sidekicks_agents::{AgentSpec, Specs};
///
/// let mut specs = Specs::new()
///     .agent("codex", AgentSpec::new(AgentCommand::new("codex-acp")))
///     .agent("gemini", AgentSpec::new(AgentCommand::new("gemini").arg("--acp")));
/// specs.max_running = NonZeroUsize::new(4);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Specs {
    /// The agents by name.
    pub agents: BTreeMap<AgentName, AgentSpec>,
    /// How many may run at once, those included that are starting or stopping. `None` is any number.
    pub max_running: Option<NonZeroUsize>,
    /// How many bytes all of them together may use, counted with the processes they started. `None` is any number. One
    /// agent may always run.
    pub max_memory: Option<u64>,
}

impl Specs {
    /// No agents, and no limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an agent, or replaces the one of this name.
    pub fn agent(mut self, name: impl Into<AgentName>, spec: AgentSpec) -> Self {
        self.agents.insert(name.into(), spec);
        self
    }

    /// Whether these specs can work.
    pub(crate) fn check(&self) -> Result<(), SpecsError> {
        let pinned = self.agents.values().filter(|spec| spec.pinned).count();
        match self.max_running {
            Some(most) if pinned > most.get() || (pinned == most.get() && self.agents.len() > pinned) => {
                Err(SpecsError::TooManyPinned { pinned, max_running: most.get() })
            }
            _ => Ok(()),
        }
    }
}

/// Why [`Specs`] were refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecsError {
    /// The pinned agents would take all the room there is, and others wait for ever.
    #[error("{pinned} agents are pinned, and {max_running} may run: others would never run")]
    #[non_exhaustive]
    TooManyPinned {
        /// How many agents are pinned.
        pinned: usize,
        /// How many may run.
        max_running: usize,
    },
}

/// One agent: how it is started, and how long it is kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentSpec {
    /// The program. When a reload changes it, the process is replaced as soon as it is idle; everything else in a spec
    /// takes effect in place, or at the next start.
    pub command: AgentCommand,
    /// How it is connected; the time that a start may take is in here. Its `label` is set by
    /// the supervisor, and so is its `guard` where there is one in [`Options`](crate::Options).
    pub connect: ConnectOptions,
    /// How patiently it is stopped.
    pub stop: StopPolicy,
    /// How long it may be idle before it is stopped. Default: 10 minutes. `None` is for ever.
    pub idle_timeout: Option<Duration>,
    /// How many may borrow it at once. Default: 1; many agents confuse turns that run side by side.
    pub turns: NonZeroU32,
    /// Never stopped for idleness or to make room.
    pub pinned: bool,
    /// How many bytes it is expected to use, counted for [`Specs::max_memory`] until more was measured. Default: 512 MiB
    /// until something was measured.
    pub memory_estimate: Option<u64>,
    /// How many bytes it may use with the processes it started. An agent above it is stopped as soon as it is idle.
    pub memory_limit: Option<u64>,
}

impl AgentSpec {
    /// Runs `command`, with every default.
    pub fn new(command: AgentCommand) -> Self {
        Self {
            command,
            connect: ConnectOptions::default(),
            stop: StopPolicy::default(),
            idle_timeout: Some(Duration::from_secs(600)),
            turns: NonZeroU32::MIN,
            pinned: false,
            memory_estimate: None,
            memory_limit: None,
        }
    }
}

/// When starts are tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// After how many failures within the window nothing is tried for a while. Default: 3; 0 is never.
    pub failures: usize,
    /// How long a failure counts. Default: 60 seconds; it doubles each time that this many failures are reached again.
    pub window: Duration,
    /// What the window grows to at most. Default: 10 minutes.
    pub longest: Duration,
    /// An agent that leaves by itself so soon after it was ready counts as a failed start. Default: 30 seconds.
    pub young: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { failures: 3, window: seconds(60), longest: seconds(600), young: seconds(30) }
    }
}
