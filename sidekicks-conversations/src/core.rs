//! What a conversation decides: no waiting, one call for each thing that happens.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sidekicks_acp::schema::{ContentBlock, SessionId};
use sidekicks_acp::{
    AgentConnection, AgentName, CallError, ConnectError, Connector, End, Generation, Lease, OpenSession, OpenedSession,
    PermissionRequest, Phase, PromptId, QuestionId, SessionEvent, SessionEvents, StopReason, TurnEnd, Update,
};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::conversations::{AgentProfile, Common};
use crate::error::{AnswerError, SendError};
use crate::event::{Event, Offer, Outcome, ResolvedBy, TurnPhase, TurnState};
use crate::failure::Failure;
use crate::fold::{Cursor, close_tools};
use crate::message::{Message, MessageId, Role};
use crate::part::{Part, PartKind};
use crate::permission::{Permission, PermissionId};
use crate::prompt::Prompt;
use crate::transcript::Transcript;

/// The state of one conversation. Everything that is seen of it goes through the hub.
pub(crate) struct Core {
    agent: AgentName,
    common: Arc<Common>,
    turn: Option<Turn>,
    queue: VecDeque<(MessageId, Vec<ContentBlock>)>,
    questions: Vec<(PermissionId, PermissionRequest)>,
    session: Option<Session>,
    /// Whether an earlier session held a part of what was said.
    remembered: bool,
    cursor: Cursor,
    /// When the message that is being added to after its turn is told as a whole.
    settle: Option<Instant>,
    /// A new session for the task to follow, or that there is none any more.
    session_change: Option<Option<SessionEvents>>,
    next_ticket: u64,
    busy: watch::Sender<bool>,
}

/// One message on its way to the agent and back.
struct Turn {
    message: MessageId,
    content: Vec<ContentBlock>,
    profile: AgentProfile,
    stage: Stage,
    /// Since it was cancelled: when it is ended here.
    cancelled: Option<Instant>,
    /// Whether a connection that ended before the prompt was written has been replaced once.
    retried: bool,
}

enum Stage {
    Borrowing(Ticket),
    Opening(Lease),
    Prompting { lease: Lease, prompt: PromptId, answer: MessageId },
}

/// Names one wish for a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// A session lives as long as the process it was opened in.
struct Session {
    generation: Generation,
    connection: Arc<dyn AgentConnection>,
    /// `None` until it is opened.
    id: Option<SessionId>,
}

/// How long nothing may come for a message after its turn until it is told as a whole.
const QUIET: Duration = Duration::from_millis(250);

impl Core {
    pub(crate) fn new(agent: AgentName, common: Arc<Common>, busy: watch::Sender<bool>) -> Self {
        Self {
            agent,
            common,
            turn: None,
            queue: VecDeque::new(),
            questions: Vec::new(),
            session: None,
            remembered: false,
            cursor: Cursor::default(),
            settle: None,
            session_change: None,
            next_ticket: 0,
            busy,
        }
    }

    // What a person does.

    pub(crate) fn send(&mut self, prompt: Prompt) -> Result<MessageId, SendError> {
        if prompt.is_empty() {
            return Err(SendError::Empty);
        }
        let profile = self.common.directory.find(&self.agent).ok_or(SendError::NoSuchAgent)?;
        let queued = self.turn.is_some();
        if queued && self.queue.len() >= self.common.options.queue {
            return Err(SendError::QueueFull);
        }
        let mut message = self.new_message(Role::User);
        message.queued = queued;
        message.parts = prompt.content.iter().map(Part::of).collect();
        let id = message.id.clone();
        self.update(message);
        if queued {
            self.queue.push_back((id.clone(), prompt.content));
        } else {
            self.begin(id.clone(), prompt.content, profile);
        }
        self.tell_turn();
        Ok(id)
    }

    pub(crate) fn stop(&mut self) {
        self.drop_queue();
        self.cancel_turn();
    }

    pub(crate) fn cancel_turn(&mut self) {
        let Some(turn) = &mut self.turn else { return self.tell_turn() };
        match &turn.stage {
            Stage::Borrowing(_) | Stage::Opening(_) => {
                // Nothing was asked of the agent yet. What it still opens is there for the next turn.
                let message = turn.message.clone();
                self.turn = None;
                self.not_sent(&message, None);
                self.go_on();
            }
            Stage::Prompting { lease, .. } if turn.cancelled.is_none() => {
                turn.cancelled = Some(Instant::now() + self.common.options.cancel_timeout);
                let session = self.session.as_ref().and_then(|session| session.id.clone());
                if let Some(session) = session {
                    // It fails only where the connection is over, which ends the turn by itself.
                    let _ = lease.connection().cancel(&session);
                }
                self.settle_questions(ResolvedBy::Stop);
            }
            Stage::Prompting { .. } => {}
        }
        self.tell_turn();
    }

    pub(crate) fn answer(&mut self, id: &PermissionId, option: &str) -> Result<(), AnswerError> {
        let at = self.questions.iter().position(|(open, _)| open == id).ok_or(AnswerError::AlreadyResolved)?;
        match self.questions[at].1.select(option) {
            Ok(()) => {
                self.questions.remove(at);
                self.resolved(id.clone(), Outcome::Selected, Some(option.to_owned()), ResolvedBy::User);
                self.tell_turn();
                Ok(())
            }
            Err(sidekicks_acp::AnswerError::UnknownOption(_)) => Err(AnswerError::NoSuchOption),
            // Withdrawn a moment ago; that it was comes as an event.
            Err(_) => Err(AnswerError::AlreadyResolved),
        }
    }

    // What the task waits for.

    pub(crate) fn wants_lease(&self) -> Option<(Ticket, Arc<dyn Connector>)> {
        match self.turn.as_ref()? {
            Turn { stage: Stage::Borrowing(ticket), profile, .. } => Some((*ticket, Arc::clone(&profile.connector))),
            _ => None,
        }
    }

    pub(crate) fn take_session_change(&mut self) -> Option<Option<SessionEvents>> {
        self.session_change.take()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let cancelled = self.turn.as_ref().and_then(|turn| turn.cancelled);
        cancelled.into_iter().chain(self.settle).min()
    }

    pub(crate) fn late(&mut self, now: Instant) {
        if self.settle.is_some_and(|settle| settle <= now) {
            self.settle = None;
            let message = self.cursor.message.as_ref().and_then(|id| self.transcript().message(id).cloned());
            if let Some(message) = message {
                self.publish(Event::MessageUpdated { agent: self.agent.clone(), message });
            }
        }
        if self.turn.as_ref().and_then(|turn| turn.cancelled).is_some_and(|deadline| deadline <= now) {
            self.condemn();
        }
    }

    pub(crate) fn borrowed(&mut self, ticket: Ticket, lease: Result<Lease, ConnectError>) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.waits_for(ticket)) else {
            return; // Stopped meanwhile; the lease goes back.
        };
        let lease = match lease {
            Ok(lease) => lease,
            Err(error) => {
                let failure = Failure::of_connect(&error);
                self.say("agent-unavailable", Map::new());
                return self.fail_before_prompt(failure);
            }
        };
        if let Some(session) = self.session.as_ref().filter(|session| session.generation == lease.generation()) {
            let opened = session.id.is_some();
            turn.stage = Stage::Opening(lease);
            if opened {
                self.prompt();
            }
            return self.tell_turn();
        }
        let request = OpenSession::new(&turn.profile.cwd).mcp_servers(turn.profile.mcp_servers.clone());
        match lease.connection().open(request) {
            Ok(events) => {
                let (generation, connection) = (lease.generation(), Arc::clone(lease.connection()));
                self.session = Some(Session { generation, connection, id: None });
                self.session_change = Some(Some(events));
                self.cursor.forget_session();
                turn.stage = Stage::Opening(lease);
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
                if self.turn.as_ref().is_some_and(|turn| matches!(turn.stage, Stage::Opening(_))) {
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

    // What the agent does.

    fn opened(&mut self, session: OpenedSession) {
        if let Some(ours) = &mut self.session {
            ours.id = Some(session.id);
        }
        let options = session.config_options;
        let offer = Offer { modes: session.modes, config_options: Some(options), ..Offer::default() };
        self.publish(Event::AgentChanged { agent: self.agent.clone(), offer });
        if self.remembered {
            self.say("agent-restarted", Map::new());
        }
        self.remembered = true;
        if self.turn.as_ref().is_some_and(|turn| matches!(turn.stage, Stage::Opening(_))) {
            self.prompt();
            self.tell_turn();
        }
    }

    fn updated(&mut self, update: &Update) {
        let events = self.cursor.fold(&self.transcript(), update);
        let late = !matches!(&self.turn, Some(Turn { stage: Stage::Prompting { .. }, .. }));
        for event in events {
            if late && matches!(event, Event::MessageDelta { .. }) {
                self.settle = Some(Instant::now() + QUIET);
            }
            self.publish(event);
        }
    }

    fn asked(&mut self, request: PermissionRequest) {
        let running = match &self.turn {
            Some(Turn { stage: Stage::Prompting { answer, .. }, cancelled, .. }) => {
                if cancelled.is_some() {
                    return; // Dropping it answers "cancelled".
                }
                Some(answer.clone())
            }
            _ => None,
        };
        let call = request.raw.to_value()["toolCall"].take();
        let tool = call["toolCallId"].as_str().unwrap_or_default();
        // Some agents announce a tool only by their question; a bare id that nobody knows announces nothing.
        let known = self.cursor.tool(&self.transcript(), tool).is_some();
        if running.is_some() && (known || call["title"].is_string()) && !tool.is_empty() {
            for event in self.cursor.tool_call(&self.transcript(), &call) {
                self.publish(event);
            }
        }
        let id = PermissionId::numbered(self.common.number());
        let transcript = self.transcript();
        let known = self.cursor.tool(&transcript, tool);
        let permission = Permission::of(&request, known, id.clone(), self.agent.clone(), running);
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

    fn turn_ended(&mut self, ended: PromptId, end: Result<TurnEnd, CallError>) {
        let Some(Turn { stage: Stage::Prompting { prompt, .. }, .. }) = &self.turn else { return };
        if *prompt == ended {
            match end {
                Ok(end) => self.finish(&end),
                Err(error) => self.fail(&error),
            }
        }
    }

    /// The connection is over. A turn on it has ended by then.
    fn ended(&mut self, end: &End) {
        self.end_session();
        if let End::Exited(exit) = end
            && self.turn.is_none()
            && self.last_error().is_none()
        {
            let particulars = json!({
                "exitCode": exit.status.code(),
                "signal": exit.status.signal(),
                "stderr": exit.stderr,
            });
            self.say("agent-exited", object(particulars));
        }
    }

    // What follows.

    fn begin(&mut self, message: MessageId, content: Vec<ContentBlock>, profile: AgentProfile) {
        let stage = Stage::Borrowing(self.ticket());
        self.turn = Some(Turn { message, content, profile, stage, cancelled: None, retried: false });
    }

    /// The session is open: the prompt is sent.
    fn prompt(&mut self) {
        let (Some(turn), Some(session)) = (self.turn.take(), &self.session) else { return };
        let (Turn { stage: Stage::Opening(lease), .. }, Some(id)) = (&turn, &session.id) else {
            self.turn = Some(turn);
            return;
        };
        match lease.connection().prompt(id, turn.content.clone()) {
            Ok(prompt) => {
                self.flush_late();
                let mut answer = self.new_message(Role::Agent);
                answer.reply_to = Some(turn.message.clone());
                self.cursor.begin(answer.id.clone());
                let Turn { stage: Stage::Opening(lease), message, content, profile, cancelled, retried } = turn else {
                    return;
                };
                let stage = Stage::Prompting { lease, prompt, answer: answer.id.clone() };
                self.turn = Some(Turn { message, content, profile, stage, cancelled, retried });
                self.update(answer);
            }
            Err(error) => {
                self.turn = Some(turn);
                self.call_failed(&error, Phase::Prompt);
            }
        }
    }

    /// Something failed before the prompt was sent.
    fn call_failed(&mut self, error: &CallError, phase: Phase) {
        if let (CallError::Ended { sent: false, .. }, Some(turn)) = (error, &mut self.turn)
            && !turn.retried
        {
            // The agent left in the very moment: once more, silently.
            turn.retried = true;
            let ticket = self.ticket();
            if let Some(turn) = &mut self.turn {
                turn.stage = Stage::Borrowing(ticket);
            }
            self.end_session();
            return self.tell_turn();
        }
        let failure = Failure { phase, ..Failure::of_call(error, phase) };
        match &failure.methods {
            Some(methods) => self.say("login-required", object(json!({ "methods": methods }))),
            None if phase == Phase::Open => self.say("agent-unavailable", Map::new()),
            None => {}
        }
        self.fail_before_prompt(failure);
    }

    fn fail_before_prompt(&mut self, failure: Failure) {
        if let Some(turn) = self.turn.take() {
            self.not_sent(&turn.message, Some(failure));
        }
        self.drop_queue();
        self.tell_turn();
    }

    /// The turn ended with a stop reason.
    fn finish(&mut self, end: &TurnEnd) {
        let Some(Turn { stage: Stage::Prompting { lease, answer, .. }, message, cancelled, .. }) = self.turn.take()
        else {
            return;
        };
        drop(lease);
        self.settle_questions(ResolvedBy::Agent);
        let cancelled = cancelled.is_some();
        let reason = if cancelled { &StopReason::Cancelled } else { &end.stop_reason };
        let open_tools = if *reason == StopReason::Cancelled { "cancelled" } else { "unfinished" };
        if !end.prompt_sent {
            self.not_sent(&message, None);
        }
        self.finish_message(&answer, open_tools, |message| {
            message.stop_reason = Some(reason.to_string());
            message.agent_stop_reason = (*reason != end.stop_reason).then(|| end.stop_reason.to_string());
            let said = |part: &Part| part.kind() != PartKind::Thought && part.kind() != PartKind::Plan;
            message.empty = !cancelled && !message.parts.iter().any(said);
        });
        self.go_on();
        self.tell_turn();
    }

    /// The turn ended with an error.
    fn fail(&mut self, error: &CallError) {
        let Some(Turn { stage: Stage::Prompting { lease, answer, .. }, message, cancelled, .. }) = self.turn.take()
        else {
            return;
        };
        drop(lease);
        self.settle_questions(ResolvedBy::Agent);
        let failure = Failure::of_call(error, Phase::Prompt);
        if let Some(methods) = &failure.methods {
            self.say("login-required", object(json!({ "methods": methods })));
        }
        if !failure.prompt_sent {
            self.not_sent(&message, Some(failure.clone()));
        }
        // An agent that answers a cancel with an error did end its turn, as it was asked to.
        let obeyed = cancelled.is_some() && matches!(error, CallError::Agent(_));
        self.finish_message(&answer, if obeyed { "cancelled" } else { "failed" }, |message| {
            if obeyed {
                message.stop_reason = Some(StopReason::Cancelled.to_string());
                message.agent_stop_reason = Some(failure.code);
            } else {
                message.error = Some(failure);
            }
        });
        if obeyed {
            self.go_on();
        } else {
            self.drop_queue();
        }
        self.tell_turn();
    }

    /// The agent did not obey a cancel in time.
    fn condemn(&mut self) {
        let Some(Turn { stage: Stage::Prompting { lease, answer, .. }, .. }) = self.turn.take() else { return };
        lease.condemn();
        self.end_session();
        self.finish_message(&answer, "cancelled", |message| {
            message.stop_reason = Some(StopReason::Cancelled.to_string());
        });
        self.say("agent-unresponsive", Map::new());
        self.go_on();
        self.tell_turn();
    }

    /// The next message of the queue, if one waits.
    fn go_on(&mut self) {
        while let Some((id, content)) = self.queue.pop_front() {
            let Some(profile) = self.common.directory.find(&self.agent) else {
                self.not_sent(&id, None);
                continue;
            };
            self.change(&id, |message| message.queued = false);
            return self.begin(id, content, profile);
        }
    }

    fn drop_queue(&mut self) {
        while let Some((id, _)) = self.queue.pop_front() {
            self.not_sent(&id, None);
        }
    }

    fn end_session(&mut self) {
        self.session = None;
        self.session_change = Some(None);
        self.settle_questions(ResolvedBy::Agent);
    }

    fn settle_questions(&mut self, by: ResolvedBy) {
        for (id, request) in std::mem::take(&mut self.questions) {
            drop(request); // Answers "cancelled", where it was not withdrawn already.
            self.resolved(id, Outcome::Cancelled, None, by);
        }
    }

    fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        Ticket(self.next_ticket)
    }

    // What is told.

    fn transcript(&self) -> Arc<Transcript> {
        self.common.hub.transcript(&self.agent)
    }

    fn publish(&self, event: Event) {
        self.common.hub.publish(event);
    }

    fn resolved(&self, id: PermissionId, outcome: Outcome, option: Option<String>, by: ResolvedBy) {
        self.publish(Event::PermissionResolved { id, agent: self.agent.clone(), outcome, option, by });
    }

    fn new_message(&self, role: Role) -> Message {
        Message::new(MessageId::numbered(self.common.number()), role, self.common.now())
    }

    fn update(&self, message: Message) {
        self.publish(Event::MessageUpdated { agent: self.agent.clone(), message: Arc::new(message) });
    }

    fn change(&self, id: &MessageId, change: impl FnOnce(&mut Message)) {
        if let Some(message) = self.transcript().message(id) {
            let mut message = Message::clone(message);
            change(&mut message);
            self.update(message);
        }
    }

    fn finish_message(&mut self, id: &MessageId, open_tools: &str, change: impl FnOnce(&mut Message)) {
        self.change(id, |message| {
            close_tools(message, open_tools);
            change(message);
        });
    }

    fn not_sent(&self, id: &MessageId, error: Option<Failure>) {
        self.change(id, |message| {
            message.queued = false;
            message.not_sent = true;
            message.error = error;
        });
    }

    fn say(&self, code: &str, params: Map<String, Value>) {
        let mut message = self.new_message(Role::System);
        message.code = Some(code.to_owned());
        message.params = (!params.is_empty()).then_some(params);
        self.update(message);
    }

    /// A message that is still being added to is told as a whole before the next one begins.
    fn flush_late(&mut self) {
        if let Some(settle) = self.settle {
            self.late(settle);
        }
    }

    fn last_error(&self) -> Option<Failure> {
        self.transcript().messages.iter().rev().find(|message| message.role == Role::Agent)?.error.clone()
    }

    fn tell_turn(&self) {
        let phase = match &self.turn {
            None => TurnPhase::Idle,
            Some(Turn { stage: Stage::Borrowing(_) | Stage::Opening(_), .. }) => TurnPhase::Starting,
            Some(Turn { cancelled: Some(_), .. }) => TurnPhase::Stopping,
            Some(_) if !self.questions.is_empty() => TurnPhase::Asking,
            Some(_) => TurnPhase::Answering,
        };
        let busy = self.turn.is_some();
        let turn = TurnState { busy, queued: self.queue.len(), phase, ..TurnState::default() };
        if self.transcript().turn != turn {
            self.publish(Event::TurnChanged { agent: self.agent.clone(), turn });
        }
        self.busy.send_if_modified(|before| std::mem::replace(before, busy) != busy);
    }
}

impl Turn {
    fn waits_for(&self, ticket: Ticket) -> bool {
        matches!(self.stage, Stage::Borrowing(waits) if waits == ticket)
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // Nobody is left to hear it; without this the agent would go on.
        if let (Some(Turn { stage: Stage::Prompting { .. }, .. }), Some(session)) = (&self.turn, &self.session)
            && let Some(id) = &session.id
        {
            let _ = session.connection.cancel(id);
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
