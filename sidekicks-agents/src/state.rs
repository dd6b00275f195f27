//! What an observer sees of an agent.

use std::sync::Arc;

use sidekicks_acp::{End, Generation, StartError, StopReport};
use tokio::time::Instant;

/// One agent at one moment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentState {
    /// What it does.
    pub activity: Activity,
    /// Its last start, counted from 1; 0 before the first.
    pub generation: Generation,
    /// How many wait for it.
    pub waiting: usize,
    /// Whether it is never stopped for idleness or to make room.
    pub pinned: bool,
    /// How many bytes it uses with the processes it started, when that was last measured in this generation. Measured
    /// every 5 seconds while a limit needs it.
    pub memory: Option<u64>,
    /// Whether that is more than its own limit, so that it is stopped as soon as it is idle.
    pub above_limit: bool,
    /// Why it could not be started, or left soon after it was; nothing once it is ready.
    pub failure: Option<Arc<StartError>>,
    /// When it is tried again after several failures. The moment may have passed.
    pub retry_at: Option<Instant>,
    /// How this generation ended, if it has; by a stop also where it never became ready.
    pub end: Option<End>,
    /// How its process ended, if it has. One that is stuck is reported while it is still there.
    pub report: Option<Arc<StopReport>>,
}

impl AgentState {
    /// Whether an observer would see no difference.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        fn same<T>(one: &Option<Arc<T>>, other: &Option<Arc<T>>) -> bool {
            one.as_ref().map(Arc::as_ptr) == other.as_ref().map(Arc::as_ptr)
        }
        let facts = |state: &Self| (state.generation, state.waiting, state.pinned, state.memory, state.above_limit);
        facts(self) == facts(other)
            && self.activity == other.activity
            && self.retry_at == other.retry_at
            && self.end == other.end
            && same(&self.failure, &other.failure)
            && same(&self.report, &other.report)
    }
}

/// What an agent does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// Nothing of it runs.
    Stopped,
    /// It was started, and is not ready yet.
    Starting,
    /// It runs, and nobody borrows it.
    Idle,
    /// It is borrowed.
    #[non_exhaustive]
    Busy {
        /// How many times.
        leases: usize,
        /// By whom, as far as they said so.
        owners: Vec<Arc<str>>,
    },
    /// It was told to stop, or left by itself; until its process is reaped.
    Stopping,
}
