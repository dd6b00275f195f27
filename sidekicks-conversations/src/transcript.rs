//! A conversation as it is at one moment.

mod places;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sidekicks_acp::AgentName;
use sidekicks_acp::schema::{AvailableCommand, SessionConfigOption, SessionModeState, UsageUpdate};

use self::places::Places;
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
    /// What was said, in the order in which it was begun. Of two prompts of which one was queued, the answers come after
    /// both: [`Message::reply_to`] tells what is answered.
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
    #[serde(skip)]
    places: Places,
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
            places: Places::default(),
        }
    }

    /// What is left of a conversation that was forgotten.
    pub(crate) fn forgotten(agent: AgentName) -> Self {
        let mut this = Self::new(agent);
        this.removed = true;
        this
    }

    /// The message of this id, found without looking at all of them.
    ///
    /// Who changes the [messages](Self::messages) by hand may put in and take out, but must not put one in the place of
    /// another: that one may not be found.
    pub fn message(&self, id: &MessageId) -> Option<&Arc<Message>> {
        self.places.find(&self.messages, id).map(|place| &self.messages[place])
    }

    /// Takes what happened. This is the only way in which a conversation changes, here as in every mirror of it.
    ///
    /// An event of another agent changes nothing, nor does a delta for a message that is not there.
    pub fn apply(&mut self, event: &Event) {
        if *event.agent() != self.agent {
            return;
        }
        match event {
            Event::Reset(whole) => *self = Self::clone(whole),
            Event::MessageUpdated { message, .. } => match self.places.find(&self.messages, &message.id) {
                Some(place) => self.messages[place] = Arc::clone(message),
                None => self.messages.push(Arc::clone(message)),
            },
            Event::MessageDelta { message_id, index, kind, text, part, .. } => {
                let Some(place) = self.places.find(&self.messages, message_id) else { return };
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
            Event::PermissionResolved { id, .. } => {
                // The first, where all are settled at once.
                let at = self.permissions.iter().position(|open| open.id == *id);
                at.map(|at| self.permissions.remove(at));
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;
    use serde_json::json;

    fn agent() -> AgentName {
        "a".into()
    }

    fn updated(id: &str) -> Event {
        Event::MessageUpdated { agent: agent(), message: Arc::new(Message::new(id.into(), Role::Agent, 0)) }
    }

    #[test]
    fn each_event_reaches_its_message() {
        let delta = |id: &str| Event::MessageDelta {
            agent: agent(),
            message_id: id.into(),
            index: 0,
            kind: PartKind::Text,
            text: Some("x".to_owned()),
            part: None,
        };
        let mut whole = Transcript::new(agent());
        ["m3", "m4"].iter().for_each(|id| whole.apply(&updated(id)));
        let mut mirror = Transcript::new(agent());
        ["m1", "m2", "m1", "m2"].iter().for_each(|id| mirror.apply(&updated(id)));
        assert_eq!(mirror.messages.len(), 2);
        let reset = serde_json::from_value(json!(Event::Reset(Arc::new(whole)))).unwrap();
        for event in [reset, delta("m1"), delta("m3"), updated("m5"), delta("m9"), delta("m4"), delta("m5")] {
            mirror.apply(&event);
        }
        let said: Vec<_> =
            mirror.messages.iter().map(|message| (message.id.as_str(), message.parts.as_slice())).collect();
        let parts = [Part::text("x")];
        assert_eq!(said, ["m3", "m4", "m5"].map(|id| (id, &parts[..])));
        assert_eq!(mirror.message(&"m4".into()), mirror.messages.get(1));
        assert_eq!(mirror.message(&"m1".into()), None);
    }
}
