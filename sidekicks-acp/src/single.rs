//! One agent, kept between leases, without a supervisor.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::time::{Instant, timeout_at};

use crate::Connection;
use crate::borrow::Borrow;
use crate::connector::{AgentConnection, ConnectError, Connector, Generation, Lease, LeaseGuard};
use crate::error::StopCause;
use crate::start::{StartError, StartFailure};
use crate::stop::StopReport;
#[cfg(feature = "process")]
use crate::{AgentCommand, AgentProcess, ConnectOptions, StopPolicy};

/// One agent: started when it is first borrowed, kept between leases, and started again after it ended.
///
/// Cheap to clone; all clones are the same agent. Any number may borrow at once. There is no idle stop and no back-off:
/// for those, and for several agents, there is `sidekicks-agents`.
///
/// Dropping the last clone, and the last lease, kills the agent at once; [`stop`](Self::stop) ends it politely.
#[derive(Clone)]
pub struct SingleAgent {
    inner: Arc<Inner>,
}

struct Inner {
    launch: Launch,
    /// Held while the agent is being started or stopped, so that no two of it ever run.
    changing: tokio::sync::Mutex<()>,
    slot: Mutex<Slot>,
}

#[derive(Default)]
struct Slot {
    generation: u64,
    running: Option<Arc<Running>>,
    /// What was told to stop and may not be gone yet.
    leaving: Vec<Arc<Running>>,
}

type Connecting = Pin<Box<dyn Future<Output = Result<Connection, StartError>> + Send>>;

enum Launch {
    #[cfg(feature = "process")]
    Process {
        command: Box<AgentCommand>,
        options: Box<ConnectOptions>,
        stop: StopPolicy,
    },
    Connect(Box<dyn Fn() -> Connecting + Send + Sync>),
}

struct Running {
    /// The same for every lease, so that a session is known again in the next.
    connection: Arc<Connection>,
    #[cfg(feature = "process")]
    process: Option<AgentProcess>,
}

impl SingleAgent {
    /// An agent that is a program.
    #[cfg(feature = "process")]
    pub fn new(command: AgentCommand) -> Self {
        Self::with(command, ConnectOptions::default(), StopPolicy::default())
    }

    /// An agent that is a program, connected and stopped in this way.
    #[cfg(feature = "process")]
    pub fn with(command: AgentCommand, options: ConnectOptions, stop: StopPolicy) -> Self {
        Self::launched(Launch::Process { command: Box::new(command), options: Box::new(options), stop })
    }

    /// An agent that `connect` reaches: over a socket, say. It is called again after the connection ended.
    pub fn connecting<F, C>(connect: F) -> Self
    where
        F: Fn() -> C + Send + Sync + 'static,
        C: Future<Output = Result<Connection, StartError>> + Send + 'static,
    {
        Self::launched(Launch::Connect(Box::new(move || Box::pin(connect()))))
    }

    fn launched(launch: Launch) -> Self {
        let inner = Inner { launch, changing: tokio::sync::Mutex::default(), slot: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    /// Stops the agent if it runs, and tells how that went where it is a process. The next borrow starts it again.
    ///
    /// A start that is under way is waited for, and so is an agent that was condemned. Cancel-safe: the stop goes on when
    /// this future is dropped.
    pub async fn stop(&self) -> Option<Arc<StopReport>> {
        let _changing = self.inner.changing.lock().await;
        self.inner.slot().dismiss(StopCause::Asked);
        self.inner.departed().await
    }

    /// Ends the current wait of a [`stop`](Self::stop), so that its next step is taken now.
    #[cfg(feature = "process")]
    pub fn hurry(&self) {
        for running in &self.inner.slot().leaving {
            if let Some(process) = &running.process {
                process.hurry();
            }
        }
    }
}

#[async_trait]
impl Connector for SingleAgent {
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError> {
        let start = async {
            let _changing = self.inner.changing.lock().await;
            if let Some(lease) = self.inner.lend() {
                return Ok(lease);
            }
            // What the one before left behind must not meet the new one.
            self.inner.slot().dismiss(StopCause::Asked);
            self.inner.departed().await;
            let running = self.inner.launch.start().await.map_err(|error| ConnectError::Start(Arc::new(error)))?;
            let running = Arc::new(running);
            let mut slot = self.inner.slot();
            slot.generation += 1;
            slot.running = Some(Arc::clone(&running));
            Ok(self.inner.lease(running, slot.generation))
        };
        if let Some(lease) = self.inner.lend() {
            return Ok(lease);
        }
        let Some(deadline) = request.deadline else { return start.await };
        let asked = Instant::now();
        timeout_at(deadline, start).await.unwrap_or_else(|_| {
            let late = StartFailure::TimedOut(asked.elapsed());
            Err(ConnectError::Start(Arc::new(late.into())))
        })
    }
}

impl Inner {
    /// The running agent, if it runs.
    fn lend(self: &Arc<Self>) -> Option<Lease> {
        let slot = self.slot();
        let running = slot.running.clone().filter(|running| running.connection.end().is_none())?;
        Some(self.lease(running, slot.generation))
    }

    fn lease(self: &Arc<Self>, running: Arc<Running>, generation: u64) -> Lease {
        let connection = Arc::clone(&running.connection) as Arc<dyn AgentConnection>;
        Lease::new(connection, Generation(generation), Returned { agent: Arc::clone(self), running, generation })
    }

    /// Waits until everything that was told to stop is gone; gives the last report.
    async fn departed(&self) -> Option<Arc<StopReport>> {
        let leaving = self.slot().leaving.clone();
        let mut report = None;
        for running in &leaving {
            report = running.departed().await.or(report);
        }
        // Only now: if this future was dropped before, the next one waits for them.
        self.slot().leaving.retain(|running| !leaving.iter().any(|gone| Arc::ptr_eq(gone, running)));
        report
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Tells the running agent to stop.
    fn dismiss(&mut self, cause: StopCause) {
        if let Some(running) = self.running.take() {
            running.begin_stop(cause);
            self.leaving.push(running);
        }
    }
}

impl Launch {
    async fn start(&self) -> Result<Running, StartError> {
        match self {
            #[cfg(feature = "process")]
            Self::Process { command, options, stop } => {
                let process = AgentProcess::start(command, options, stop).await?;
                Ok(Running { connection: Arc::new(process.connection().clone()), process: Some(process) })
            }
            Self::Connect(connect) => Ok(Running {
                connection: Arc::new(connect().await?),
                #[cfg(feature = "process")]
                process: None,
            }),
        }
    }
}

impl Running {
    fn begin_stop(&self, cause: StopCause) {
        #[cfg(feature = "process")]
        if let Some(process) = &self.process {
            return process.begin_stop(cause);
        }
        self.connection.stop(cause);
    }

    async fn departed(&self) -> Option<Arc<StopReport>> {
        #[cfg(feature = "process")]
        if let Some(process) = &self.process {
            return Some(process.stopped().await);
        }
        None
    }
}

/// Keeps the agent for as long as a lease of it lives.
struct Returned {
    agent: Arc<Inner>,
    running: Arc<Running>,
    generation: u64,
}

impl LeaseGuard for Returned {
    fn release(self: Box<Self>) {}

    fn condemn(self: Box<Self>) {
        let mut slot = self.agent.slot();
        if slot.generation == self.generation {
            slot.dismiss(StopCause::Condemned);
        } else {
            self.running.begin_stop(StopCause::Condemned); // An earlier one, which is leaving already.
        }
    }
}

impl fmt::Debug for SingleAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleAgent").field("generation", &self.inner.slot().generation).finish_non_exhaustive()
    }
}
