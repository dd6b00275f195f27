//! Sessions follow the process: which one a turn is had in, and what it remembers.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use sidekicks_acp::schema::{McpServer, SessionId};
use sidekicks_acp::{
    AgentConnection, AgentError, CallError, ConnectError, Connector, Generation, Lease, OpenSession, OpenedSession,
    Phase, SessionOrigin,
};
use tokio::time::Instant;

use super::confirm::Confirmations;
use super::offers::Told;
use super::{Core, Farewell, Number, Stage};
use crate::event::ResolvedBy;
use crate::failure::Failure;
use crate::wish::{Models, Wish};

/// A session lives as long as the process it was opened in, or until the next turn is to be had somewhere else.
pub(super) struct Session {
    pub(super) number: Number,
    pub(super) generation: Generation,
    pub(super) connector: Arc<dyn Connector>,
    pub(super) connection: Arc<dyn AgentConnection>,
    /// What it was opened with; in another folder or with other tool servers it is another one.
    request: OpenSession,
    /// `None` until it is opened.
    pub(super) id: Option<SessionId>,
    /// Something was said in it.
    pub(super) prompted: bool,
    pub(super) recall: Recall,
    pub(super) told: Told,
    pub(super) models: Models,
    /// What it was asked to be.
    pub(super) asked: Wish,
    pub(super) confirmations: Confirmations,
}

/// What an agent tells of a session that goes on: what was said is here already, so it is not heard again.
///
/// Some agents go on to tell it after they said that the session is open, so this lasts until they were quiet for a moment,
/// and only then it is known whether the agent remembers.
#[derive(Default)]
pub(super) struct Recall {
    /// Until the agent was quiet for a moment.
    pub(super) lasts: bool,
    /// It is still to be told whether the agent remembers.
    untold: bool,
    /// Something of what was said was told again.
    pub(super) replayed: bool,
    heard: Option<Instant>,
    /// When it is waited for no more.
    latest: Option<Instant>,
}

/// For how long an agent is quiet that has told again all it remembers.
const QUIET: Duration = Duration::from_millis(150);

/// How long it may take to tell it, once the session is open.
const RECALL: Duration = Duration::from_secs(30);

impl Recall {
    fn of(origin: &SessionOrigin) -> Self {
        let goes_on = *origin != SessionOrigin::New;
        Self { lasts: goes_on, untold: goes_on, ..Self::default() }
    }

    /// Something of it came, or it begins.
    pub(super) fn heard(&mut self) {
        let now = Instant::now();
        self.heard = Some(now);
        self.latest.get_or_insert(now + RECALL);
    }

    /// Until when it is to be quiet.
    pub(super) fn quiet_until(&self) -> Option<Instant> {
        let until = self.heard.filter(|_| self.lasts)? + QUIET;
        Some(self.latest.map_or(until, |latest| until.min(latest)))
    }
}

/// A session that the agent may still know when it is started again.
pub(super) struct Memory {
    /// `None` where the agent knows it no more, though it said that it does.
    session: Option<SessionId>,
    cwd: PathBuf,
    mcp_servers: Vec<McpServer>,
}

impl Session {
    /// Whether this is a lease of the process that it lives in. Another agent of this name counts its starts from one too.
    pub(super) fn is_had_by(&self, lease: &Lease, connector: &Arc<dyn Connector>) -> bool {
        let same = Arc::ptr_eq(&self.connection, lease.connection()) || Arc::ptr_eq(&self.connector, connector);
        same && self.generation == lease.generation()
    }

    /// The folder that the agent works in.
    pub(super) fn cwd(&self) -> &Path {
        &self.request.cwd
    }

    fn is_in(&self, cwd: &PathBuf, mcp_servers: &Vec<McpServer>) -> bool {
        (&self.request.cwd, &self.request.mcp_servers) == (cwd, mcp_servers)
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
        let (connector, connection) = (Arc::clone(&turn.profile.connector), Arc::clone(lease.connection()));
        let (cwd, servers) = (turn.profile.cwd.clone(), turn.profile.mcp_servers.clone());
        let here = self.session.as_ref().is_some_and(|known| known.is_had_by(lease, &connector));
        let generation = lease.generation();
        if here && self.session.as_ref().is_some_and(|known| known.is_in(&cwd, &servers)) {
            return self.tell_turn(); // It may still be opening, on behalf of a turn that was stopped.
        }
        self.leave_session(here);
        let memory = self.memory.as_ref().filter(|memory| memory.cwd == cwd && memory.mcp_servers == servers);
        let memory = memory.and_then(|memory| memory.session.clone());
        let capabilities = &connection.agent().capabilities;
        let request = match memory {
            Some(session) if capabilities.session_capabilities.resume.is_some() => OpenSession::resume(session, cwd),
            Some(session) if capabilities.load_session => OpenSession::load(session, cwd),
            _ => OpenSession::new(cwd),
        };
        self.open(generation, connector, connection, request.mcp_servers(servers));
    }

    /// The session that was had so far is not the one of this turn. In the process that is had `here` it is closed.
    fn leave_session(&mut self, here: bool) {
        if let Some(Session { connection, id: Some(id), number, .. }) = self.session.take_if(|_| here) {
            self.orders.farewells.push(Farewell::to(number, connection, id, None, &self.common.farewells));
        }
        self.end_session();
    }

    fn open(
        &mut self,
        generation: Generation,
        connector: Arc<dyn Connector>,
        connection: Arc<dyn AgentConnection>,
        request: OpenSession,
    ) {
        match connection.open(request.clone()) {
            Ok(events) => {
                let number = self.number();
                let recall = Recall::of(&request.origin);
                self.session = Some(Session {
                    number,
                    generation,
                    connector,
                    connection,
                    request,
                    id: None,
                    prompted: false,
                    recall,
                    told: Told::default(),
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
        session.recall.heard();
        session.models = Models::told(&opened.raw.to_value());
        let origin = session.request.origin.clone();
        self.tell_opened(&opened, &origin);
        if origin == SessionOrigin::New && self.memory.take().is_some() {
            self.say("agent-restarted", Map::new());
        }
        self.tell_turn();
    }

    /// Tells whether the agent remembers, if that was not told yet.
    pub(super) fn tell_recall(&mut self) {
        let Some(session) = self.session.as_mut().filter(|session| session.recall.untold) else { return };
        session.recall.untold = false;
        // Some agents say yes to any id, and know nothing of it.
        if session.recall.replayed || !matches!(session.request.origin, SessionOrigin::Load(_)) {
            // Where the connection is lost before the prompt is written, the turn comes here once more.
            if self.turn.as_mut().is_none_or(|turn| !mem::replace(&mut turn.resumed, true)) {
                self.say("session-resumed", Map::new());
            }
        } else {
            self.memory = None;
            self.say("agent-restarted", Map::new());
        }
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
        self.open(session.generation, session.connector, session.connection, again);
    }

    /// The agent may have been told something: this is the session that remembers it.
    pub(super) fn remember(&mut self) {
        if let Some(Session { id: Some(id), request, .. }) = &self.session {
            let (cwd, mcp_servers) = (request.cwd.clone(), request.mcp_servers.clone());
            self.memory = Some(Memory { session: Some(id.clone()), cwd, mcp_servers });
        }
    }

    /// The agent knows nothing of the session any more. One that it said that it goes on with is not asked for again.
    pub(super) fn lose_session(&mut self) {
        let Some(session) = &self.session else { return };
        let went_on = session.request.origin != SessionOrigin::New;
        if went_on || session.prompted {
            self.remember();
        }
        self.memory.iter_mut().filter(|_| went_on).for_each(|memory| memory.session = None);
    }

    /// Whether the agent knows nothing of the session any more, as after it dropped those that were idle.
    pub(super) fn has_lost_session(&self, error: &CallError) -> bool {
        let id = self.session.as_ref().and_then(|session| session.id.as_ref());
        matches!((error, id), (CallError::Agent(error), Some(id)) if misses(error, &id.0))
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

/// Whether an error says that there is no such session: agents use three codes for that, and their own words (Q14).
fn misses(error: &AgentError, session: &str) -> bool {
    let data = error.data.clone().unwrap_or_default();
    let session = session.to_lowercase();
    let is_missing = |text: &str| text.contains("not found") || text.contains("unknown");
    let is_it = |text: &str| text.contains("session") || text.contains(&session);
    let mut texts = vec![error.message.to_lowercase()];
    collect(&data, &mut texts);
    match error.code {
        // Its own code for that something is not there: which, it may say beside it.
        -32002 => texts.iter().any(|text| text.contains(&session)),
        // Of other codes that has to be one sentence.
        -32602 | -32603 => texts.iter().any(|text| is_missing(text) && is_it(text)),
        _ => false,
    }
}

/// All texts in `value`, in small letters.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.to_lowercase()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(values) => values.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn agents_say_in_many_ways_that_a_session_is_not_there() {
        let cases = [
            (-32002, "Resource not found", json!({"sessionId": "s-1"}), true),
            (-32002, "Session s-1 not found", json!(null), true),
            (-32602, "Invalid params: session not found: S-1", json!(null), true),
            (-32602, "Invalid params", json!("Unknown sessionId: s-1"), true),
            (-32602, "Invalid params", json!({"session_id": "Session not found"}), true),
            (-32603, "Internal error", json!({"details": "Session s-1 not found"}), true),
            (-32002, "Resource not found", json!({"uri": "file:///a"}), false),
            (-32602, "Invalid params", json!({"session_id": "s-1", "reason": "missing field"}), false),
            (-32603, "Model m not found", json!(null), false),
            (-32603, "Internal error", json!({"sessionId": "s-1", "details": "API key not found"}), false),
            (404, "Session not found", json!(null), false),
        ];
        for (code, message, data, expected) in cases {
            let mut error = AgentError::new(code, message);
            error.data = (!data.is_null()).then_some(data);
            assert_eq!(misses(&error, "s-1"), expected, "{error:?}");
        }
    }
}
