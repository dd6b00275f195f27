//! How an agent is started, and what the supervisor needs of one that runs.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use sidekicks_acp::{
    AgentConnection, AgentName, AgentProcess, Connection, Generation, Guard, StartError, StopCause, StopReport,
};
use tokio::sync::watch;

use crate::specs::AgentSpec;

/// Starts agents for a supervisor. [`Processes`] runs their command; another one may reach them over a socket.
#[async_trait]
pub trait Launcher: Send + Sync + 'static {
    /// Starts an agent and shakes hands.
    ///
    /// Its place is taken until this future ends, so it must have a limit, and should end soon after
    /// [`Launch::given_up`] does. What it began must be gone when it gives an error. It may panic, which is a failed
    /// start.
    async fn launch(&self, launch: Launch) -> Result<Arc<dyn RunningAgent>, StartError>;
}

/// What is to be started.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Launch {
    /// The agent.
    pub agent: AgentName,
    /// Which start of it this is.
    pub generation: Generation,
    /// How it is started.
    pub spec: AgentSpec,
    pub(crate) given_up: watch::Receiver<bool>,
}

impl Launch {
    /// Waits until nobody wants this start any more. Cancel-safe.
    pub async fn given_up(&self) {
        // The sender goes away only with the supervisor.
        let _ = self.given_up.clone().wait_for(|given_up| *given_up).await;
    }
}

/// An agent that runs.
#[async_trait]
pub trait RunningAgent: Send + Sync + 'static {
    /// The connection to it.
    fn connection(&self) -> Arc<dyn AgentConnection>;

    /// Begins to stop it, and returns at once; the connection ends with this cause. It may have stopped already.
    fn begin_stop(&self, cause: StopCause);

    /// Takes the next step of a stop now.
    fn hurry(&self) {}

    /// Waits until it has stopped; tells how that went, where there is a process.
    async fn stopped(&self) -> Option<Arc<StopReport>>;

    /// Waits until nothing of it is left, which may be later: a process can be stuck in the kernel. Its place is free
    /// from then on.
    async fn gone(&self) {}

    /// How many bytes it uses with all that it started, where that can be told.
    async fn memory(&self) -> Option<u64> {
        None
    }
}

/// Starts agents as child processes.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    guard: Option<Guard>,
}

impl Processes {
    /// Without a guard.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends them also when this program is killed.
    pub fn guarded(guard: Guard) -> Self {
        Self { guard: Some(guard) }
    }
}

#[async_trait]
impl Launcher for Processes {
    async fn launch(&self, launch: Launch) -> Result<Arc<dyn RunningAgent>, StartError> {
        let AgentSpec { command, connect, stop, .. } = &launch.spec;
        let mut connect = connect.clone();
        connect.label = launch.agent.to_string();
        if let Some(guard) = &self.guard {
            connect = connect.guard(guard.clone());
        }
        let process = AgentProcess::start_unless(command, &connect, stop, launch.given_up()).await?;
        Ok(Arc::new(process))
    }
}

#[async_trait]
impl RunningAgent for AgentProcess {
    fn connection(&self) -> Arc<dyn AgentConnection> {
        Arc::new(AgentProcess::connection(self).clone())
    }

    fn begin_stop(&self, cause: StopCause) {
        AgentProcess::begin_stop(self, cause);
    }

    fn hurry(&self) {
        AgentProcess::hurry(self);
    }

    async fn stopped(&self) -> Option<Arc<StopReport>> {
        Some(AgentProcess::stopped(self).await)
    }

    async fn gone(&self) {
        self.reaped().await;
    }

    async fn memory(&self) -> Option<u64> {
        AgentProcess::memory(self).await
    }
}

/// A connection without a process, such as one over a socket: stopping it closes it.
#[async_trait]
impl RunningAgent for Connection {
    fn connection(&self) -> Arc<dyn AgentConnection> {
        Arc::new(self.clone())
    }

    fn begin_stop(&self, cause: StopCause) {
        self.stop(cause);
    }

    async fn stopped(&self) -> Option<Arc<StopReport>> {
        self.closed().await;
        None
    }
}

impl fmt::Debug for dyn RunningAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningAgent").finish_non_exhaustive()
    }
}
