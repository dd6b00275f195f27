//! Makes a scene of a recorded session: keeps what has a counterpart in a conversation, and notes what has none.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::recording::{Line, session_of};
use crate::scene::{Act, LeftOut, Recalled, Scene, Step};

/// Writes one scene.
pub(crate) struct Scribe<'l> {
    lines: &'l [Line],
    opening: Option<&'l Line>,
    session: Option<&'l str>,
    scene: Scene,
    /// The requests of the recorded client that are replayed.
    ours: Vec<&'l Value>,
    /// The prompt that is pending.
    pending: Option<&'l Value>,
    cancelled: bool,
    /// The session was closed, which a conversation does only when it leaves it.
    closed: bool,
    /// A prompt that is not played is pending, and nothing that is: what the agent tells is about that.
    aside: Option<&'l Value>,
    /// The questions that are open.
    questions: Vec<&'l Value>,
    /// What else the agent asked.
    requests: Vec<&'l Value>,
    /// What was said in the session before is told.
    replayed: bool,
    /// The agent goes on in a new session, which is not recorded.
    restarted: bool,
}

impl<'l> Scribe<'l> {
    pub(crate) fn new(lines: &'l [Line], opening: Option<&'l Line>) -> Self {
        Self {
            lines,
            opening,
            session: opening.and_then(|opening| session_of(lines, opening).or_else(|| opening.session())),
            scene: Scene::default(),
            ours: Vec::new(),
            pending: None,
            cancelled: false,
            closed: false,
            aside: None,
            questions: Vec::new(),
            requests: Vec::new(),
            replayed: false,
            restarted: false,
        }
    }

    pub(crate) fn write(mut self) -> Scene {
        for line in self.lines {
            if self.restarted {
                break;
            }
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
        if self.is_refused() && !self.is_opening(line) && line.method() != "initialize" {
            return self.leave_out(LeftOut::Calls);
        }
        match line.method() {
            "initialize" if self.ours.is_empty() => self.expect("initialize", id),
            "session/new" if self.is_opening(line) => self.expect("session/new", id),
            "session/load" if self.is_opening(line) => self.recall("session/load", id),
            "session/resume" if self.is_opening(line) => self.recall("session/resume", id),
            "session/prompt" => match line.prompt().filter(|_| line.session() == self.session) {
                None if self.is_of_another(line) => {}
                Some(_) if self.pending.is_some() => self.leave_out(LeftOut::SecondPrompt),
                Some(prompt) if self.session.is_some() && !self.closed => {
                    if self.scene.opening.is_null() {
                        self.scene.opening = prompt.clone();
                    } else {
                        self.step(Step::Person(Act::Say(prompt.clone())));
                    }
                    self.expect("session/prompt", id);
                    (self.pending, self.cancelled, self.aside) = (Some(id), false, None);
                }
                _ => {
                    self.leave_out(LeftOut::Mistake);
                    self.aside = Some(id).filter(|_| self.pending.is_none() && line.session() == self.session);
                }
            },
            "session/close" if line.session() == self.session => {
                self.closed = true;
                self.leave_out(LeftOut::Calls);
            }
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
        if !is_ours || (self.aside.is_some() && line.says_something()) {
            return;
        }
        self.replayed |= line.says_something();
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
        if self.aside == Some(id) {
            self.aside = None;
        }
        if !self.ours.contains(&id) {
            return;
        }
        if self.pending == Some(id) {
            self.pending = None;
            self.questions.clear();
        }
        let mut reply = line.message.clone();
        if self.opening.is_some_and(|opening| opening.method() == "session/load")
            && let Some(Value::Object(offers)) = reply.pointer_mut("/result/agentCapabilities/sessionCapabilities")
            && offers.remove("resume").is_some()
        {
            self.leave_out(LeftOut::Resume);
        }
        let is_good = reply.get("result").is_some();
        self.step(Step::Reply(id.clone(), reply));
        if let Some(opening) = self.opening.filter(|opening| opening.is_recall() && opening.message["id"] == *id) {
            self.recalled(is_good && (self.replayed || opening.method() == "session/resume"));
            if !is_good {
                self.restart();
            }
        }
    }

    /// The recorded client asks for the session of an earlier start. One that is not offered a conversation does not ask for.
    fn recall(&mut self, method: &'static str, id: &'l Value) {
        self.replayed = false;
        let offer = if method == "session/load" { "/loadSession" } else { "/sessionCapabilities/resume" };
        let is_offered = |line: &Line| {
            let capabilities = &line.message["result"]["agentCapabilities"];
            capabilities.pointer(offer).is_some_and(|offer| *offer == true || offer.is_object())
        };
        if self.lines.iter().any(is_offered) {
            return self.expect(method, id);
        }
        self.leave_out(LeftOut::Calls);
        self.recalled(false);
        self.restart();
    }

    fn recalled(&mut self, remembered: bool) {
        self.scene.recalled = self.session.map(|session| Recalled { session: session.to_owned(), remembered });
    }

    /// The agent goes on in a new session of ours.
    fn restart(&mut self) {
        self.restarted = true;
        let session = "another";
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello"}});
        let said =
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}});
        let (opening, prompt) = (json!("opening"), json!("prompt"));
        self.step(Step::Expect("session/new", opening.clone()));
        self.step(Step::Reply(opening, json!({"jsonrpc": "2.0", "result": {"sessionId": session}})));
        self.step(Step::Expect("session/prompt", prompt.clone()));
        self.step(Step::Send(said));
        self.step(Step::Reply(prompt, json!({"jsonrpc": "2.0", "result": {"stopReason": "end_turn"}})));
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

    /// Whether the agent refuses to recall the session, which is all that is played.
    fn is_refused(&self) -> bool {
        self.opening.is_some_and(|opening| opening.is_recall() && session_of(self.lines, opening).is_none())
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
