//! What the keeper of a process waits for.

use std::time::Duration;

use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::keeper::Wanted;
use super::sys;
use crate::error::{End, ExitStatus, StopCause};

/// How long an exit may take to be seen after stdout was closed, before it is taken for a mere closing.
const EXIT_AFTER_EOF: Duration = Duration::from_millis(250);

/// How often the process is looked at although no SIGCHLD came: a program may have taken the signal from us.
const TICK: Duration = Duration::from_millis(500);

/// Why the time of an agent is over.
pub(super) enum Left {
    Exited(ExitStatus),
    /// It closed its output and lives.
    Lost(End),
    Told(StopCause),
}

/// Everything that a keeper waits for.
pub(super) struct Watch {
    pub(super) exit: ExitWatch,
    pub(super) eof: watch::Receiver<Option<End>>,
    pub(super) wanted: watch::Receiver<Wanted>,
    /// How many requests to hurry were followed.
    pub(super) hurries: u32,
    pub(super) reader: AbortHandle,
}

impl Watch {
    pub(super) async fn leaves_or_is_told_to_stop(&mut self) -> Left {
        let lost = tokio::select! {
            status = self.exit.wait() => return Left::Exited(status),
            // The orders are kept by the keeper itself, so this channel never closes.
            Ok(wanted) = self.wanted.wait_for(|wanted| wanted.stop.is_some()) => {
                if let Some(cause) = wanted.stop {
                    return Left::Told(cause);
                }
                End::Closed
            }
            Ok(end) = self.eof.wait_for(Option::is_some) => end.clone().unwrap_or(End::OutputClosed),
        };
        match timeout(EXIT_AFTER_EOF, self.exit.wait()).await {
            Ok(status) => Left::Exited(status),
            Err(_) => Left::Lost(lost),
        }
    }

    /// Waits for the exit, until the time is over or somebody is in a hurry.
    pub(super) async fn exits_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let Self { exit, wanted, hurries, .. } = self;
        tokio::select! {
            status = exit.wait() => Some(status),
            () = sleep(time) => None,
            () = hurried(wanted, hurries) => None,
        }
    }

    pub(super) async fn hurried(&mut self) {
        hurried(&mut self.wanted, &mut self.hurries).await;
    }

    /// Waits until stdout was read to its end, for `grace` at most.
    pub(super) async fn drained(&mut self, grace: Duration) {
        let _ = timeout(grace, self.eof.wait_for(Option::is_some)).await;
    }
}

/// Waits for the next request to hurry, and takes it.
async fn hurried(wanted: &mut watch::Receiver<Wanted>, followed: &mut u32) {
    let seen = *followed;
    if wanted.wait_for(|wanted| wanted.hurries > seen).await.is_err() {
        std::future::pending::<()>().await; // The orders live as long as their keeper: not reached.
    }
    *followed += 1;
}

/// Sees the exit of a child without reaping it.
pub(super) struct ExitWatch {
    pid: i32,
    sigchld: Option<SignalStream>,
}

impl ExitWatch {
    pub(super) fn new(pid: i32) -> Self {
        Self { pid, sigchld: signal(SignalKind::child()).ok() }
    }

    /// Waits for the exit. Cancel-safe.
    pub(super) async fn wait(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = sys::exited(self.pid) {
                return status;
            }
            match &mut self.sigchld {
                Some(sigchld) => {
                    let _ = timeout(TICK, sigchld.recv()).await;
                }
                None => sleep(TICK).await,
            }
        }
    }
}
