//! A conversation as the hub keeps it.

use std::collections::HashMap;
use std::sync::Arc;

use sidekicks_acp::AgentName;

use super::weight;
use crate::event::Event;
use crate::id::MessageId;
use crate::transcript::{Transcript, message_of};

/// A conversation, and where in it each message is: a new one is told from those that are there without looking at all of
/// them, however many they are.
pub(super) struct Kept {
    transcript: Arc<Transcript>,
    places: HashMap<MessageId, usize>,
}

impl Kept {
    pub(super) fn new(agent: AgentName) -> Self {
        Self { transcript: Arc::new(Transcript::new(agent)), places: HashMap::new() }
    }

    pub(super) fn agent(&self) -> &AgentName {
        &self.transcript.agent
    }

    /// Where nobody holds the one before, what comes next copies nothing; else it copies the list of messages once.
    pub(super) fn snapshot(&self) -> Arc<Transcript> {
        Arc::clone(&self.transcript)
    }

    /// About how many bytes `event` brings.
    pub(super) fn weight(&self, event: &Event) -> usize {
        let known = message_of(event).and_then(|id| self.place(id)).map(|place| &*self.transcript.messages[place]);
        weight::brought(event, known)
    }

    pub(super) fn apply(&mut self, event: &Event) {
        let place = message_of(event).and_then(|id| self.place(id));
        let transcript = Arc::make_mut(&mut self.transcript);
        transcript.apply_at(event, place);
        if matches!(event, Event::Reset(_)) {
            self.places.clear();
        }
        let new = transcript.messages.iter().enumerate().skip(self.places.len());
        self.places.extend(new.map(|(place, message)| (message.id.clone(), place)));
    }

    fn place(&self, id: &MessageId) -> Option<usize> {
        let last = self.transcript.messages.len().checked_sub(1)?;
        // What is looked for is nearly always at the end.
        let at_end = self.transcript.messages[last].id == *id;
        if at_end { Some(last) } else { self.places.get(id).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Message, Role};
    use crate::part::{Part, PartKind};

    #[test]
    fn each_message_is_found() {
        let agent = || AgentName::from("a");
        let message = |id: &str| Arc::new(Message::new(id.into(), Role::Agent, 0));
        let updated = |id: &str| Event::MessageUpdated { agent: agent(), message: message(id) };
        let delta = |id: &str| Event::MessageDelta {
            agent: agent(),
            message_id: id.into(),
            index: 0,
            kind: PartKind::Text,
            text: Some("x".to_owned()),
            part: None,
        };
        let mut whole = Transcript::new(agent());
        whole.messages = vec![message("m3"), message("m4")];
        let told = [
            updated("m1"),
            updated("m2"),
            delta("m1"),
            updated("m2"),
            delta("m9"),
            Event::Reset(Arc::new(whole)),
            delta("m1"),
            delta("m3"),
            updated("m5"),
            delta("m4"),
            delta("m5"),
        ];
        let (mut kept, mut mirror) = (Kept::new(agent()), Transcript::new(agent()));
        for event in told {
            kept.apply(&event);
            mirror.apply(&event);
            assert_eq!(*kept.snapshot(), mirror, "{event:?}");
            assert_eq!(kept.places.len(), mirror.messages.len());
        }
        assert!(mirror.messages.iter().all(|message| message.parts == [Part::text("x")]));
    }
}
