//! A conversation as it is at one moment.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sidekicks_acp::AgentName;
use sidekicks_acp::schema::{AvailableCommand, SessionConfigOption, SessionModeState, UsageUpdate};

use crate::event::{Event, TurnState};
use crate::id::MessageId;
use crate::message::Message;
use crate::part::{Part, PartKind};
use crate::permission::Permission;

/// A conversation as it is at one moment; the payload of `conversation:reset`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Transcript {
    /// Whose conversation.
    pub agent: AgentName,
    /// What was said, in the order in which it was begun: of two prompts of which one was queued, the answers come after
    /// both. [`Message::reply_to`] tells what is answered.
    pub messages: Vec<Arc<Message>>,
    /// The turn.
    #[serde(flatten)]
    pub turn: TurnState,
    /// The questions that are open, in the order in which they came.
    pub permissions: Vec<Arc<Permission>>,
    /// How much of its context the agent has used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageUpdate>,
    /// The agent's own commands.
    pub commands: Vec<AvailableCommand>,
    /// The modes the agent can be in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<SessionModeState>,
    /// What can be chosen.
    pub config_options: Vec<SessionConfigOption>,
    /// What the agent calls the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The conversation was [forgotten](crate::Conversations::forget): an interface takes it from the screen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

impl Transcript {
    /// A conversation in which nothing was said.
    pub fn new(agent: AgentName) -> Self {
        Self {
            agent,
            messages: Vec::new(),
            turn: TurnState::default(),
            permissions: Vec::new(),
            usage: None,
            commands: Vec::new(),
            modes: None,
            config_options: Vec::new(),
            title: None,
            removed: false,
        }
    }

    /// The message of this id.
    pub fn message(&self, id: &MessageId) -> Option<&Arc<Message>> {
        // What is looked for is nearly always at the end.
        self.messages.iter().rev().find(|message| message.id == *id)
    }

    /// Takes what happened. This is the only way in which a conversation changes, here as in every mirror of it.
    ///
    /// An event of another agent changes nothing, nor does a delta for a message that is not there.
    pub fn apply(&mut self, event: &Event) {
        let place = message_of(event).and_then(|id| self.messages.iter().rposition(|known| known.id == *id));
        self.apply_at(event, place);
    }

    /// The same, where the place of the message that it is about is known, or that it is not there.
    pub(crate) fn apply_at(&mut self, event: &Event, place: Option<usize>) {
        if *event.agent() != self.agent {
            return;
        }
        match event {
            Event::Reset(whole) => *self = Self::clone(whole),
            Event::MessageUpdated { message, .. } => match place {
                Some(place) => self.messages[place] = Arc::clone(message),
                None => self.messages.push(Arc::clone(message)),
            },
            Event::MessageDelta { index, kind, text, part, .. } => {
                let Some(place) = place else { return };
                let message = &mut self.messages[place];
                let parts = &mut Arc::make_mut(message).parts;
                let next = parts.len();
                match (parts.get_mut(*index), text, part) {
                    (Some(known), _, Some(part)) => *known = part.clone(),
                    (Some(known), Some(text), None) => {
                        known.append(text);
                    }
                    (None, text, part) if *index == next => parts.extend(begun(*kind, text, part)),
                    _ => {}
                }
            }
            Event::TurnChanged { turn, .. } => self.turn = turn.clone(),
            Event::PermissionRequested(permission) => self.permissions.push(Arc::clone(permission)),
            Event::PermissionResolved { id, .. } => self.permissions.retain(|open| open.id != *id),
            Event::UsageChanged { usage, .. } => self.usage = usage.clone(),
            Event::AgentChanged { offer, .. } => {
                take(&mut self.commands, &offer.commands);
                take(&mut self.modes, &offer.modes);
                take(&mut self.config_options, &offer.config_options);
                take(&mut self.title, &offer.title);
            }
        }
    }
}

/// The message that an event is about.
pub(crate) fn message_of(event: &Event) -> Option<&MessageId> {
    match event {
        Event::MessageUpdated { message, .. } => Some(&message.id),
        Event::MessageDelta { message_id, .. } => Some(message_id),
        _ => None,
    }
}

/// What did not change stays.
fn take<T: Clone>(known: &mut T, change: &Option<T>) {
    if let Some(new) = change {
        new.clone_into(known);
    }
}

/// The part that a delta begins.
fn begun(kind: PartKind, text: &Option<String>, part: &Option<Part>) -> Option<Part> {
    part.clone().or_else(|| Part::begun_by(kind, text.as_deref()?))
}
