//! How an agent is started, and what the supervisor needs of one that runs.

use std::sync::Arc;

use async_trait::async_trait;
use sidekicks_acp::{
    AgentConnection, AgentName, AgentProcess, Connection, Generation, Guard, StartError, StopCause, StopReport,
};
use tokio::sync::watch;

use crate::specs::AgentSpec;
use crate::watcher::Orders;

/// Starts agents for a supervisor. [`Processes`] runs their command; another one may reach them over a socket.
#[async_trait]
pub trait Launcher: Send + Sync + 'static {
    /// Starts an agent and shakes hands.
    ///
    /// Its place is taken until this future ends, so it must have a limit, and should end soon after
    /// [`Launch::given_up`] does. What it began must be gone when it gives an error. A panic is a failed start.
    async fn launch(&self, launch: Launch) -> Result<Arc<dyn RunningAgent>, StartError>;
}

#[async_trait]
impl<L: Launcher + ?Sized> Launcher for Arc<L> {
    async fn launch(&self, launch: Launch) -> Result<Arc<dyn RunningAgent>, StartError> {
        (**self).launch(launch).await
    }
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
    orders: Option<watch::Receiver<Orders>>,
}

impl Launch {
    /// A start that is never given up, to try a [`Launcher`] without a supervisor.
    pub fn new(agent: impl Into<AgentName>, generation: Generation, spec: AgentSpec) -> Self {
        Self { agent: agent.into(), generation, spec, orders: None }
    }

    pub(crate) fn ordered(mut self, orders: watch::Receiver<Orders>) -> Self {
        self.orders = Some(orders);
        self
    }

    /// Waits until nobody wants this start any more. Cancel-safe.
    pub async fn given_up(&self) {
        match self.orders.clone() {
            // An error means that the supervisor is gone.
            Some(mut orders) => drop(orders.wait_for(|orders| orders.stop.is_some()).await),
            None => std::future::pending().await,
        }
    }
}

/// An agent that runs.
///
/// Its methods are called by one task that looks after this agent alone. They must not block. When one panics, this is
/// dropped and its place is free.
#[async_trait]
pub trait RunningAgent: Send + Sync + 'static {
    /// The connection to it. Called once.
    fn connection(&self) -> Arc<dyn AgentConnection>;

    /// Begins to stop it, and returns at once; the connection ends with this cause. It may have stopped already.
    fn begin_stop(&self, cause: StopCause);

    /// Takes the next step of its stop now. Only called after [`begin_stop`](Self::begin_stop).
    fn hurry(&self) {}

    /// Waits until it has stopped; tells how that went, where there is a process. Must have a limit: its place is taken
    /// until then, and a shutdown waits for it.
    async fn stopped(&self) -> Option<Arc<StopReport>>;

    /// Waits until nothing of it is left, which may be later: a process can be stuck in the kernel. Its place is free
    /// from then on, and it is dropped.
    async fn gone(&self) {}

    /// How many bytes it uses with all that it started, where that can be told. Given up after 5 seconds.
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
        if self.guard.is_some() {
            connect.guard.clone_from(&self.guard);
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
