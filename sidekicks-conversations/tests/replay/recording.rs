//! What was recorded.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::scene::Scene;
use crate::scribe::Scribe;

/// Why a start of an agent is not played at all.
pub(crate) const NO_PROMPT: &str = "no prompt was sent, and a conversation opens no session without one";

/// One line of a recording.
#[derive(Debug)]
pub(crate) struct Line {
    /// `>` of the client, `<` of the agent, `?` of the agent and no message, `#` a note.
    pub(crate) direction: char,
    pub(crate) message: Value,
    pub(crate) text: String,
}

impl Line {
    fn read(line: &str) -> Self {
        let mut line: Value = serde_json::from_str(line).expect("a transcript is JSON lines");
        let direction = line["dir"].as_str().and_then(|direction| direction.chars().next()).expect("a direction");
        let text = line["text"].as_str().unwrap_or_default().to_owned();
        Self { direction, message: line["msg"].take(), text }
    }

    pub(crate) fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.message["params"]["sessionId"].as_str()
    }

    pub(crate) fn is_opening(&self) -> bool {
        self.direction == '>' && matches!(self.method(), "session/new" | "session/load" | "session/resume")
    }

    /// Whether it asks for a session of an earlier start.
    pub(crate) fn is_recall(&self) -> bool {
        self.is_opening() && self.method() != "session/new"
    }

    fn is_prompt(&self) -> bool {
        self.direction == '>' && self.method() == "session/prompt"
    }

    pub(crate) fn prompt(&self) -> Option<&Value> {
        let prompt = &self.message["params"]["prompt"];
        prompt.as_array().is_some_and(|blocks| !blocks.is_empty()).then_some(prompt)
    }

    /// Whether it belongs to a turn, and not to the session.
    pub(crate) fn says_something(&self) -> bool {
        let update = self.message["params"]["update"]["sessionUpdate"].as_str().unwrap_or_default();
        update.ends_with("_chunk")
            || update.starts_with("tool_call")
            || update == "plan"
            || self.message.get("id").is_some()
    }

    pub(crate) fn is_reply_to(&self, id: &Value) -> bool {
        self.direction == '<' && self.message.get("method").is_none() && self.message["id"] == *id
    }
}

/// The scenes of one recording, and why others of it are not played.
pub(crate) fn read(path: &Path) -> (Vec<Scene>, Vec<&'static str>) {
    let name = path.file_stem().expect("a name").to_string_lossy();
    let recorded = fs::read_to_string(path).expect("a transcript can be read");
    let lines: Vec<Line> = recorded.lines().map(Line::read).collect();
    let starts: Vec<_> = lines.split(|line| line.direction == '#' && line.text == "start").skip(1).collect();
    let (mut scenes, mut skipped) = (Vec::new(), Vec::new());
    for (at, start) in starts.iter().enumerate() {
        let openings = openings(start);
        if openings.is_empty() {
            skipped.push(NO_PROMPT);
        }
        for (number, opening) in openings.iter().enumerate() {
            let mut scene = Scribe::new(start, *opening).write();
            scene.name = name.clone().into_owned();
            if starts.len() > 1 {
                scene.name += &format!(", start {}", at + 1);
            }
            if openings.len() > 1 {
                scene.name += &format!(", session {}", number + 1);
            }
            scenes.push(scene);
        }
    }
    (scenes, skipped)
}

/// What the sessions of a start to which something is said were opened by, and what asked for one of an earlier start and
/// was refused: each makes a scene. `None` where none was opened.
fn openings(start: &[Line]) -> Vec<Option<&Line>> {
    let opened: Vec<_> = start.iter().filter(|line| line.is_opening()).collect();
    let prompted = |opening: &&&Line| {
        let session = session_of(start, opening);
        let says = |line: &Line| line.is_prompt() && line.prompt().is_some() && line.session() == session;
        session.is_some() && start.iter().any(says)
    };
    let refused = |opening: &&&Line| opening.is_recall() && session_of(start, opening).is_none();
    let played: Vec<_> = opened.iter().filter(|line| prompted(line) || refused(line)).map(|line| Some(*line)).collect();
    // Of those that failed the one is played that a client would have sent.
    let initialized = start.iter().position(|line| line.method() == "initialize");
    let after = initialized.map_or(start, |at| &start[at..]);
    let failed = after.iter().find(|line| line.is_opening());
    match failed {
        _ if !played.is_empty() => played,
        Some(opening) if session_of(start, opening).is_none() => vec![Some(opening)],
        None if !is_answered(start) => vec![None],
        _ => Vec::new(),
    }
}

/// Whether the handshake went well.
fn is_answered(start: &[Line]) -> bool {
    let Some(initialize) = start.iter().find(|line| line.method() == "initialize") else { return false };
    let id = &initialize.message["id"];
    start.iter().any(|line| line.is_reply_to(id) && line.message.get("result").is_some())
}

/// The session that this request opened.
pub(crate) fn session_of<'l>(start: &'l [Line], opening: &'l Line) -> Option<&'l str> {
    let id = &opening.message["id"];
    let reply = start.iter().find(|line| line.is_reply_to(id))?;
    let result = reply.message.get("result")?;
    result["sessionId"].as_str().or_else(|| opening.session())
}
