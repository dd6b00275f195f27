//! What was said.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::id::MessageId;
use crate::part::Part;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "MessageRole"))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Agent,
    /// The program, by a [code](Message::code) that an interface turns into a sentence.
    System,
}

/// One message of a conversation, made of parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Message {
    /// Its name.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// When it was begun, in milliseconds since the Unix epoch, by [`Options::clock`](crate::Options::clock).
    pub at: u64,
    /// It waits until the agent has answered what came before.
    pub queued: bool,
    /// The agent never got it. It is not lost: it can be sent again.
    pub not_sent: bool,
    /// Of a message that was not sent: the one in which it was [sent again](crate::Conversation::resend).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resent_as: Option<MessageId>,
    /// Of an agent's message: what it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// Of a finished agent's message: why the agent stopped. After a cancel it is `cancelled`, whatever the agent
    /// calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// What the agent called it, where that is not the [stop reason](Self::stop_reason): its own word, or the text of
    /// the error with which it answered a cancel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_stop_reason: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// A finished agent's message in which the agent neither said anything nor used a tool, though nobody cancelled it.
    /// Some agents end so when their model could not be reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty: bool,
    /// Of a system message: what it says, one of [`SYSTEM_CODES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Of a system message: the particulars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Map<String, Value>>,
}

/// Every code that a system message can have, in alphabetical order.
///
/// - `agent-exited`: it left between two turns, by itself. Params, where known: `exitCode`, `signal`, `stderr`.
/// - `agent-restarted`: it no longer remembers the beginning.
/// - `agent-unavailable`: it could not be started or reached. The message that was not sent has the error.
/// - `agent-unresponsive`: it did not obey a cancel, and is stopped.
/// - `context-compacted`: it makes its context smaller, and then may remember less of what was said. Params: `status`
///   (`in_progress`, `completed`, `failed`, `cancelled`, `unfinished` where the session ended meanwhile, or a word that this
///   version does not know), `summary` (what it keeps, Markdown) and `error`, where it tells them. The message is updated
///   until that is over.
/// - `login-required`: it wants a login first. Params: `methods`.
/// - `mode-unconfirmed`: it was asked for a mode, and may be in another. Params: `wanted`, and `current` where it says so.
/// - `model-unconfirmed`: the same of the model.
/// - `notice`: something that is no part of an answer: what it gives notice of, or said before there was anything to
///   answer. Params: `text`, and where it tells them `description` and `severity` (`info`, `warning`, `error` or another
///   word). Plain text, 64 KiB of each at most.
/// - `session-resumed`: it goes on with the session, as after a new start, and remembers what was said.
pub const SYSTEM_CODES: &[&str] = &[
    "agent-exited",
    "agent-restarted",
    "agent-unavailable",
    "agent-unresponsive",
    "context-compacted",
    "login-required",
    "mode-unconfirmed",
    "model-unconfirmed",
    "notice",
    "session-resumed",
];

impl Message {
    /// A message in which nothing is said yet, begun `at` so many milliseconds since the Unix epoch.
    pub fn new(id: MessageId, role: Role, at: u64) -> Self {
        Self {
            id,
            role,
            parts: Vec::new(),
            at,
            queued: false,
            not_sent: false,
            resent_as: None,
            reply_to: None,
            stop_reason: None,
            agent_stop_reason: None,
            error: None,
            empty: false,
            code: None,
            params: None,
        }
    }

    /// Whether it holds neither words nor a tool nor a picture or the like.
    pub(crate) fn says_nothing(&self) -> bool {
        !self.parts.iter().any(|part| match part {
            Part::Text { text, .. } => !text.is_blank(),
            Part::Thought { .. } | Part::Plan { .. } | Part::Other(_) => false,
            _ => true,
        })
    }

    /// Whether it is finished: nothing is added to an agent's message but what comes late, and a person's waits no more.
    pub fn is_finished(&self) -> bool {
        !self.queued && (self.role != Role::Agent || self.stop_reason.is_some() || self.error.is_some())
    }
}
