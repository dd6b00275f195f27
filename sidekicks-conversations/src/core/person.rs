//! What a person does.

use sidekicks_acp::schema::ContentBlock;
use tokio::time::Instant;

use super::{Core, Session, Stage, Turn};
use crate::error::{SendError, UnqueueError};
use crate::event::ResolvedBy;
use crate::id::MessageId;
use crate::message::Role;
use crate::part::Part;
use crate::prompt::Prompt;

impl Core {
    pub(crate) fn send(&mut self, prompt: Prompt) -> Result<MessageId, SendError> {
        if self.closed {
            return Err(SendError::Closed);
        }
        if prompt.is_empty() {
            return Err(SendError::Empty);
        }
        let profile = self.common.directory.find(&self.agent).ok_or(SendError::NoSuchAgent)?;
        let queued = self.turn.is_some();
        if queued && self.queue.len() >= self.common.options.queue {
            return Err(SendError::QueueFull);
        }
        self.common.hub.add(&self.agent); // Where it was forgotten, it is there again.
        let content = prompt.content;
        let mut message = self.new_message(Role::User);
        message.queued = queued;
        message.parts = content.iter().map(Part::of).collect();
        let id = message.id.clone();
        self.update(message);
        if queued {
            self.queue.push_back((id.clone(), content));
        } else {
            self.begin(id.clone(), content, profile);
        }
        self.tell_turn();
        Ok(id)
    }

    pub(crate) fn resend(&mut self, message: &MessageId) -> Result<MessageId, SendError> {
        if self.closed {
            return Err(SendError::Closed);
        }
        let Some(content) = self.unsent.get(message) else {
            return Err(match self.knows(message) {
                true => SendError::WasSent,
                false => SendError::NoSuchMessage,
            });
        };
        let again = self.send(content.clone().into())?;
        self.unsent.remove(message);
        self.login_awaited.retain(|awaited| awaited != message);
        self.change(message, |message| message.resent_as = Some(again.clone()));
        Ok(again)
    }

    /// Somebody logged in: what waited for it is sent again, in order.
    pub(crate) fn logged_in(&mut self) {
        for message in std::mem::take(&mut self.login_awaited) {
            // What cannot be sent now is still there to be sent again.
            let _ = self.resend(&message);
        }
    }

    pub(crate) fn unqueue(&mut self, message: &MessageId) -> Result<(), UnqueueError> {
        let at = self.queue.iter().position(|(queued, _)| queued == message);
        let Some((id, content)) = at.and_then(|at| self.queue.remove(at)) else {
            return Err(match self.knows(message) {
                true => UnqueueError::NotQueued,
                false => UnqueueError::NoSuchMessage,
            });
        };
        self.not_sent(&id, content, None);
        self.tell_turn();
        Ok(())
    }

    pub(crate) fn stop(&mut self) {
        self.login_awaited.clear();
        self.drop_queue();
        self.cancel_turn();
    }

    pub(crate) fn cancel_turn(&mut self) {
        if let Some(turn @ Turn { stage: Stage::Prompting(_), cancelled: false, .. }) = &mut self.turn {
            turn.cancelled = true;
            turn.deadline = Instant::now().checked_add(self.common.options.cancel_timeout);
            if let (Some(lease), Some(Session { id: Some(session), .. })) = (&turn.lease, &self.session) {
                // It fails only where the connection is over, which ends the turn by itself.
                let _ = lease.connection().cancel(session);
            }
        }
        // Those that were asked between turns too.
        self.settle_questions(ResolvedBy::Stop);
        if self.turn.as_ref().is_some_and(|turn| !matches!(turn.stage, Stage::Prompting(_))) {
            // Nothing was said to the agent yet. What it still opens or sets is there for the next turn.
            self.cancelled_before_prompt();
            self.go_on();
        }
        self.tell_turn();
    }

    fn knows(&self, message: &MessageId) -> bool {
        self.look(|transcript| transcript.message(message).is_some())
    }

    /// Keeps what did not reach the agent.
    pub(super) fn keep_unsent(&mut self, message: &MessageId, content: Vec<ContentBlock>) {
        self.unsent.insert(message.clone(), content);
    }
}
