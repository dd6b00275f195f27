//! One start of the agent: it does what its script says, hears everything at once, and notes what a client must not do.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sidekicks_acp::testing::Peer;
use tokio::time::{Instant, sleep_until};

use crate::common::{OPTIONS, tool_call};
use crate::script::{Obeys, Remembers, Says, Start, Step};
use crate::world::World;

/// What is on its way has come by then: the time is paused, and goes on only when there is nothing else to do.
const ON_ITS_WAY: Duration = Duration::from_millis(2);

pub(crate) async fn run(world: Arc<World>, peer: Peer) {
    let (number, start) = world.start();
    let mut agent =
        Agent { world, peer, number, start, sessions: BTreeMap::new(), later: Vec::new(), opened: 0, gone: false };
    while !agent.gone {
        let due = agent.due();
        let rings = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            message = agent.peer.hear() => match message {
                Some(message) => agent.hear(message).await,
                None => break,
            },
            () = rings => agent.go_on().await,
        }
    }
    agent.world.unanswered.lock().unwrap().retain(|(start, _)| *start != number);
}

struct Agent {
    world: Arc<World>,
    peer: Peer,
    number: usize,
    start: Start,
    sessions: BTreeMap<String, Session>,
    /// Answers that take their time.
    later: Vec<(Instant, Value)>,
    /// How many sessions were opened anew.
    opened: usize,
    gone: bool,
}

#[derive(Default)]
struct Session {
    prompt: Option<Value>,
    steps: VecDeque<Step>,
    /// The last question.
    asked: Option<String>,
    /// The question that is to be answered first.
    waits_for: Option<String>,
    due: Option<Instant>,
    /// How often the prompt was cancelled.
    cancels: usize,
    /// When the last turn ended.
    ended: Option<Instant>,
}

impl Session {
    fn due(&self) -> Option<Instant> {
        self.due.filter(|_| !self.steps.is_empty() && self.waits_for.is_none())
    }
}

/// The next of what is scripted, or what goes well.
fn next<T: Default>(scripted: &mut Vec<T>) -> T {
    if scripted.is_empty() { T::default() } else { scripted.remove(0) }
}

impl Agent {
    fn due(&self) -> Option<Instant> {
        self.sessions.values().filter_map(Session::due).chain(self.later.iter().map(|(due, _)| *due)).min()
    }

    async fn go_on(&mut self) {
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut self.later).into_iter().partition(|(due, _)| *due <= now);
        self.later = later;
        let due: Vec<(Instant, Value)> = due;
        for (_, message) in due {
            self.peer.send(message).await;
        }
        let ready: Vec<String> =
            self.sessions.iter().filter(|(_, session)| session.due() <= Some(now)).map(|(id, _)| id.clone()).collect();
        for id in ready {
            self.step(&id).await;
        }
    }

    async fn step(&mut self, id: &str) {
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.due().is_some()) else { return };
        let Some(step) = session.steps.pop_front() else { return };
        match step {
            Step::Say(text) => self.peer.say(id, text).await,
            Step::Think => self.peer.think(id, "hm").await,
            Step::Tool(tool, status) => self.peer.update(id, tool_call(tool, json!({ "status": status }))).await,
            Step::Ask(waits, title) => {
                let tool = format!("q{}", self.world.question());
                session.asked = Some(tool.clone());
                session.waits_for = waits.then(|| tool.clone());
                self.world.unanswered.lock().unwrap().insert((self.number, tool.clone()));
                self.peer.ask(&json!(tool), id, json!({"toolCallId": tool, "title": title}), OPTIONS).await;
            }
            Step::Withdraw => {
                if let Some(asked) = session.asked.take() {
                    self.peer.notify("$/cancel_request", json!({ "requestId": asked })).await;
                }
            }
            Step::Burst => self.peer.say_often(id, 700, 1).await,
            Step::Elsewhere => self.peer.say("nowhere", "la").await,
            Step::Mode(mode) => {
                let update = json!({"sessionUpdate": "current_mode_update", "currentModeId": mode});
                self.peer.update(id, update).await;
            }
            Step::Usage => self.peer.usage(id, 1, 2).await,
            Step::Wait(wait) => session.due = Some(Instant::now() + Duration::from_millis(wait)),
            Step::End(reason) => self.end(id, json!({"result": {"stopReason": reason}}), 1).await,
            Step::EndTwice => self.end(id, json!({"result": {"stopReason": "end_turn"}}), 2).await,
            Step::Refuse(code) => self.end(id, json!({"error": error(code)}), 1).await,
            Step::Exit => self.gone = true,
            Step::CloseOutput => self.peer.close_output().await,
        }
    }

    /// Answers the prompt, so many times.
    async fn end(&mut self, id: &str, answer: Value, times: usize) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let Some(prompt) = session.prompt.take() else { return };
        session.ended = Some(Instant::now());
        for _ in 0..times {
            let mut answer = answer.clone();
            answer["id"] = prompt["id"].clone();
            self.peer.send(answer).await;
        }
    }

    async fn hear(&mut self, message: Value) {
        let good = self.world.is_good();
        let Some(method) = message["method"].as_str() else { return self.answered(&message) };
        let session = message["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
        let start = &mut self.start;
        match method {
            "initialize" => {
                let result = self.greeting();
                self.say(&message, if good { Says::Yes } else { self.start.handshake }, result).await;
            }
            "session/new" => {
                let says = if good { Says::Yes } else { next(&mut start.opens) };
                self.opened += 1;
                let id = format!("s{}-{}", self.number, self.opened);
                let mut result = json!({ "sessionId": id });
                if start.offers {
                    result["modes"] = json!({"currentModeId": "auto", "availableModes": [mode("auto"), mode("ask")]});
                    let choices = json!([{"value": "small", "name": "S"}, {"value": "large", "name": "L"}]);
                    result["configOptions"] = json!([{"id": "model", "name": "Model", "category": "model",
                        "type": "select", "currentValue": "small", "options": choices}]);
                }
                self.sessions.insert(id, Session::default());
                self.say(&message, says, result).await;
            }
            "session/resume" | "session/load" => {
                let says = if good { Says::Yes } else { next(&mut start.opens) };
                if method == "session/load" && start.remembers == Remembers::Replays {
                    self.peer
                        .update(
                            &session,
                            json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "old"}}),
                        )
                        .await;
                    self.peer.say(&session, "old").await;
                }
                self.sessions.entry(session).or_default();
                self.say(&message, says, json!({})).await;
            }
            "session/prompt" => self.prompted(session, message).await,
            "session/cancel" => self.cancelled(&session).await,
            "session/close" => {
                if self.sessions.remove(&session).is_none_or(|session| session.prompt.is_some()) {
                    self.world.fault(format!("{session} is closed while it works, or is not there"));
                }
                let says = self.start.closes.filter(|_| !good).unwrap_or_default();
                self.say(&message, says, json!({})).await;
            }
            "authenticate" => {
                let says = if good { Says::Yes } else { next(&mut start.logins) };
                self.say(&message, says, json!({})).await;
            }
            "session/set_mode" | "session/set_model" | "session/set_config_option" => {
                let says = if good { Says::Yes } else { next(&mut start.settings) };
                self.say(&message, says, json!({})).await;
            }
            "$/cancel_request" => {}
            other => self.world.fault(format!("{other} is not expected")),
        }
    }

    fn greeting(&self) -> Value {
        let mut capabilities = json!({"sessionCapabilities": {}});
        match self.start.remembers {
            Remembers::Nothing => {}
            Remembers::All => capabilities["sessionCapabilities"]["resume"] = json!({}),
            Remembers::Replays | Remembers::Claims => capabilities["loadSession"] = json!(true),
        }
        if self.start.takes_pictures {
            capabilities["promptCapabilities"] = json!({"image": true});
        }
        if self.start.closes.is_some() {
            capabilities["sessionCapabilities"]["close"] = json!({});
        }
        json!({"protocolVersion": 1, "agentCapabilities": capabilities, "authMethods": [{"id": "key", "name": "Key"}]})
    }

    async fn say(&mut self, request: &Value, says: Says, result: Value) {
        match says {
            Says::Yes => self.peer.reply(request, result).await,
            Says::Late(wait) => {
                let reply = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
                self.later.push((Instant::now() + Duration::from_millis(wait), reply));
            }
            Says::No => self.peer.refuse(request, error(-32602)).await,
            Says::LogIn => self.peer.refuse(request, error(-32000)).await,
            Says::Nothing => {}
            Says::Exit => self.gone = true,
        }
    }

    async fn prompted(&mut self, id: String, prompt: Value) {
        let text = prompt["params"]["prompt"][0]["text"].as_str().unwrap_or_default().to_owned();
        self.world.prompts.lock().unwrap().push(text);
        let Some(session) = self.sessions.get_mut(&id) else {
            return self.world.fault(format!("a prompt in {id}, which is not open"));
        };
        if session.prompt.replace(prompt).is_some() {
            return self.world.fault(format!("two prompts at once in {id}"));
        }
        session.cancels = 0;
        let turn = match self.world.is_good() || self.start.turns.is_empty() {
            true => vec![Step::Say("Good."), Step::End("end_turn")],
            false => self.start.turns.remove(0),
        };
        (session.steps, session.waits_for, session.due) = (turn.into(), None, Some(Instant::now()));
    }

    async fn cancelled(&mut self, id: &str) {
        let Some(session) = self.sessions.get_mut(id) else {
            return self.world.fault(format!("a cancel in {id}, which is not open"));
        };
        if session.prompt.is_none() {
            // It may have crossed the end of the turn.
            if session.ended.is_none_or(|ended| ended.elapsed() > ON_ITS_WAY) {
                self.world.fault(format!("a cancel in {id} while nothing is pending"));
            }
            return;
        }
        session.cancels += 1;
        if session.cancels > 1 {
            self.world.fault(format!("two cancels of one prompt in {id}"));
        }
        let obeys = if self.world.is_good() { Obeys::AtOnce } else { next(&mut self.start.cancels) };
        let steps = match obeys {
            Obeys::AtOnce => vec![Step::End("cancelled")],
            Obeys::Late(wait, reason) => vec![Step::Wait(wait), Step::Say("late"), Step::End(reason)],
            Obeys::WithAnError => vec![Step::Refuse(-32603)],
            Obeys::Never => return,
        };
        (session.steps, session.waits_for, session.due) = (steps.into(), None, Some(Instant::now()));
    }

    /// A question of ours is answered.
    fn answered(&mut self, reply: &Value) {
        let tool = reply["id"].as_str().unwrap_or_default().to_owned();
        if !self.world.unanswered.lock().unwrap().remove(&(self.number, tool.clone())) {
            return self.world.fault(format!("{reply} answers nothing, or for the second time"));
        }
        let outcome = &reply["result"]["outcome"];
        let answer = outcome["optionId"].as_str().or(outcome["outcome"].as_str()).unwrap_or("error").to_owned();
        for session in self.sessions.values_mut().filter(|session| session.waits_for.as_ref() == Some(&tool)) {
            session.waits_for = None;
            session.due = Some(Instant::now());
        }
        self.world.answers.lock().unwrap().insert(tool, answer);
    }
}

fn mode(id: &str) -> Value {
    json!({"id": id, "name": id})
}

fn error(code: i64) -> Value {
    json!({"code": code, "message": "no"})
}
