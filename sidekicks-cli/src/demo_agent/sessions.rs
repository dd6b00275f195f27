//! The sessions of one agent process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{SessionId, SessionModeId};
use serde_json::json;
use tokio::sync::Notify;

use super::permission::{Mode, Standing, Tool};

/// All sessions, by id. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Sessions {
    open: Arc<Mutex<HashMap<SessionId, Arc<Session>>>>,
    opened: Arc<AtomicU64>,
    /// Makes the ids of this process its own: a client may keep ids longer than we live.
    prefix: Arc<str>,
}

/// One conversation, independent of the others.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) cwd: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    mode: Mode,
    /// What the person wants always done or never.
    standing: HashMap<Tool, Standing>,
    /// Characters said by either side, for the usage.
    said: u64,
    /// Numbers for tool calls and messages.
    numbered: u64,
    /// How to cancel the turn that runs.
    turn: Option<Arc<Notify>>,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let prefix = format!("demo-{:x}-{:x}", started.as_millis(), std::process::id());
        Self { open: Arc::default(), opened: Arc::default(), prefix: prefix.into() }
    }

    /// Opens a session that works in `cwd`.
    pub(super) fn open(&self, cwd: PathBuf) -> Result<SessionId, Error> {
        if !cwd.is_absolute() {
            return Err(invalid("cwd must be an absolute path", json!({"cwd": cwd})));
        }
        if !cwd.is_dir() {
            return Err(invalid("cwd is not a folder", json!({"cwd": cwd})));
        }
        // Without "." and doubled slashes, so that the paths we show are plain ones.
        let cwd = cwd.components().collect();
        let number = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        let id = SessionId::new(format!("{}-{number}", self.prefix));
        let session = Session { cwd, state: Mutex::default() };
        lock(&self.open).insert(id.clone(), Arc::new(session));
        Ok(id)
    }

    /// Starts a turn, which lasts until the value is dropped.
    pub(super) fn begin(&self, id: &SessionId) -> Result<RunningTurn, Error> {
        let session = self.find(id)?;
        let cancelled = Arc::new(Notify::new());
        let mut state = session.state();
        if state.turn.is_some() {
            return Err(Error::invalid_request().data(json!({
                "error": "a turn is running in this session: wait for its end, or cancel it",
                "sessionId": id,
            })));
        }
        state.turn = Some(cancelled.clone());
        drop(state);
        Ok(RunningTurn { session, cancelled })
    }

    /// Cancels the turn of a session, if there is one.
    pub(super) fn cancel(&self, id: &SessionId) {
        if let Ok(session) = self.find(id) {
            session.cancel();
        }
    }

    pub(super) fn set_mode(&self, id: &SessionId, mode: &SessionModeId) -> Result<(), Error> {
        let session = self.find(id)?;
        let Some(mode) = Mode::find(mode) else {
            return Err(invalid("there is no such mode", json!({"modeId": mode})));
        };
        session.state().mode = mode;
        Ok(())
    }

    /// Forgets a session, and cancels its turn.
    pub(super) fn close(&self, id: &SessionId) -> Result<(), Error> {
        self.find(id)?.cancel();
        lock(&self.open).remove(id);
        Ok(())
    }

    fn find(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        let found = lock(&self.open).get(id).cloned();
        found.ok_or_else(|| invalid("there is no such session", json!({"sessionId": id})))
    }
}

impl Session {
    /// What to do about a tool without asking, or that we have to ask.
    pub(super) fn standing(&self, tool: Tool) -> Standing {
        let state = self.state();
        match (state.standing.get(&tool), state.mode) {
            // A "never" holds in every mode.
            (Some(Standing::Never), _) => Standing::Never,
            (Some(Standing::Always), _) | (_, Mode::Allow) => Standing::Always,
            _ => Standing::Ask,
        }
    }

    pub(super) fn remember(&self, tool: Tool, standing: Standing) {
        self.state().standing.insert(tool, standing);
    }

    /// A number that nothing else in this session has.
    pub(super) fn number(&self) -> u64 {
        let mut state = self.state();
        state.numbered += 1;
        state.numbered
    }

    /// Counts characters that were said, and returns how many there are by now.
    pub(super) fn said(&self, characters: usize) -> u64 {
        let mut state = self.state();
        state.said += characters as u64;
        state.said
    }

    /// Where a file lies that was named in this session.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.cwd.join(Path::new(file)).components().collect()
    }

    fn cancel(&self) {
        if let Some(turn) = &self.state().turn {
            turn.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// A turn that runs. Dropping it lets the next one begin.
#[derive(Debug)]
pub(super) struct RunningTurn {
    pub(super) session: Arc<Session>,
    /// Told once, when the turn is to end.
    pub(super) cancelled: Arc<Notify>,
}

impl Drop for RunningTurn {
    fn drop(&mut self) {
        self.session.state().turn = None;
    }
}

fn invalid(why: &str, mut data: serde_json::Value) -> Error {
    data["error"] = why.into();
    Error::invalid_params().data(data)
}

/// No code panics while it holds one of these locks, so a poisoned one holds good data.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> (Sessions, SessionId) {
        let sessions = Sessions::new();
        let id = sessions.open("/".into()).unwrap();
        (sessions, id)
    }

    #[test]
    fn a_closed_session_is_gone_for_good() {
        let (sessions, id) = session();
        sessions.close(&id).unwrap();
        assert_eq!(i32::from(sessions.begin(&id).unwrap_err().code), -32602);
        assert_ne!(sessions.open("/".into()).unwrap(), id);
    }

    #[test]
    fn a_folder_must_exist_and_be_absolute() {
        for cwd in ["", "src", "/nowhere/at/all", "/dev/null"] {
            let error = Sessions::new().open(cwd.into()).unwrap_err();
            assert_eq!(i32::from(error.code), -32602, "{cwd}");
        }
    }

    #[test]
    fn one_turn_at_a_time() {
        let (sessions, id) = session();
        let turn = sessions.begin(&id).unwrap();
        assert_eq!(i32::from(sessions.begin(&id).unwrap_err().code), -32600);
        drop(turn);
        assert!(sessions.begin(&id).is_ok());
    }

    #[test]
    fn never_beats_the_mode_and_always_beats_asking() {
        use Standing::{Always, Ask, Never};
        let table = [
            ("ask", None, Ask),
            ("ask", Some(Always), Always),
            ("ask", Some(Never), Never),
            ("allow", None, Always),
            ("allow", Some(Never), Never),
        ];
        for (mode, remembered, expected) in table {
            let (sessions, id) = session();
            sessions.set_mode(&id, &SessionModeId::new(mode)).unwrap();
            let session = sessions.find(&id).unwrap();
            if let Some(standing) = remembered {
                session.remember(Tool::Run, standing);
            }
            assert_eq!(session.standing(Tool::Run), expected, "{mode} {remembered:?}");
        }
    }

    #[test]
    fn a_choice_holds_for_its_tool_and_session_only() {
        let (sessions, id) = session();
        let other = sessions.open("/".into()).unwrap();
        sessions.find(&id).unwrap().remember(Tool::Run, Standing::Always);
        assert_eq!(sessions.find(&id).unwrap().standing(Tool::Write), Standing::Ask);
        assert_eq!(sessions.find(&other).unwrap().standing(Tool::Run), Standing::Ask);
    }

    #[test]
    fn files_are_named_from_the_folder() {
        let (sessions, id) = session();
        let session = sessions.find(&id).unwrap();
        for (file, path) in [("a", "/a"), ("./a//b", "/a/b"), ("/tmp/c", "/tmp/c"), ("../d", "/../d")] {
            assert_eq!(session.path(file), Path::new(path));
        }
    }
}
