//! One agent, kept between leases, without a supervisor.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::time::{Instant, timeout_at};

use crate::Connection;
use crate::connector::{Borrow, ConnectError, Connector, Generation, Lease, LeaseGuard};
use crate::start::{StartError, StartFailure};
#[cfg(feature = "process")]
use crate::{AgentCommand, AgentProcess, ConnectOptions, StopCause, StopPolicy, StopReport};

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
    /// Held while the agent is being started, so that it is started once.
    starting: tokio::sync::Mutex<()>,
    slot: Mutex<Slot>,
}

#[derive(Default)]
struct Slot {
    generation: u64,
    running: Option<Running>,
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

#[derive(Clone)]
enum Running {
    #[cfg(feature = "process")]
    Process(Arc<AgentProcess>),
    Connection(Connection),
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
        let inner = Inner { launch, starting: tokio::sync::Mutex::default(), slot: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    /// Stops the agent if it runs, and tells how that went. The next borrow starts it again.
    ///
    /// A start that is under way is waited for. Cancel-safe: the stop goes on when this future is dropped.
    #[cfg(feature = "process")]
    pub async fn stop(&self) -> Option<Arc<StopReport>> {
        let _starting = self.inner.starting.lock().await;
        let running = self.inner.slot().running.clone();
        let report = match &running {
            Some(Running::Process(process)) => Some(process.stop().await),
            _ => None,
        };
        self.inner.slot().running = None;
        report
    }

    /// Ends the current wait of a [`stop`](Self::stop), so that its next step is taken now.
    #[cfg(feature = "process")]
    pub fn hurry(&self) {
        if let Some(Running::Process(process)) = &self.inner.slot().running {
            process.hurry();
        }
    }
}

#[async_trait]
impl Connector for SingleAgent {
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError> {
        let start = async {
            let _starting = self.inner.starting.lock().await;
            if let Some(lease) = self.inner.lend() {
                return Ok(lease);
            }
            // Dropped before the new one starts: what it left behind must not meet it.
            drop(self.inner.slot().running.take());
            let running = self.inner.launch.start().await.map_err(|error| ConnectError::Start(Arc::new(error)))?;
            let mut slot = self.inner.slot();
            slot.generation += 1;
            slot.running = Some(running.clone());
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
        let running = slot.running.clone().filter(|running| running.connection().end().is_none())?;
        Some(self.lease(running, slot.generation))
    }

    fn lease(self: &Arc<Self>, running: Running, generation: u64) -> Lease {
        let connection = Arc::new(running.connection().clone());
        Lease::new(connection, Generation(generation), Returned { agent: Arc::clone(self), running, generation })
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Launch {
    async fn start(&self) -> Result<Running, StartError> {
        match self {
            #[cfg(feature = "process")]
            Self::Process { command, options, stop } => {
                AgentProcess::start(command, options, stop).await.map(|process| Running::Process(Arc::new(process)))
            }
            Self::Connect(connect) => connect().await.map(Running::Connection),
        }
    }
}

impl Running {
    fn connection(&self) -> &Connection {
        match self {
            #[cfg(feature = "process")]
            Self::Process(process) => process.connection(),
            Self::Connection(connection) => connection,
        }
    }
}

/// Keeps the agent for as long as a lease of it lives.
struct Returned {
    agent: Arc<Inner>,
    running: Running,
    generation: u64,
}

impl LeaseGuard for Returned {
    fn release(self: Box<Self>) {}

    fn condemn(self: Box<Self>) {
        let Self { agent, running, generation } = *self;
        {
            let mut slot = agent.slot();
            if slot.generation == generation {
                slot.running = None;
            }
        }
        running.end();
    }
}

impl Running {
    /// Ends an agent that does not obey, in the background; without a runtime, at once.
    fn end(self) {
        match self {
            #[cfg(feature = "process")]
            Self::Process(process) => match tokio::runtime::Handle::try_current() {
                Ok(runtime) => {
                    runtime.spawn(async move { process.stop_because(StopCause::Condemned).await });
                }
                Err(_) => process.kill(),
            },
            Self::Connection(connection) => connection.close(),
        }
    }
}

impl fmt::Debug for SingleAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleAgent").field("generation", &self.inner.slot().generation).finish_non_exhaustive()
    }
}
