//! Why a call did not succeed.

use std::path::PathBuf;
use std::time::Duration;

use super::{AgentError, End};
use crate::schema::SessionId;

/// Why a call to an agent did not succeed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The agent answered with an error. The connection lives.
    #[error(transparent)]
    Agent(Box<AgentError>),
    /// The connection, or the session, ended before the answer. `sent` tells whether the call was (at least partly) written.
    #[error("{end}")]
    Ended {
        /// How it ended.
        end: End,
        /// Whether the agent may have seen the call.
        sent: bool,
    },
    /// The agent did not answer in time. A later answer is ignored.
    #[error("the agent did not answer within {} seconds", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The answer was a line longer than [`Limits::line`](crate::Limits::line).
    #[error("the agent's answer was too long: {0} bytes on one line")]
    TooLong(u64),
    /// The answer cannot be understood; the text says what is wrong with it.
    #[error("the agent's answer makes no sense: {0}")]
    Malformed(String),
    /// The agent does not read its input, and [`Limits::outbox`](crate::Limits::outbox) is full. Nothing was sent.
    #[error("the agent does not read what is sent to it")]
    Backpressure,
    /// There is no such open session. Nothing was sent.
    #[error("there is no open session {0}")]
    UnknownSession(SessionId),
    /// This session is open, and somebody reads it. Nothing was sent.
    #[error("the session {0} is open already")]
    AlreadyOpen(SessionId),
    /// The agent does not offer this, by what it said in the handshake. Nothing was sent. An agent that can do it all the
    /// same is reached by [`call_raw`](crate::AgentConnection::call_raw).
    #[error("the agent does not offer {0}")]
    Unsupported(&'static str),
    /// A prompt is pending in this session; agents differ in what they do with a second one. Nothing was sent.
    #[error("a prompt is already pending in this session")]
    PromptPending,
    /// A prompt needs content. Nothing was sent.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// The agent cannot take this kind of content. Nothing was sent.
    #[error("the agent takes no {0} in a prompt")]
    UnsupportedContent(&'static str),
    /// A session's folders must be absolute paths. Nothing was sent.
    #[error("not an absolute path: {}", .0.display())]
    RelativeCwd(PathBuf),
    /// Something in the call is not Unicode, such as the name of a folder, and so cannot be written as JSON. Nothing was
    /// sent.
    #[error("the call cannot be written as JSON: {0}")]
    NotUnicode(String),
}

impl CallError {
    /// The code of this error, one of [`CODES`](crate::CODES).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Agent(error) if error.login_required() => "login-required",
            Self::Agent(_) => "agent-error",
            Self::Ended { end, .. } => end.code(),
            Self::TimedOut(_) => "timeout",
            Self::TooLong(_) => "too-long",
            Self::Malformed(_) => "malformed-reply",
            Self::Backpressure => "backpressure",
            Self::UnknownSession(_) => "unknown-session",
            Self::AlreadyOpen(_) => "already-open",
            Self::Unsupported(_) => "unsupported",
            Self::PromptPending => "prompt-pending",
            Self::EmptyPrompt => "empty-prompt",
            Self::UnsupportedContent(_) => "unsupported-content",
            Self::RelativeCwd(_) => "relative-workspace",
            Self::NotUnicode(_) => "not-unicode",
        }
    }

    /// Whether the agent may have seen the call.
    pub fn sent(&self) -> bool {
        match self {
            Self::Agent(_) | Self::TimedOut(_) | Self::TooLong(_) | Self::Malformed(_) => true,
            Self::Ended { sent, .. } => *sent,
            _ => false,
        }
    }
}

impl From<AgentError> for CallError {
    fn from(error: AgentError) -> Self {
        Self::Agent(Box::new(error))
    }
}

/// Why an answer to a question of the agent reached nobody.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// It was answered, withdrawn or cancelled before, or the connection is over.
    #[error("the question is settled already")]
    AlreadySettled,
    /// The agent offers no such option; the question stays open.
    #[error("the agent offers no option {0:?}")]
    UnknownOption(String),
}

impl AnswerError {
    /// The code of this error, one of [`CODES`](crate::CODES).
    pub fn code(&self) -> &'static str {
        match self {
            Self::AlreadySettled => "already-settled",
            Self::UnknownOption(_) => "unknown-option",
        }
    }
}
