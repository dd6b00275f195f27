//! An agent as a child process: started in a group or session of its own, and stopped for certain.

mod command;
mod family;
mod group;
mod keeper;
mod program;
mod stderr;
#[expect(
    unsafe_code,
    reason = "what a child does before it executes, and waitid without reaping, have no safe form that every Unix has"
)]
mod sys;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

pub use command::{AgentCommand, Isolation};

use crate::connection::{Wire, speak};
use crate::error::{End, StopCause};
use crate::options::ConnectOptions;
use crate::start::{StartError, StartFailure};
use crate::stop::{StopPolicy, StopReport, StopStep};
use crate::{AgentConnection, Connection};
use command::Spawned;
use group::Group;
use keeper::{Keeper, Orders};
use program::Unusable;
use stderr::{Listeners, Stderr};

/// A running agent: the process and its [`Connection`].
///
/// [`stop`](Self::stop) ends it politely. Dropping it kills its process group at once, and on Linux its descendants in
/// other groups; it waits for nothing and needs no runtime.
pub struct AgentProcess {
    connection: Connection,
    guard: Guard,
    pid: u32,
    orders: Arc<Orders>,
    report: watch::Receiver<Option<Arc<StopReport>>>,
}

/// Kills the agent with its descendants when dropped. After the process was reaped that does nothing.
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
        let about = |failure: StartFailure, resolved: Option<PathBuf>| StartError {
            program: Some(command.program.clone()),
            resolved,
            ..failure.into()
        };
        let spawned = command.spawn().await.map_err(|Unusable { failure, resolved }| about(failure, resolved))?;
        let Spawned { guard, mut process, pid, file } = spawned;
        let wire = Wire::new(options);
        let router = wire.router();
        if let Some(stdin) = process.stdin.take() {
            tokio::spawn(speak(stdin, Arc::clone(&router)));
        }
        if let Some(recorder) = &options.recorder {
            command.env.iter().for_each(|(_, value)| recorder.hide(value.to_string_lossy()));
        }
        let listeners = Listeners { recorder: options.recorder.clone(), embedder: options.on_stderr.clone() };
        let stderr = Stderr::follow(process.stderr.take(), options.limits.stderr, listeners);
        let orders = Arc::new(Orders::new(stop.clone()));
        let keeper = Keeper {
            process,
            pid,
            group: Arc::clone(&guard.0),
            router: Arc::clone(&router),
            orders: Arc::clone(&orders),
            stderr: stderr.clone(),
        };
        let report = keeper.run(options.limits.clone());

        match wire.shake_hands(options).await {
            Ok(connection) => {
                orders.is_ready();
                Ok(Self { connection, guard, pid: pid.unsigned_abs(), orders, report })
            }
            Err(failure) => {
                // An agent may print one sentence and leave: what it said is in the error.
                let noise = router.traffic().noise_lines;
                orders.stop(StopCause::Asked);
                let report = finished(report).await;
                let exit = match &failure {
                    StartFailure::Left(End::Exited(exit)) => Some(exit.status),
                    _ => None, // What it did after we stopped it is no news.
                };
                let stderr = report.map_or_else(|| stderr.tail(), |report| report.stderr.clone());
                Err(StartError { exit, stderr, noise, ..about(failure, Some(file)) })
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
        self.begin_stop(StopCause::Asked);
        self.stopped().await
    }

    /// Asks for a [`stop`](Self::stop) and returns at once. The first cause that was given is the one that is told.
    /// Needs no runtime.
    pub fn begin_stop(&self, cause: StopCause) {
        self.orders.stop(cause);
    }

    /// Waits until the process is gone and everything of it was ended, by a stop or after an exit of its own. Any number
    /// may wait; cancel-safe.
    pub async fn stopped(&self) -> Arc<StopReport> {
        match finished(self.report.clone()).await {
            Some(report) => report,
            None => Arc::new(abandoned()),
        }
    }

    /// The number of the process, which is also that of its process group. Free for another process once it
    /// [`stopped`](Self::stopped).
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends the current wait of a stop, so that its next step is taken now. Does nothing when no stop is under way.
    pub fn hurry(&self) {
        self.orders.hurry();
    }

    /// Kills it at once as when it is dropped, without a stop. The connection then ends as after any other exit.
    pub fn kill(&self) {
        self.guard.0.kill();
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

/// The report where the task that looked after the process was dropped with its runtime: the group was killed then.
fn abandoned() -> StopReport {
    StopReport {
        step: StopStep::Kill,
        status: None,
        stragglers: 0,
        swept: 0,
        took: Duration::ZERO,
        stderr: String::new(),
    }
}

async fn finished(mut report: watch::Receiver<Option<Arc<StopReport>>>) -> Option<Arc<StopReport>> {
    report.wait_for(Option::is_some).await.ok().and_then(|report| report.clone())
}
