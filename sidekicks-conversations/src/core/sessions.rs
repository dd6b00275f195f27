//! Sessions follow the process: which one a turn is had in, and what it remembers.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Map;
use sidekicks_acp::schema::{McpServer, SessionId};
use sidekicks_acp::{
    AgentConnection, CallError, ConnectError, Generation, Lease, OpenSession, OpenedSession, Phase, SessionOrigin,
};

use super::confirm::Confirmations;
use super::{Core, Farewell, Number, Stage};
use crate::event::{Event, Offer, ResolvedBy};
use crate::failure::Failure;
use crate::wish::{Models, Wish};

/// A session lives as long as the process it was opened in, or until the next turn is to be had somewhere else.
pub(super) struct Session {
    pub(super) number: Number,
    pub(super) generation: Generation,
    pub(super) connection: Arc<dyn AgentConnection>,
    /// What it was opened with; in another folder or with other tool servers it is another one.
    request: OpenSession,
    /// `None` until it is opened.
    pub(super) id: Option<SessionId>,
    /// The agent told something of what was said in it before.
    pub(super) replayed: bool,
    pub(super) models: Models,
    /// What it was asked to be.
    pub(super) asked: Wish,
    pub(super) confirmations: Confirmations,
}

/// A session that the agent may still know when it is started again.
pub(super) struct Memory {
    session: SessionId,
    cwd: PathBuf,
    mcp_servers: Vec<McpServer>,
}

impl Session {
    fn is_in(&self, cwd: &PathBuf, mcp_servers: &Vec<McpServer>) -> bool {
        (&self.request.cwd, &self.request.mcp_servers) == (cwd, mcp_servers)
    }

    /// Whether what comes is told again, and not live.
    pub(super) fn replays(&self) -> bool {
        self.id.is_none() && matches!(self.request.origin, SessionOrigin::Load(_))
    }

    fn again(&self) -> OpenSession {
        OpenSession::new(&self.request.cwd).mcp_servers(self.request.mcp_servers.clone())
    }
}

impl Core {
    pub(super) fn borrowed(&mut self, lease: Result<Lease, ConnectError>) {
        let Some(turn) = &mut self.turn else { return };
        turn.waiting_for.clear();
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
        let (cwd, servers) = (turn.profile.cwd.clone(), turn.profile.mcp_servers.clone());
        if self.session.as_ref().is_some_and(|known| known.generation == generation && known.is_in(&cwd, &servers)) {
            return self.tell_turn(); // It may still be opening, on behalf of a turn that was stopped.
        }
        self.leave_session(generation);
        let memory = self.memory.as_ref().filter(|memory| memory.cwd == cwd && memory.mcp_servers == servers);
        let capabilities = &connection.agent().capabilities;
        let request = match memory {
            Some(memory) if capabilities.session_capabilities.resume.is_some() => {
                OpenSession::resume(memory.session.clone(), cwd)
            }
            Some(memory) if capabilities.load_session => OpenSession::load(memory.session.clone(), cwd),
            _ => OpenSession::new(cwd),
        };
        self.open(generation, connection, request.mcp_servers(servers));
    }

    /// The session that was had so far is not the one of this turn. In the same process it is closed.
    fn leave_session(&mut self, generation: Generation) {
        if let Some(Session { generation: before, connection, id: Some(id), number, .. }) = self.session.take()
            && before == generation
        {
            self.orders.farewells.push(Farewell::to(number, connection, id));
        }
        self.end_session();
    }

    fn open(&mut self, generation: Generation, connection: Arc<dyn AgentConnection>, request: OpenSession) {
        match connection.open(request.clone()) {
            Ok(events) => {
                let number = self.number();
                self.session = Some(Session {
                    number,
                    generation,
                    connection,
                    request,
                    id: None,
                    replayed: false,
                    models: Models::default(),
                    asked: Wish::default(),
                    confirmations: Confirmations::default(),
                });
                self.orders.follow = Some(Some((number, events)));
                self.tell_turn();
            }
            Err(error) => self.call_failed(&error, Phase::Open),
        }
    }

    pub(super) fn opened(&mut self, opened: OpenedSession) {
        let Some(session) = &mut self.session else { return };
        session.id = Some(opened.id.clone());
        session.models = Models::told(&opened.raw.to_value());
        let (origin, replayed) = (session.request.origin.clone(), session.replayed);
        self.tell_offer(&opened, &origin);
        let remembers = match origin {
            SessionOrigin::Resume(_) => true,
            // Some agents say yes to any id, and know nothing of it.
            SessionOrigin::Load(_) => replayed,
            _ => false,
        };
        if remembers {
            self.say("session-resumed", Map::new());
        } else if self.memory.take().is_some() {
            self.say("agent-restarted", Map::new());
        }
        self.tell_turn();
    }

    pub(super) fn not_opened(&mut self, error: &CallError) {
        let Some(session) = self.session.take() else { return };
        self.end_session();
        if self.turn.as_ref().is_none_or(|turn| turn.stage != Stage::Opening) {
            return; // Nobody waits for it.
        }
        let is_of_every_session = match error {
            CallError::Ended { .. } => true,
            CallError::Agent(error) => error.login_required(),
            _ => false,
        };
        if is_of_every_session || session.request.origin == SessionOrigin::New {
            return self.call_failed(error, Phase::Open);
        }
        // It was to remember, and cannot.
        let again = session.again();
        self.open(session.generation, session.connection, again);
    }

    /// Tells what of a session differs from what is known. What belonged to the one before is there no more.
    fn tell_offer(&self, session: &OpenedSession, origin: &SessionOrigin) {
        let goes_on = *origin != SessionOrigin::New;
        // One that goes on keeps what its answer leaves out: it was told before, or in the replay.
        let (modes, options) = (session.modes.is_some() || !goes_on, !session.config_options.is_empty() || !goes_on);
        let offer = self.look(|known| Offer {
            // The agent tells its commands after the opening.
            commands: (!goes_on && !known.commands.is_empty()).then(Vec::new),
            modes: (modes && known.modes != session.modes).then(|| session.modes.clone()),
            config_options: (options && known.config_options != session.config_options)
                .then(|| session.config_options.clone()),
            title: (!goes_on && known.title.is_some()).then_some(None),
        });
        if offer != Offer::default() {
            self.publish(Event::AgentChanged { agent: self.agent.clone(), offer });
        }
        if !goes_on && self.look(|known| known.usage.is_some()) {
            self.publish(Event::UsageChanged { agent: self.agent.clone(), usage: None });
        }
    }

    /// The agent may have been told something: this is the session that remembers it.
    pub(super) fn remember(&mut self) {
        if let Some(Session { id: Some(id), request, .. }) = &self.session {
            let (cwd, mcp_servers) = (request.cwd.clone(), request.mcp_servers.clone());
            self.memory = Some(Memory { session: id.clone(), cwd, mcp_servers });
        }
    }

    /// What the session still says is not heard any more, and what it asked is cancelled.
    pub(super) fn end_session(&mut self) {
        self.session = None;
        self.orders.follow = Some(None);
        self.settle_questions(ResolvedBy::Agent);
        self.leave_compactions();
        self.cursor.forget_session();
    }
}
