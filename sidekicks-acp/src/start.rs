//! Why an agent could not be started.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{CallError, End, ExitStatus, Phase};

/// Why an agent could not be started, with everything that is known of the attempt.
///
/// Its text is one line, and its [source](std::error::Error::source) the system's or the agent's own reason;
/// [`stderr`](Self::stderr) and [`noise`](Self::noise) usually tell a person what to do.
#[derive(Debug)]
#[non_exhaustive]
pub struct StartError {
    /// What went wrong.
    pub failure: StartFailure,
    /// The program that was started, where there was one.
    pub program: Option<OsString>,
    /// How it ended, if it ended by itself.
    pub exit: Option<ExitStatus>,
    /// The end of what it wrote to stderr. The agent's text, control characters and all.
    pub stderr: String,
    /// The first lines on its stdout that were no messages; an agent may print one sentence and leave.
    pub noise: Vec<String>,
}

/// What went wrong in a start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartFailure {
    /// There is no such program on the `PATH`, or no such file.
    #[error("the program was not found")]
    NotFound,
    /// The program may not be executed, or is none.
    #[error("the program cannot be executed")]
    NotExecutable(#[source] io::Error),
    /// The working folder is missing or may not be entered.
    #[error("the working folder {} cannot be used", .path.display())]
    BadCwd {
        /// The folder.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The operating system could not start it.
    #[error("the program could not be started")]
    Spawn(#[source] io::Error),
    /// It left before it answered the handshake.
    #[error("it left before it was ready: {0}")]
    Left(End),
    /// It did not answer the handshake in time.
    #[error("it was not ready within {} seconds", .0.as_secs_f32())]
    TimedOut(Duration),
    /// Whoever started it gave it up before it was ready.
    #[error("it was given up before it was ready")]
    GivenUp,
    /// It refused the handshake, or its answer makes no sense.
    #[error("the handshake failed")]
    Handshake(#[source] CallError),
    /// It speaks another version of the protocol. We speak version 1.
    #[error("it speaks version {theirs} of the protocol, and this program speaks version 1")]
    UnsupportedVersion {
        /// The version it answered, as it wrote it.
        theirs: String,
    },
}

impl StartError {
    /// The code of this error, one of [`CODES`](crate::CODES).
    pub fn code(&self) -> &'static str {
        match &self.failure {
            StartFailure::NotFound => "program-not-found",
            StartFailure::NotExecutable(_) => "not-executable",
            StartFailure::BadCwd { .. } => "bad-workspace",
            StartFailure::Spawn(_) => "start-failed",
            StartFailure::Left(end) => end.code(),
            StartFailure::TimedOut(_) => "start-timeout",
            StartFailure::GivenUp => "agent-stopped",
            StartFailure::Handshake(error) => error.code(),
            StartFailure::UnsupportedVersion { .. } => "unsupported-version",
        }
    }

    /// How far it came.
    pub fn phase(&self) -> Phase {
        match &self.failure {
            StartFailure::NotFound
            | StartFailure::NotExecutable(_)
            | StartFailure::BadCwd { .. }
            | StartFailure::Spawn(_) => Phase::Spawn,
            _ => Phase::Initialize,
        }
    }
}

impl From<StartFailure> for StartError {
    fn from(failure: StartFailure) -> Self {
        Self { failure, program: None, exit: None, stderr: String::new(), noise: Vec::new() }
    }
}

impl From<CallError> for StartFailure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Ended { end, .. } => Self::Left(end),
            CallError::TimedOut(after) => Self::TimedOut(after),
            other => Self::Handshake(other),
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.program {
            Some(program) => write!(f, "{}: {}", program.display(), self.failure),
            None => self.failure.fmt(f),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.failure.source()
    }
}
