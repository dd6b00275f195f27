//! An agent as a child process: started in a group or session of its own, and stopped for certain.

mod aside;
mod command;
mod exits;
mod family;
mod group;
mod guard;
mod keeper;
mod listing;
mod marker;
mod program;
mod stderr;
mod sweep;
#[expect(
    unsafe_code,
    reason = "what a child does before it executes, and waitid without reaping, have no safe form that every Unix has"
)]
mod sys;

use std::fmt;
use std::future::{Future, pending, ready};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::watch;

pub use command::{AgentCommand, Isolation};
pub use guard::{Guard, Swept};

use crate::connection::{Wire, speak};
use crate::error::{End, StopCause};
use crate::options::ConnectOptions;
use crate::start::{StartError, StartFailure};
use crate::stop::{StopPolicy, StopReport, StopStep};
use crate::{AgentConnection, Connection};
use command::Spawned;
use group::Group;
use keeper::{Keeper, Orders};
use marker::Marker;
use program::Unusable;
use stderr::{Listeners, Stderr};

/// A running agent: the process and its [`Connection`].
///
/// [`stop`](Self::stop) ends it politely. Dropping it kills its process group at once, and on Linux its descendants in
/// other groups and sessions; it waits for none of them and needs no runtime, but looks through all processes, which takes
/// milliseconds.
pub struct AgentProcess {
    connection: Connection,
    kill: KillOnDrop,
    pid: u32,
    orders: Arc<Orders>,
    report: watch::Receiver<Option<Arc<StopReport>>>,
}

/// Kills the agent with its descendants when dropped. After the process was reaped that does nothing.
struct KillOnDrop(Arc<Group>);

impl Drop for KillOnDrop {
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
    /// been stopped and [`reaped`](Self::reaped) by then.
    pub async fn start(
        command: &AgentCommand,
        options: &ConnectOptions,
        stop: &StopPolicy,
    ) -> Result<Self, StartError> {
        Self::start_unless(command, options, stop, pending()).await
    }

    /// [`start`](Self::start), unless `give_up` is ready first. Then it is stopped, with no more patience than for one
    /// that did not become ready, and the failure is [`StartFailure::GivenUp`].
    ///
    /// Dropping the future is quicker, but then nobody knows when the process is gone; here it is when this returns.
    ///
    /// # Errors
    /// As [`start`](Self::start), and when it is given up.
    pub async fn start_unless(
        command: &AgentCommand,
        options: &ConnectOptions,
        stop: &StopPolicy,
        give_up: impl Future<Output = ()> + Send,
    ) -> Result<Self, StartError> {
        let about = |failure: StartFailure, resolved: Option<PathBuf>| StartError {
            program: Some(command.program.clone()),
            resolved,
            ..failure.into()
        };
        let mut give_up = pin!(give_up);
        tokio::select! {
            biased;
            () = &mut give_up => return Err(about(StartFailure::GivenUp, None)),
            () = ready(()) => {}
        }
        let spawned = command.spawn(Marker::next(&options.label), options.guard.clone()).await;
        let spawned = spawned.map_err(|Unusable { failure, resolved }| about(failure, resolved))?;
        let Spawned { kill, mut process, pid, watched, file } = spawned;
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
            group: Arc::clone(&kill.0),
            router: Arc::clone(&router),
            orders: Arc::clone(&orders),
            stderr: stderr.clone(),
            watched,
        };
        let report = keeper.run(options.limits.clone());

        let shaken = tokio::select! {
            biased;
            () = &mut give_up => Err(StartFailure::GivenUp),
            shaken = wire.shake_hands(options) => shaken,
        };
        match shaken {
            Ok(connection) => {
                orders.is_ready();
                Ok(Self { connection, kill, pid: pid.unsigned_abs(), orders, report })
            }
            Err(failure) => {
                // An agent may print one sentence and leave: what it said is in the error.
                let noise = router.traffic().noise_lines;
                orders.stop(StopCause::Asked);
                closed(report.clone()).await;
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

    /// Waits until the process is reaped and its memory is free. That is when it [`stopped`](Self::stopped), except for
    /// [`StopStep::Stuck`], which is reported while the process is still there. Any number may wait; cancel-safe.
    ///
    /// Where the runtime was shut down, what is left is reaped later, and this returns.
    pub async fn reaped(&self) {
        closed(self.report.clone()).await;
    }

    /// The number of the process, which is also that of its process group. Free for another process once it is
    /// [`reaped`](Self::reaped).
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How much memory the agent and all its descendants use, in bytes: what is theirs alone, without the pages of files,
    /// which the system can drop (so a model that is mapped from a file hardly counts).
    ///
    /// `None` once it is [`reaped`](Self::reaped), and where the system does not tell. Looks at every process of the
    /// machine, which takes some milliseconds, on a thread for blocking work.
    pub async fn memory(&self) -> Option<u64> {
        let group = Arc::clone(&self.kill.0);
        tokio::task::spawn_blocking(move || group.memory()).await.ok().flatten()
    }

    /// Ends the current wait of a stop, so that its next step is taken now: of one that was asked for, or of what follows
    /// when it left or closed its output by itself. Does nothing while it runs.
    pub fn hurry(&self) {
        self.orders.hurry();
    }

    /// Kills it at once as when it is dropped, without a stop. The connection then ends as after any other exit.
    pub fn kill(&self) {
        self.kill.0.kill();
    }

    /// Waits for the end of the connection.
    pub async fn closed(&self) -> End {
        self.connection.closed().await
    }
}

impl fmt::Debug for AgentProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentProcess").field("group", &self.kill.0).finish_non_exhaustive()
    }
}

/// The report where the task that looked after the process was dropped with its runtime: the group was killed then.
fn abandoned() -> StopReport {
    StopReport::new(StopStep::Kill, None)
}

async fn finished(mut report: watch::Receiver<Option<Arc<StopReport>>>) -> Option<Arc<StopReport>> {
    report.wait_for(Option::is_some).await.ok().and_then(|report| report.clone())
}

/// Waits until nobody can report any more.
async fn closed(mut report: watch::Receiver<Option<Arc<StopReport>>>) {
    while report.changed().await.is_ok() {}
}
