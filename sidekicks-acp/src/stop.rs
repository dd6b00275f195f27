//! How an agent is stopped, as data.

use std::time::Duration;

use crate::error::ExitStatus;

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
    #[cfg(feature = "process")]
    pub(crate) fn hasty(&self) -> Self {
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
    /// How it ended; `None` for [`StopStep::Stuck`], and where the runtime was shut down meanwhile.
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

impl StopReport {
    /// An agent that ended so, with nothing else to tell.
    pub fn new(step: StopStep, status: impl Into<Option<ExitStatus>>) -> Self {
        let status = status.into();
        Self { step, status, stragglers: 0, swept: 0, took: Duration::ZERO, stderr: String::new() }
    }
}
