//! How a connection ended.

use std::fmt;

/// Why a connection, or one session of it, is over. After it nothing is heard and nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum End {
    /// We stopped it.
    #[error("the agent was stopped")]
    Stopped(StopCause),
    /// The agent left by itself, or was killed by somebody else.
    #[error("the agent exited ({})", .0.status)]
    Exited(Exit),
    /// The agent closed its output, and is not known to have exited.
    #[error("the agent closed the connection")]
    OutputClosed,
    /// The agent does not take what is written to it any more.
    #[error("the agent closed its input")]
    InputClosed,
    /// Reading from the agent failed; the text is the operating system's, or says that the runtime is gone.
    #[error("the connection failed: {0}")]
    Failed(String),
    /// Our side let go of the connection.
    #[error("the connection was closed")]
    Closed,
    /// Of one session: it was closed, or opened again by its id. The connection lives.
    #[error("the session was closed")]
    SessionClosed,
    /// Of one session: its events were not read, and others waited behind them for
    /// [`ConnectOptions::stall_timeout`](crate::ConnectOptions::stall_timeout). Its prompt was cancelled; the connection
    /// lives.
    #[error("the session was given up, because nobody read its events")]
    ReaderStalled,
}

impl End {
    /// The code of this end, one of [`CODES`](crate::CODES).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stopped(_) => "agent-stopped",
            Self::Exited(_) => "agent-exited",
            Self::OutputClosed | Self::InputClosed | Self::Failed(_) => "connection-lost",
            Self::Closed => "closed",
            Self::SessionClosed => "session-closed",
            Self::ReaderStalled => "reader-stalled",
        }
    }

    /// Whether only a session ended, and the connection lives.
    pub fn is_of_session(&self) -> bool {
        matches!(self, Self::SessionClosed | Self::ReaderStalled)
    }

    /// Nobody reads or writes any more, and nothing else is known.
    pub(crate) fn task_gone() -> Self {
        Self::Failed("the task that reads or writes is gone".to_owned())
    }

    /// How the process ended, where there was one and it ended by itself.
    pub fn exit(&self) -> Option<&Exit> {
        match self {
            Self::Exited(exit) => Some(exit),
            _ => None,
        }
    }
}

/// Why we stopped an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopCause {
    /// It was idle for long.
    Idle,
    /// Another agent needed its place.
    Room,
    /// Its configuration changed.
    Reload,
    /// The program asked for it.
    Asked,
    /// It used more memory than it may.
    Memory,
    /// It did not obey; see [`Lease::condemn`](crate::Lease::condemn).
    Condemned,
}

/// A process that ended: how, and its last words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// Its exit code, or the signal that ended it.
    pub status: ExitStatus,
    /// The end of what it wrote to stderr, at most 64 KiB, cut at a line. The agent's text, control characters and all.
    pub stderr: String,
}

impl Exit {
    /// An exit as it was observed.
    pub fn new(status: ExitStatus, stderr: impl Into<String>) -> Self {
        Self { status, stderr: stderr.into() }
    }
}

/// How a process ended, as `waitid` tells it (POSIX.1-2017).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitStatus {
    /// It exited with this code, 0 to 255.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It is gone, and somebody else in this program took its status.
    Unknown,
}

impl ExitStatus {
    /// The exit code, if it exited.
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            _ => None,
        }
    }

    /// The signal, if one ended it.
    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Signal(signal) => Some(signal),
            _ => None,
        }
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("exit status unknown"),
        }
    }
}
