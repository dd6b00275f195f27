//! What a caller can get wrong.

use sidekicks_acp::{CallError, ConnectError};

/// Every code that an error of this crate can have, in alphabetical order. Messages carry codes of
/// [`sidekicks_acp::CODES`] and [`SYSTEM_CODES`](crate::SYSTEM_CODES) besides.
pub const CODES: &[&str] = &[
    "already-resolved",
    "conversation-closed",
    "empty-message",
    "mode-refused",
    "model-refused",
    "no-session",
    "no-such-agent",
    "no-such-message",
    "no-such-option",
    "not-offered",
    "not-queued",
    "queue-full",
    "was-sent",
];

/// Why a message was not taken. Nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// It says nothing.
    #[error("the message is empty")]
    Empty,
    /// [`Options::queue`](crate::Options::queue) messages wait already.
    #[error("too many messages wait already")]
    QueueFull,
    /// The agent is not in the directory any more.
    #[error("there is no such agent")]
    NoSuchAgent,
    /// The runtime that the conversations were made in is gone, or the program's own code panicked in it: nobody is left to
    /// do anything.
    #[error("the conversation is closed")]
    Closed,
    /// There is no message of this id that could be sent again.
    #[error("there is no such message")]
    NoSuchMessage,
    /// This message was sent, waits to be sent, was sent again already, or is none of the person's.
    #[error("the message is none that was not sent")]
    WasSent,
}

impl SendError {
    /// The code of this error, one of [`CODES`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty-message",
            Self::QueueFull => "queue-full",
            Self::NoSuchAgent => "no-such-agent",
            Self::Closed => "conversation-closed",
            Self::NoSuchMessage => "no-such-message",
            Self::WasSent => "was-sent",
        }
    }
}

/// Why a message was not taken out of the queue. Nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnqueueError {
    /// There is no message of this id.
    #[error("there is no such message")]
    NoSuchMessage,
    /// It does not wait: its turn has begun, or it was not sent.
    #[error("the message does not wait")]
    NotQueued,
}

impl UnqueueError {
    /// The code of this error, one of [`CODES`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchMessage => "no-such-message",
            Self::NotQueued => "not-queued",
        }
    }
}

/// Why an agent did not do what it was asked for besides a prompt.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The agent is not in the directory any more.
    #[error("there is no such agent")]
    NoSuchAgent,
    /// The runtime that the conversations were made in is gone, and nobody is left to do anything.
    #[error("the conversation is closed")]
    Closed,
    /// What can be chosen is known only in a session, and none is open.
    #[error("no session is open")]
    NoSession,
    /// The agent offers others, or nothing of the kind.
    #[error("the agent does not offer that, but: {}", .offered.join(", "))]
    #[non_exhaustive]
    NotOffered {
        /// What it offers: ids of modes, models, options, or of the choices of an option.
        offered: Vec<String>,
    },
    /// There is no connection to be had.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The agent refused, or left.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl RequestError {
    /// The code of this error, one of [`CODES`] or of [`sidekicks_acp::CODES`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchAgent => "no-such-agent",
            Self::Closed => "conversation-closed",
            Self::NoSession => "no-session",
            Self::NotOffered { .. } => "not-offered",
            Self::Connect(error) => error.code(),
            Self::Call(error) => error.code(),
        }
    }
}

/// Why an answer reached nobody: what [`sidekicks_acp::AnswerError`] says of a question that is named by its
/// [`PermissionId`](crate::PermissionId).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The question is settled, or never was; of the connection this is
    /// [`AlreadySettled`](sidekicks_acp::AnswerError::AlreadySettled).
    #[error("the question is settled already")]
    AlreadyResolved,
    /// The agent offers no such option; the question stays open.
    #[error("the agent offers no such option")]
    NoSuchOption,
}

impl AnswerError {
    /// The code of this error, one of [`CODES`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::AlreadyResolved => "already-resolved",
            Self::NoSuchOption => "no-such-option",
        }
    }
}
