//! What happens in conversations, as data.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use sidekicks_acp::AgentName;
use sidekicks_acp::schema::{AvailableCommand, SessionConfigOption, SessionModeState, UsageUpdate};

use crate::id::{MessageId, PermissionId};
use crate::message::Message;
use crate::part::{Part, PartKind};
use crate::permission::Permission;
use crate::policy::{self, Policy, Rule};
use crate::transcript::Transcript;

/// Something that happened in a conversation.
///
/// Serialised as `{"event": NAME, "payload": {…}}`, with camelCase keys. Applying the events that follow a
/// [`Reset`](Self::Reset) to it, by [`Transcript::apply`], gives the conversation as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "event", content = "payload", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Event {
    /// The whole conversation as it is: first for every subscriber, and for one that fell behind.
    #[serde(rename = "conversation:reset")]
    Reset(Arc<Transcript>),
    /// A message was added, changed or finished.
    #[serde(rename = "message:updated")]
    #[non_exhaustive]
    MessageUpdated {
        /// Whose conversation.
        agent: AgentName,
        /// The whole message.
        message: Arc<Message>,
    },
    /// A part of a message grew or was replaced. An index one beyond the last begins a new part.
    #[serde(rename = "message:delta")]
    #[non_exhaustive]
    MessageDelta {
        /// Whose conversation.
        agent: AgentName,
        /// Which message.
        message_id: MessageId,
        /// Which part of it, from 0.
        index: usize,
        /// The kind of the part.
        kind: PartKind,
        /// What is appended to a text or thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The whole new part, for every other kind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<Part>,
    },
    /// A turn began, ended or changed.
    #[serde(rename = "turn:changed")]
    #[non_exhaustive]
    TurnChanged {
        /// Whose conversation.
        agent: AgentName,
        /// The turn as it is.
        #[serde(flatten)]
        turn: TurnState,
    },
    /// The agent asks for permission.
    #[serde(rename = "permission:requested")]
    PermissionRequested(Arc<Permission>),
    /// A question is settled; an answer reaches nobody any more. Each question has one
    /// such event, save one that came while its turn was being cancelled.
    #[serde(rename = "permission:resolved")]
    #[non_exhaustive]
    PermissionResolved {
        /// Which one.
        id: PermissionId,
        /// Whose conversation.
        agent: AgentName,
        /// How.
        outcome: Outcome,
        /// The id of the option that was chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
        /// Who or what settled it.
        by: ResolvedBy,
        /// The rule that did, where it was one.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "policy::told")]
        rule: Option<Rule>,
        /// The policy that did, where it was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<Policy>,
        /// The question, where it was never told by [`PermissionRequested`](Self::PermissionRequested) since it was settled
        /// before that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission: Option<Arc<Permission>>,
    },
    /// How much of its context the agent has used, or that this is not known any more.
    #[serde(rename = "usage:changed")]
    #[non_exhaustive]
    UsageChanged {
        /// Whose conversation.
        agent: AgentName,
        /// As the agent tells it; `null` in a new session that told nothing yet.
        usage: Option<UsageUpdate>,
    },
    /// What the session offers changed; what is absent did not, and what is `null` is there no more.
    #[serde(rename = "agent:changed")]
    #[non_exhaustive]
    AgentChanged {
        /// Whose conversation.
        agent: AgentName,
        /// What changed.
        #[serde(flatten)]
        offer: Offer,
    },
}

/// The turn of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TurnState {
    /// Whether a turn runs.
    pub busy: bool,
    /// How many messages wait.
    pub queued: usize,
    /// What the turn is at.
    pub phase: TurnPhase,
    /// How many tool calls of this turn failed in a row; a success makes it 0. What a person refused is not counted,
    /// nor what was cancelled or left unfinished. From [`LOOP_THRESHOLD`] on the agent seems to go in circles, and an
    /// interface shows a way to stop it.
    pub failed_tools: u32,
    /// Since when nothing at all has come of the agent, in milliseconds since the Unix epoch: told once that has lasted
    /// for [`Options::silence`](crate::Options::silence). Nobody is stopped by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_since: Option<u64>,
    /// Who holds the room that the turn waits for, in [`TurnPhase::Waiting`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<String>,
}

/// When so many tool calls of a turn failed in a row, the agent seems to go in circles.
pub const LOOP_THRESHOLD: u32 = 3;

/// What a turn is at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnPhase {
    /// No turn runs.
    #[default]
    Idle,
    /// Other agents hold all the room.
    Waiting,
    /// The agent starts, or its session is opened and set up.
    Starting,
    /// The agent works.
    Answering,
    /// The agent waits for an answer of the person.
    Asking,
    /// The turn is being cancelled.
    Stopping,
}

/// What of the offer of a session changed.
///
/// In JSON what did not change is absent, and what there is no more is `null`: `{"modes":null,"title":"Tests"}` says
/// that there are no modes any more and that the title is new, and nothing of commands. There, as here, an empty list of
/// commands or options says that there are none any more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Offer {
    /// The agent's own commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<AvailableCommand>>,
    /// The modes it can be in; `Some(None)`, in JSON `null`, where it has none any more.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[cfg_attr(feature = "schemars", schemars(extend("x-null" = true)))]
    pub modes: Option<Option<SessionModeState>>,
    /// What can be chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// What the agent calls the conversation; `Some(None)`, in JSON `null`, where it calls it nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[cfg_attr(feature = "schemars", schemars(extend("x-null" = true)))]
    pub title: Option<Option<String>>,
}

/// Reads what is there, be it `null`. (What is absent is not read, but made by `default`.)
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// How a question was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// An option was chosen.
    Selected,
    /// No option was chosen: the turn is over, the agent took the question back, or none of its options refuses.
    Cancelled,
}

/// Who or what settled a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResolvedBy {
    /// Somebody who called [`Conversation::answer`](crate::Conversation::answer).
    User,
    /// The turn was cancelled, or the conversation was forgotten.
    Stop,
    /// The agent took it back, ended the turn or left.
    Agent,
    /// A [`Rule`] of the agent's profile.
    Rule,
    /// The [`Policy`] of the agent's profile.
    Policy,
    /// The [`Decider`](crate::Decider), or that it failed.
    Decider,
    /// Nobody: it was open for [`Options::permission_timeout`](crate::Options::permission_timeout).
    Timeout,
}

impl Event {
    /// Whose conversation it is about.
    pub fn agent(&self) -> &AgentName {
        match self {
            Self::Reset(transcript) => &transcript.agent,
            Self::PermissionRequested(permission) => &permission.agent,
            Self::MessageUpdated { agent, .. }
            | Self::MessageDelta { agent, .. }
            | Self::TurnChanged { agent, .. }
            | Self::PermissionResolved { agent, .. }
            | Self::UsageChanged { agent, .. }
            | Self::AgentChanged { agent, .. } => agent,
        }
    }
}
