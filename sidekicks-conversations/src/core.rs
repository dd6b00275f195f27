//! What a conversation decides: no waiting, one call for each thing that happens.

mod agent;
mod telling;
mod turns;

use std::collections::VecDeque;
use std::sync::Arc;

use sidekicks_acp::schema::{ContentBlock, SessionId};
use sidekicks_acp::{
    AgentConnection, AgentName, Connector, Generation, Lease, OpenSession, PermissionRequest, PromptId, SessionEvents,
};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::conversations::{AgentProfile, Common};
use crate::error::{AnswerError, SendError};
use crate::event::{Outcome, ResolvedBy};
use crate::fold::Cursor;
use crate::id::{MessageId, PermissionId};
use crate::message::Role;
use crate::part::Part;
use crate::prompt::Prompt;

/// The state of one conversation. Everything that is seen of it goes through the hub.
pub(crate) struct Core {
    agent: AgentName,
    common: Arc<Common>,
    turn: Option<Turn>,
    queue: VecDeque<(MessageId, Vec<ContentBlock>)>,
    questions: Vec<(PermissionId, PermissionRequest)>,
    session: Option<Session>,
    /// Whether the agent was told something that a new session does not remember.
    told: bool,
    cursor: Cursor,
    late: Late,
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
    /// Held from the end of borrowing on.
    lease: Option<Lease>,
    /// What is being answered in; from the prompt on.
    answer: Option<MessageId>,
    cancelled: bool,
    /// When it is ended here, if it was cancelled and is not waited for as long as it takes.
    deadline: Option<Instant>,
    /// Whether a connection that ended before the prompt was written has been replaced once.
    retried: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Borrowing(Ticket),
    Opening,
    Prompting(PromptId),
}

/// Names one wish for a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// A session lives as long as the process it was opened in, or until the next turn is to be had somewhere else.
struct Session {
    generation: Generation,
    connection: Arc<dyn AgentConnection>,
    /// What it was opened with; with anything else it is another one.
    request: OpenSession,
    /// `None` until it is opened.
    id: Option<SessionId>,
}

/// Finished messages that were added to since: each is told as a whole once nothing more comes.
#[derive(Default)]
struct Late {
    messages: Vec<MessageId>,
    due: Option<Instant>,
}

impl Core {
    pub(crate) fn new(agent: AgentName, common: Arc<Common>, busy: watch::Sender<bool>) -> Self {
        Self {
            agent,
            common,
            turn: None,
            queue: VecDeque::new(),
            questions: Vec::new(),
            session: None,
            told: false,
            cursor: Cursor::default(),
            late: Late::default(),
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
        if let Some(Turn { stage: Stage::Borrowing(_) | Stage::Opening, .. }) = &self.turn {
            // Nothing was asked of the agent yet. What it still opens is there for the next turn.
            self.cancelled_before_prompt();
            self.go_on();
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
        let turn = self.turn.as_ref()?;
        match turn.stage {
            Stage::Borrowing(ticket) => Some((ticket, Arc::clone(&turn.profile.connector))),
            _ => None,
        }
    }

    pub(crate) fn take_session_change(&mut self) -> Option<Option<SessionEvents>> {
        self.session_change.take()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let cancelled = self.turn.as_ref().and_then(|turn| turn.deadline);
        cancelled.into_iter().chain(self.late.due).min()
    }

    pub(crate) fn passed(&mut self, now: Instant) {
        if self.late.due.is_some_and(|due| due <= now) {
            self.tell_late();
        }
        if self.turn.as_ref().and_then(|turn| turn.deadline).is_some_and(|deadline| deadline <= now) {
            self.condemn();
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // Nobody is left to hear it; without this the agent would go on.
        if let (Some(Turn { stage: Stage::Prompting(_), .. }), Some(session)) = (&self.turn, &self.session)
            && let Some(id) = &session.id
        {
            let _ = session.connection.cancel(id);
        }
    }
}
