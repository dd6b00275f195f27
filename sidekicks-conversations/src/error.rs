//! What a caller can get wrong.

/// Every code that an error of this crate can have, in alphabetical order. Messages carry codes of
/// [`sidekicks_acp::CODES`] and [`SYSTEM_CODES`](crate::SYSTEM_CODES) besides.
pub const CODES: &[&str] = &["already-resolved", "empty-message", "no-such-agent", "no-such-option", "queue-full"];

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
}

impl SendError {
    /// The code of this error, one of [`CODES`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty-message",
            Self::QueueFull => "queue-full",
            Self::NoSuchAgent => "no-such-agent",
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
