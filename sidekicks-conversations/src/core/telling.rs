//! How a change becomes an event. Nothing else in the core touches what is seen from outside.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use sidekicks_acp::schema::ContentBlock;
use tokio::time::Instant;

use super::questions::Question;
use super::{Core, Stage, Turn};
use crate::event::{Event, TurnPhase, TurnState};
use crate::failure::Failure;
use crate::fold::close_tools;
use crate::id::MessageId;
use crate::message::{Message, Role};
use crate::transcript::Transcript;

/// How long nothing may come for a message after its turn until it is told as a whole.
const QUIET: Duration = Duration::from_millis(250);

impl Core {
    /// Looks at the conversation as it is. The snapshot is gone when this returns: one that lived while something is
    /// published would make the hub copy its list of messages.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Transcript) -> T) -> T {
        look(&self.common.hub.transcript(&self.agent))
    }

    pub(super) fn publish(&self, event: Event) {
        self.common.hub.publish(event);
    }

    pub(super) fn new_message(&self, role: Role) -> Message {
        Message::new(MessageId::numbered(self.common.number()), role, self.common.now())
    }

    pub(super) fn update(&self, message: Message) {
        self.publish(Event::MessageUpdated { agent: self.agent.clone(), message: Arc::new(message) });
    }

    pub(super) fn change(&self, id: &MessageId, change: impl FnOnce(&mut Message)) {
        if let Some(mut message) = self.look(|transcript| transcript.message(id).map(|known| Message::clone(known))) {
            change(&mut message);
            self.update(message);
        }
    }

    /// Ends an agent's message: what it left open is closed, by deltas, so that the whole message equals what came
    /// before it.
    pub(super) fn finish_message(&self, id: &MessageId, end: impl FnOnce(&mut Message)) {
        if let Some(mut message) = self.look(|transcript| transcript.message(id).map(|known| Message::clone(known))) {
            end(&mut message);
            for event in close_tools(&self.agent, &mut message) {
                self.publish(event);
            }
            self.update(message);
        }
    }

    /// The agent did not get it. It can be sent again.
    pub(super) fn not_sent(&mut self, id: &MessageId, content: Vec<ContentBlock>, error: Option<Failure>) {
        self.keep_unsent(id, content);
        self.change(id, |message| {
            message.queued = false;
            message.not_sent = true;
            message.error = error;
        });
    }

    pub(super) fn say(&self, code: &str, params: Map<String, Value>) {
        self.update(self.system_message(code, params));
    }

    pub(super) fn system_message(&self, code: &str, params: Map<String, Value>) -> Message {
        let mut message = self.new_message(Role::System);
        message.code = Some(code.to_owned());
        message.params = (!params.is_empty()).then_some(params);
        message
    }

    /// Something is being added to this message.
    pub(super) fn added(&mut self, id: &MessageId) {
        let answer = match &self.turn {
            Some(Turn { stage: Stage::Prompting(_), answer, .. }) => answer.as_ref(),
            _ => None,
        };
        if answer != Some(id) {
            if !self.late.messages.contains(id) {
                self.late.messages.push(id.clone());
            }
            self.late.due = Some(Instant::now() + QUIET);
        }
    }

    /// Tells the messages as a whole that were added to after their turn.
    pub(super) fn tell_late(&mut self) {
        let late = mem::take(&mut self.late);
        for id in late.messages {
            self.finish_message(&id, |message| message.empty &= message.says_nothing());
        }
    }

    pub(super) fn tell_turn(&self) {
        let phase = match &self.turn {
            None => TurnPhase::Idle,
            Some(Turn { stage: Stage::Borrowing(_), waiting_for, .. }) if !waiting_for.is_empty() => TurnPhase::Waiting,
            Some(Turn { stage: Stage::Borrowing(_) | Stage::Opening | Stage::Setting { .. }, .. }) => {
                TurnPhase::Starting
            }
            Some(Turn { cancelled: true, .. }) => TurnPhase::Stopping,
            Some(_) if self.questions.iter().any(Question::is_asked) => TurnPhase::Asking,
            Some(_) => TurnPhase::Answering,
        };
        let busy = self.turn.is_some();
        let ours = self.turn.as_ref();
        let turn = TurnState {
            busy,
            queued: self.queue.len(),
            phase,
            failed_tools: ours.map_or(0, |turn| turn.failing.count()),
            silent_since: ours.filter(|turn| turn.heard.told).map(|turn| turn.heard.clock),
            waiting_for: ours.map(|turn| turn.waiting_for.clone()).unwrap_or_default(),
        };
        if self.look(|transcript| transcript.turn != turn) {
            self.publish(Event::TurnChanged { agent: self.agent.clone(), turn });
        }
        self.busy.send_if_modified(|before| mem::replace(before, busy) != busy);
    }
}
