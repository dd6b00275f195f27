//! An agent as a child process: started in a group or session of its own, and stopped for certain.

mod command;
mod family;
mod group;
mod keeper;
mod stderr;
#[expect(unsafe_code, reason = "setsid in the child and waitid without reaping have no safe form that every Unix has")]
mod sys;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

pub use command::{AgentCommand, Isolation};

use crate::connection::{Wire, speak};
use crate::error::{End, ExitStatus, StopCause};
use crate::options::ConnectOptions;
use crate::start::{StartError, StartFailure};
use crate::{AgentConnection, Connection};
use command::Spawned;
use group::Group;
use keeper::{Keeper, Orders};
use stderr::Stderr;

/// How patient a stop is. Each wait ends early when the agent has left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StopPolicy {
    /// After stdin was closed, before SIGTERM. Default: 5 seconds.
    pub eof: Duration,
    /// After SIGTERM to the process group, before SIGKILL. Default: 3 seconds.
    pub term: Duration,
    /// After SIGKILL, before the stop is reported as [`StopStep::Stuck`]. Default: 2 seconds.
    pub kill: Duration,
    /// For what the agent left in its group, after it has gone: SIGTERM, this long, then SIGKILL. Default: 500 ms.
    pub stragglers: Duration,
    /// For its last words on stdout and stderr, after it has gone. Default: 250 ms.
    pub drain: Duration,
}

impl Default for StopPolicy {
    fn default() -> Self {
        Self {
            eof: Duration::from_secs(5),
            term: Duration::from_secs(3),
            kill: Duration::from_secs(2),
            stragglers: Duration::from_millis(500),
            drain: Duration::from_millis(250),
        }
    }
}

impl StopPolicy {
    /// For an agent that never became ready: nothing is to be saved.
    fn hasty(&self) -> Self {
        let second = Duration::from_secs(1);
        Self { eof: self.eof.min(second), term: self.term.min(second), ..self.clone() }
    }
}

/// Which step of the stop order ended the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopStep {
    /// It had left before it was told to.
    AlreadyExited,
    /// It left when its stdin was closed.
    Eof,
    /// It left after SIGTERM.
    Term,
    /// It was killed.
    Kill,
    /// It was still there some time after SIGKILL (uninterruptible in the kernel); it is waited for in the background.
    Stuck,
}

/// How a stop went.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StopReport {
    /// The step that ended it.
    pub step: StopStep,
    /// How it ended; `None` for [`StopStep::Stuck`].
    pub status: Option<ExitStatus>,
    /// How many processes of its group stayed behind when it had gone, and were ended.
    pub stragglers: usize,
    /// How many of its descendants outside its group were still there at the very end, and were killed.
    pub swept: usize,
    /// How long the stop took.
    pub took: Duration,
    /// The end of what it wrote to stderr. The agent's text, control characters and all.
    pub stderr: String,
}

/// A running agent: the process and its [`Connection`].
///
/// [`stop`](Self::stop) ends it politely. Dropping it kills its process group at once, waits for nothing and needs no
/// runtime.
pub struct AgentProcess {
    connection: Connection,
    guard: Guard,
    orders: Arc<Orders>,
    report: watch::Receiver<Option<Arc<StopReport>>>,
}

/// Kills the process group when dropped. After the process was reaped that does nothing.
struct Guard(Arc<Group>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl AgentProcess {
    /// Starts `command` and shakes hands.
    ///
    /// Must be called in a tokio runtime. Cancel-safe: dropping the future kills what was started.
    ///
    /// # Errors
    /// When the program cannot be started, leaves, does not answer in time, or does not speak version 1 of ACP. It has
    /// been stopped by then.
    pub async fn start(
        command: &AgentCommand,
        options: &ConnectOptions,
        stop: &StopPolicy,
    ) -> Result<Self, StartError> {
        let about = |failure: StartFailure| StartError { program: Some(command.program.clone()), ..failure.into() };
        let Spawned { mut process, pid, guard } = command.spawn().await.map_err(about)?;
        let wire = Wire::new(&options.limits);
        let router = wire.router();
        if let Some(stdin) = process.stdin.take() {
            tokio::spawn(speak(stdin, Arc::clone(&router)));
        }
        let stderr = Stderr::follow(process.stderr.take(), options.limits.stderr);
        let orders = Arc::new(Orders::new(stop.clone()));
        let keeper = Keeper {
            process,
            pid,
            guard: Guard(Arc::clone(&guard.0)),
            router: Arc::clone(&router),
            orders: Arc::clone(&orders),
            stderr: stderr.clone(),
        };
        let report = keeper.run(options.limits.clone());

        match wire.shake_hands(options).await {
            Ok(connection) => Ok(Self { connection, guard, orders, report }),
            Err(failure) => {
                // An agent may print one sentence and leave: what it said is in the error.
                let noise = router.traffic().noise_lines;
                orders.stop(Some(stop.hasty()), StopCause::Asked);
                let report = finished(report).await;
                let exit = match &failure {
                    StartFailure::Left(End::Exited(exit)) => Some(exit.status),
                    _ => None, // What it did after we stopped it is no news.
                };
                let stderr = report.map_or_else(|| stderr.tail(), |report| report.stderr.clone());
                Err(StartError { exit, stderr, noise, ..about(failure) })
            }
        }
    }

    /// The connection. A clone of it does not keep the process.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Stops the agent: closes its stdin, then SIGTERM to its process group, then SIGKILL, each after the wait of the
    /// [`StopPolicy`], and ends what it left behind.
    ///
    /// The connection ends at once with [`End::Stopped`]. Any number of callers get the same report. Cancel-safe: the
    /// stop goes on when this future is dropped.
    pub async fn stop(&self) -> Arc<StopReport> {
        self.stop_because(StopCause::Asked).await
    }

    pub(crate) async fn stop_because(&self, cause: StopCause) -> Arc<StopReport> {
        self.orders.stop(None, cause);
        match finished(self.report.clone()).await {
            Some(report) => report,
            None => Arc::new(self.abandoned()),
        }
    }

    /// Ends the current wait of a stop, so that its next step is taken now. Does nothing when no stop is under way.
    pub fn hurry(&self) {
        self.orders.hurry();
    }

    /// Kills the process group at once, without a stop. The connection then ends as after any other exit.
    pub fn kill(&self) {
        self.guard.0.kill();
    }

    /// The report of a stop whose task was dropped with its runtime: the group was killed then.
    fn abandoned(&self) -> StopReport {
        self.guard.0.kill();
        StopReport {
            step: StopStep::Kill,
            status: None,
            stragglers: 0,
            swept: 0,
            took: Duration::ZERO,
            stderr: String::new(),
        }
    }

    /// Waits for the end of the connection.
    pub async fn closed(&self) -> End {
        self.connection.closed().await
    }
}

impl fmt::Debug for AgentProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentProcess").field("group", &self.guard.0).finish_non_exhaustive()
    }
}

async fn finished(mut report: watch::Receiver<Option<Arc<StopReport>>>) -> Option<Arc<StopReport>> {
    report.wait_for(Option::is_some).await.ok().and_then(|report| report.clone())
}
