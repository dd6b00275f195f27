//! What the agent does, and what that means for the conversation.

use std::sync::Arc;

use serde_json::{Map, Value};
use sidekicks_acp::{
    CallError, ConnectError, End, Lease, OpenSession, OpenedSession, PermissionRequest, Phase, PromptId, QuestionId,
    SessionEvent, TurnEnd, Update,
};

use super::{Core, Session, Stage, Ticket, Turn};
use crate::event::{Event, Offer, Outcome, ResolvedBy};
use crate::failure::Failure;
use crate::id::PermissionId;
use crate::permission::Permission;

impl Core {
    pub(crate) fn borrowed(&mut self, ticket: Ticket, lease: Result<Lease, ConnectError>) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.stage == Stage::Borrowing(ticket)) else {
            return; // Stopped meanwhile; the lease goes back.
        };
        let lease = match lease {
            Ok(lease) => turn.lease.insert(lease),
            Err(error) => {
                let failure = Failure::of_connect(&error);
                self.say_unavailable(&failure);
                return self.fail_before_prompt(failure);
            }
        };
        turn.stage = Stage::Opening;
        let (generation, connection) = (lease.generation(), Arc::clone(lease.connection()));
        let request = OpenSession::new(&turn.profile.cwd).mcp_servers(turn.profile.mcp_servers.clone());
        let fits = |session: &Session| session.generation == generation && session.request == request;
        if self.session.as_ref().is_some_and(fits) {
            self.prompt(); // Or it is still opening, on behalf of a turn that was stopped.
            return self.tell_turn();
        }
        self.end_session();
        match connection.open(request.clone()) {
            Ok(events) => {
                self.session = Some(Session { generation, connection, request, id: None });
                self.session_change = Some(Some(events));
                self.tell_turn();
            }
            Err(error) => self.call_failed(&error, Phase::Open),
        }
    }

    pub(crate) fn hear(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Opened(Ok(session)) => self.opened(session),
            SessionEvent::Opened(Err(error)) => {
                self.end_session();
                if self.turn.as_ref().is_some_and(|turn| turn.stage == Stage::Opening) {
                    self.call_failed(&error, Phase::Open);
                }
            }
            SessionEvent::Update(update) => self.updated(&update),
            SessionEvent::Permission(request) => self.asked(request),
            SessionEvent::Withdrawn(question) => self.withdrawn(question),
            SessionEvent::TurnEnded { prompt, end } => self.turn_ended(prompt, end),
            SessionEvent::Ended(end) => self.ended(&end),
            _ => {}
        }
    }

    fn opened(&mut self, session: OpenedSession) {
        self.tell_offer(&session);
        if let Some(ours) = &mut self.session {
            ours.id = Some(session.id);
        }
        if std::mem::take(&mut self.told) {
            self.say("agent-restarted", Map::new());
        }
        self.prompt();
        self.tell_turn();
    }

    /// Tells what of a new session differs from what is known. What belonged to the one before is there no more.
    fn tell_offer(&self, session: &OpenedSession) {
        let offer = self.look(|known| Offer {
            // The agent tells its commands after the opening.
            commands: (!known.commands.is_empty()).then(Vec::new),
            modes: (known.modes != session.modes).then(|| session.modes.clone()),
            config_options: (known.config_options != session.config_options).then(|| session.config_options.clone()),
            title: known.title.is_some().then_some(None),
        });
        if offer != Offer::default() {
            self.publish(Event::AgentChanged { agent: self.agent.clone(), offer });
        }
        if self.look(|known| known.usage.is_some()) {
            self.publish(Event::UsageChanged { agent: self.agent.clone(), usage: None });
        }
    }

    fn updated(&mut self, update: &Update) {
        let transcript = self.common.hub.transcript(&self.agent);
        let events = self.cursor.fold(&transcript, update);
        drop(transcript);
        for event in events {
            if let Event::MessageDelta { message_id, .. } = &event {
                self.added(message_id);
            }
            self.publish(event);
        }
    }

    fn asked(&mut self, request: PermissionRequest) {
        let answer = match &self.turn {
            Some(Turn { cancelled: true, .. }) => return, // Dropping it answers "cancelled".
            Some(Turn { stage: Stage::Prompting(_), answer, .. }) => answer.clone(),
            _ => None,
        };
        let call = request.raw.to_value()["toolCall"].take();
        if answer.is_some() {
            let transcript = self.common.hub.transcript(&self.agent);
            let events = self.cursor.announce(&transcript, &call);
            drop(transcript);
            events.into_iter().for_each(|event| self.publish(event));
        }
        let id = PermissionId::numbered(self.common.number());
        let permission = self.look(|transcript| {
            let call = call["toolCallId"].as_str().and_then(|tool| self.cursor.tool(transcript, tool));
            Permission::of(&request, call, id.clone(), self.agent.clone(), answer.clone())
        });
        self.questions.push((id, request));
        self.publish(Event::PermissionRequested(Arc::new(permission)));
        self.tell_turn();
    }

    fn withdrawn(&mut self, question: QuestionId) {
        if let Some(at) = self.questions.iter().position(|(_, request)| request.id() == question) {
            let (id, _) = self.questions.remove(at);
            self.resolved(id, Outcome::Cancelled, None, ResolvedBy::Agent);
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
        self.end_session();
        let error = CallError::Ended { end: end.clone(), sent: true };
        match (self.turn.as_ref().map(|turn| turn.stage), end) {
            (Some(Stage::Opening), _) => self.call_failed(&error, Phase::Open),
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
