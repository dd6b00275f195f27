//! What was recorded, and what of it can be played to conversations.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// What is played in one conversation: one session of one start of an agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scene {
    /// The scenario, and which part of it where it has several.
    pub(crate) name: String,
    /// What is said first; that starts the agent.
    pub(crate) opening: Value,
    pub(crate) steps: Vec<Step>,
    /// Whether the agent leaves at the end, as one does that is killed in a turn.
    pub(crate) leaves: bool,
    pub(crate) left_out: BTreeSet<LeftOut>,
}

/// What comes next.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// The agent waits for a message of this method. The recorded client's had this id.
    Expect(&'static str, Value),
    /// The agent answers the message that the recorded client sent with this id.
    Reply(Value, Value),
    /// The agent sends this.
    Send(Value),
    /// The agent writes a line that is no message.
    Noise(String),
    /// The agent waits for the answer to its request of this id.
    Answered(Value),
    /// The person does something.
    Person(Act),
}

/// What a person does.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Say(Value),
    Stop,
    /// Answers the open question at this place with this option.
    Answer(usize, String),
}

/// What of a recording has no counterpart, and so is not replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
    /// A second prompt in a session whose turn runs, and its reply: conversations queue it. What the agent told of it is
    /// played, since nothing marks it.
    SecondPrompt,
    /// Calls that a conversation does not make: modes, options, lists, `session/close`, `authenticate`, mistakes.
    Calls,
    /// Files and terminals, which a conversation does not offer; neither the agent's requests nor their answers.
    ClientMethods,
    /// A session that was loaded or resumed: conversations open a new one, so this is played as one, without the history
    /// that came before the reply.
    History,
    /// An empty prompt, which a conversation refuses, or one for a session that was never opened.
    Mistake,
    /// A cancel while no prompt is pending, which a conversation does not send.
    IdleCancel,
    /// Lines that the recorder itself left out, because there were many like them.
    Unrecorded,
    /// No prompt reached a session: the person here says something of ours, to see how the opening fails.
    OurPrompt,
}

impl LeftOut {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::SecondPrompt => "second prompt",
            Self::Calls => "other calls",
            Self::ClientMethods => "client methods",
            Self::History => "history",
            Self::Mistake => "mistaken prompts",
            Self::IdleCancel => "idle cancel",
            Self::Unrecorded => "unrecorded lines",
            Self::OurPrompt => "recorded prompt",
        }
    }
}

/// Why a start of an agent is not played at all.
pub(crate) const NO_PROMPT: &str = "no prompt was sent, and a conversation opens no session without one";

#[derive(Debug)]
struct Line {
    direction: char,
    message: Value,
    text: String,
}

impl Line {
    fn read(line: &str) -> Self {
        let mut line: Value = serde_json::from_str(line).expect("a transcript is JSON lines");
        let direction = line["dir"].as_str().and_then(|direction| direction.chars().next()).expect("a direction");
        let text = line["text"].as_str().unwrap_or_default().to_owned();
        Self { direction, message: line["msg"].take(), text }
    }

    fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    fn session(&self) -> Option<&str> {
        self.message["params"]["sessionId"].as_str()
    }

    fn is_opening(&self) -> bool {
        self.direction == '>' && matches!(self.method(), "session/new" | "session/load" | "session/resume")
    }

    fn is_prompt(&self) -> bool {
        self.direction == '>' && self.method() == "session/prompt"
    }

    fn prompt(&self) -> Option<&Value> {
        let prompt = &self.message["params"]["prompt"];
        prompt.as_array().is_some_and(|blocks| !blocks.is_empty()).then_some(prompt)
    }

    fn is_reply_to(&self, id: &Value) -> bool {
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

/// What the sessions of a start to which something is said were opened by: each makes a scene. `None` where none was opened.
fn openings(start: &[Line]) -> Vec<Option<&Line>> {
    let opened: Vec<_> = start.iter().filter(|line| line.is_opening()).collect();
    let prompted = |opening: &&&Line| {
        let session = session_of(start, opening);
        let says = |line: &Line| line.is_prompt() && line.prompt().is_some() && line.session() == session;
        session.is_some() && start.iter().any(says)
    };
    let with_prompt: Vec<_> = opened.iter().filter(prompted).map(|line| Some(*line)).collect();
    // Of those that failed the one is played that a client would have sent.
    let initialized = start.iter().position(|line| line.method() == "initialize");
    let after = initialized.map_or(start, |at| &start[at..]);
    let failed = after.iter().find(|line| line.is_opening());
    match failed {
        _ if !with_prompt.is_empty() => with_prompt,
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
fn session_of<'l>(start: &'l [Line], opening: &'l Line) -> Option<&'l str> {
    let id = &opening.message["id"];
    let reply = start.iter().find(|line| line.is_reply_to(id))?;
    let result = reply.message.get("result")?;
    result["sessionId"].as_str().or_else(|| opening.session())
}

/// Writes one scene.
struct Scribe<'l> {
    lines: &'l [Line],
    opening: Option<&'l Line>,
    session: Option<&'l str>,
    scene: Scene,
    /// The requests of the recorded client that are replayed.
    ours: Vec<&'l Value>,
    /// The prompt that is pending.
    pending: Option<&'l Value>,
    cancelled: bool,
    /// The questions that are open.
    questions: Vec<&'l Value>,
    /// What else the agent asked.
    requests: Vec<&'l Value>,
    opened: bool,
}

impl<'l> Scribe<'l> {
    fn new(lines: &'l [Line], opening: Option<&'l Line>) -> Self {
        Self {
            lines,
            opening,
            session: opening.and_then(|opening| session_of(lines, opening)),
            scene: Scene::default(),
            ours: Vec::new(),
            pending: None,
            cancelled: false,
            questions: Vec::new(),
            requests: Vec::new(),
            opened: false,
        }
    }

    fn write(mut self) -> Scene {
        for line in self.lines {
            match line.direction {
                '>' => self.client(line),
                '<' => self.agent(line),
                '?' => self.step(Step::Noise(line.text.clone())),
                '#' if line.text.ends_with("left out") => self.leave_out(LeftOut::Unrecorded),
                _ => {}
            }
        }
        if self.scene.opening.is_null() {
            self.scene.opening = json!([{"type": "text", "text": "Hello"}]);
            self.leave_out(LeftOut::OurPrompt);
        }
        // One that was cancelled and did not obey lives on, which a conversation has to deal with.
        let unanswered = self.ours.iter().any(|id| !self.lines.iter().any(|line| line.is_reply_to(id)));
        self.scene.leaves = unanswered && !self.cancelled;
        self.scene
    }

    fn client(&mut self, line: &'l Line) {
        let id = &line.message["id"];
        match line.method() {
            "initialize" if self.ours.is_empty() => self.expect("initialize", id),
            "session/new" | "session/load" | "session/resume" if self.is_opening(line) => {
                if line.method() != "session/new" {
                    self.leave_out(LeftOut::History);
                }
                self.expect("session/new", id);
            }
            "session/prompt" => match line.prompt().filter(|_| line.session() == self.session) {
                None if self.is_of_another(line) => {}
                Some(_) if self.pending.is_some() => self.leave_out(LeftOut::SecondPrompt),
                Some(prompt) if self.session.is_some() => {
                    if self.scene.opening.is_null() {
                        self.scene.opening = prompt.clone();
                    } else {
                        self.step(Step::Person(Act::Say(prompt.clone())));
                    }
                    self.expect("session/prompt", id);
                    (self.pending, self.cancelled) = (Some(id), false);
                }
                _ => self.leave_out(LeftOut::Mistake),
            },
            "session/cancel" if self.is_of_another(line) => {}
            "session/cancel" if self.pending.is_some() => {
                self.stop();
                self.step(Step::Expect("session/cancel", Value::Null));
            }
            "session/cancel" => self.leave_out(LeftOut::IdleCancel),
            "" if line.message.is_object() => self.answer(line),
            _ => self.leave_out(LeftOut::Calls),
        }
    }

    /// The recorded client answered a request of the agent.
    fn answer(&mut self, line: &'l Line) {
        let id = &line.message["id"];
        let outcome = &line.message["result"]["outcome"];
        let place = self.questions.iter().position(|open| *open == id);
        match (place, outcome["optionId"].as_str()) {
            (Some(place), Some(option)) => {
                self.questions.remove(place);
                self.step(Step::Person(Act::Answer(place, option.to_owned())));
            }
            (Some(_), None) => self.stop(),
            (None, _) => {}
        }
        if self.requests.contains(&id) {
            self.step(Step::Answered(id.clone()));
        }
    }

    fn agent(&mut self, line: &'l Line) {
        let message = &line.message;
        let Some(method) = message["method"].as_str() else { return self.reply(line) };
        let is_request = message.get("id").is_some();
        let is_ours = line.session().is_none_or(|session| self.session.is_none_or(|ours| ours == session));
        if method.starts_with("fs/") || method.starts_with("terminal/") {
            return self.leave_out(LeftOut::ClientMethods);
        }
        // A conversation knows of no history: what comes of one before the reply is for nobody.
        let is_history = !self.opened && self.opening.is_some_and(|opening| opening.method() != "session/new");
        if !is_ours || (is_history && method == "session/update") {
            return;
        }
        if is_request {
            self.requests.push(&message["id"]);
            if method == "session/request_permission" {
                self.questions.push(&message["id"]);
            }
        }
        self.step(Step::Send(message.clone()));
    }

    fn reply(&mut self, line: &'l Line) {
        let id = &line.message["id"];
        if !self.ours.contains(&id) {
            return;
        }
        let mut reply = line.message.clone();
        if self.opening.is_some_and(|opening| opening.message["id"] == *id) {
            self.opened = true;
            // A loaded session is not named again.
            if let (Some(result), Some(session)) = (reply["result"].as_object_mut(), self.session) {
                result.insert("sessionId".to_owned(), session.into());
            }
        }
        if self.pending == Some(id) {
            self.pending = None;
            self.questions.clear();
        }
        self.step(Step::Reply(id.clone(), reply));
    }

    fn stop(&mut self) {
        self.cancelled = true;
        self.questions.clear();
        self.step(Step::Person(Act::Stop));
    }

    fn expect(&mut self, method: &'static str, id: &'l Value) {
        self.ours.push(id);
        self.step(Step::Expect(method, id.clone()));
    }

    fn is_opening(&self, line: &Line) -> bool {
        self.opening.is_some_and(|opening| std::ptr::eq(opening, line))
    }

    /// Whether it is about a session that makes a scene of its own.
    fn is_of_another(&self, line: &Line) -> bool {
        let others = self.lines.iter().filter(|line| line.is_opening() && !self.is_opening(line));
        let others: BTreeSet<_> = others.filter_map(|opening| session_of(self.lines, opening)).collect();
        line.session() != self.session && line.session().is_some_and(|session| others.contains(session))
    }

    fn step(&mut self, step: Step) {
        self.scene.steps.push(step);
    }

    fn leave_out(&mut self, what: LeftOut) {
        self.scene.left_out.insert(what);
    }
}
