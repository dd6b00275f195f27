//! What the agent does, and what that means for the conversation.

use serde_json::{Map, Value};
use sidekicks_acp::schema::{ContentBlock, SessionModeId, SessionUpdate};
use sidekicks_acp::{CallError, End, Phase, PromptId, SessionEvent, TurnEnd, Update};

use super::notices::append;
use super::{Core, Number, Session, Stage, Turn};
use crate::event::{Event, Offer};
use crate::fold::{is_content, is_memory};
use crate::wish::{confirmed_in_text, in_mode};

/// For how many events of a session a prompt waits: one that never pauses must not keep it for ever. What is told again
/// may be long.
const CROSSED: usize = 1000;
const RECALLED: usize = 1_000_000;

impl Core {
    /// What a session says. One that is not followed any more is not heard.
    pub(crate) fn hear(&mut self, session: Number, event: SessionEvent) {
        if self.session.as_ref().is_none_or(|ours| ours.number != session) {
            return;
        }
        self.heard();
        match event {
            SessionEvent::Opened(Ok(session)) => self.opened(session),
            SessionEvent::Opened(Err(error)) => self.not_opened(&error),
            SessionEvent::Update(update) => self.updated(&update),
            SessionEvent::Permission(request) => self.asked(request),
            SessionEvent::Withdrawn(question) => self.withdrawn(question),
            SessionEvent::TurnEnded { prompt, end } => self.turn_ended(prompt, end),
            SessionEvent::Ended(end) => self.ended(&end),
            _ => {}
        }
        let Some(Session { id: Some(_), recall, .. }) = &mut self.session else { return };
        let most = if recall.quiet_until().is_some() { RECALLED } else { CROSSED };
        if let Some(turn @ Turn { stage: Stage::Opening, .. }) = &mut self.turn {
            turn.crossed += 1;
            if turn.crossed > most {
                self.ready();
                self.tell_turn();
            }
        }
    }

    fn updated(&mut self, update: &Update) {
        if let Some(session) = self.session.as_mut().filter(|session| session.recall.lasts) {
            // What was said is here already. Only what the session offers is news.
            if is_content(update) {
                session.recall.replayed |= is_memory(update);
                return session.recall.heard();
            }
        }
        if self.noticed(update) {
            return;
        }
        let text = text_of(update);
        if let Some(mode) = text.and_then(confirmed_in_text).filter(|mode| self.is_a_mode(mode)) {
            let modes = self.look(|known| in_mode(known.modes.as_ref(), SessionModeId::new(mode)));
            let modes = Some(Some(modes));
            return self.offered(Offer { modes, ..Offer::default() });
        }
        let transcript = self.common.hub.transcript(&self.agent);
        if let Some(text) = text.filter(|_| !self.cursor.is_in(&transcript)) {
            return append(&mut self.unclaimed, text);
        }
        let events = self.cursor.fold(&transcript, update);
        let counted = self.count_tools(&transcript, &events);
        drop(transcript);
        for event in events {
            match event {
                Event::AgentChanged { offer, .. } => self.offered(offer),
                Event::MessageDelta { ref message_id, .. } => {
                    self.judge_confirmations();
                    self.added(message_id);
                    self.publish(event);
                }
                event => self.publish(event),
            }
        }
        if counted {
            self.tell_turn();
        }
    }

    fn turn_ended(&mut self, prompt: PromptId, end: Result<TurnEnd, CallError>) {
        if self.turn.as_ref().is_some_and(|turn| turn.stage == Stage::Prompting(prompt)) {
            match end {
                Ok(end) => self.finish(&end),
                Err(error) => self.fail(&error),
            }
        }
    }

    /// The connection, or the session alone, is over. Mostly a turn on it has ended by then, and has told of it.
    pub(crate) fn ended(&mut self, end: &End) {
        if matches!(self.turn, Some(Turn { stage: Stage::Prompting(_), .. })) {
            self.remember();
        }
        self.end_session();
        let error = CallError::Ended { end: end.clone(), sent: true };
        match (self.turn.as_ref().map(|turn| &turn.stage), end) {
            (Some(Stage::Opening | Stage::Setting { .. }), _) => self.call_failed(&error, Phase::Open),
            (Some(Stage::Prompting(_)), _) => self.fail(&error),
            (_, End::Stopped(_) | End::Closed) => {} // By us, which is no news.
            (_, end) if end.is_of_session() => {}    // The agent lives; the next turn opens another session.
            _ => self.say("agent-exited", exit(end)),
        }
    }
}

/// What is known of how an agent left.
fn exit(end: &End) -> Map<String, Value> {
    let mut known = Map::new();
    if let Some(exit) = end.exit() {
        known.extend(exit.status.code().map(|code| ("exitCode".to_owned(), code.into())));
        known.extend(exit.status.signal().map(|signal| ("signal".to_owned(), signal.into())));
        known.extend((!exit.stderr.is_empty()).then(|| ("stderr".to_owned(), exit.stderr.clone().into())));
    }
    known
}

/// What a fragment of an answer says.
fn text_of(update: &Update) -> Option<&str> {
    match &update.typed {
        Ok(SessionUpdate::AgentMessageChunk(chunk)) => match &chunk.content {
            ContentBlock::Text(text) => Some(&text.text),
            _ => None,
        },
        _ => None,
    }
}
