//! Plays a scene to a conversation: an agent that says what the recorded one said, and a person who does what the
//! recorded client did.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::common::{PATIENCE, Talk, options, settled, talk_to};
use crate::scene::{Act, Scene, Step};

/// What the agent tells the test.
enum Cue {
    /// Now the person does this.
    Act(Act),
    /// Everything was played.
    Done,
}

/// A conversation in which a scene was played to its end, and how many prompts were sent in it.
pub(crate) async fn play(scene: &Scene) -> (Talk, usize) {
    let steps: Arc<[Step]> = scene.steps.clone().into();
    let (cues, mut cued) = unbounded_channel();
    let leaves = scene.leaves;
    let recalled = scene.recalled.as_ref().map(|recalled| recalled.session.clone());
    let earlier = Arc::new(AtomicBool::new(recalled.is_some()));
    let agent = testing::agent(async move |peer: Peer| match recalled {
        Some(session) if earlier.swap(false, Ordering::Relaxed) => earlier_start(peer, &session).await,
        recalled => perform(peer, recalled, &steps, &cues, leaves).await,
    });
    let talk = talk_to(agent.clone(), options());
    let mut prompts = 1;
    if scene.recalled.is_some() {
        talk.with.send("Are you there?").expect("it is sent");
        talk.idle().await;
        agent.stop().await; // As after a while without turns.
        prompts += 1;
    }
    say(&talk, &scene.opening);
    loop {
        let cue = tokio::time::timeout(PATIENCE, cued.recv()).await;
        let cue = cue.unwrap_or_else(|_| panic!("{}: the client does not do what is expected", scene.name));
        settled().await; // What the agent said before was read by now.
        match cue.expect("the agent lives as long as the conversation") {
            Cue::Act(Act::Say(prompt)) => {
                prompts += 1;
                say(&talk, &prompt);
            }
            Cue::Act(Act::Stop) => talk.with.stop(),
            Cue::Act(Act::Answer(place, option)) => {
                let open = talk.with.messages();
                let question = open.permissions.get(place).unwrap_or_else(|| panic!("{}: it asks", scene.name));
                talk.with.answer(&question.id, &option).expect(&scene.name);
            }
            Cue::Done => break,
        }
    }
    talk.idle().await;
    tokio::time::sleep(Duration::from_secs(5)).await; // Longer than the quiet after which what came late is told.
    (talk, prompts)
}

fn say(talk: &Talk, prompt: &Value) {
    let prompt: Vec<sidekicks_acp::schema::ContentBlock> = serde_json::from_value(prompt.clone()).expect("a prompt");
    talk.with.send(prompt).expect("it is sent");
}

/// What everything is called that an agent offers in its earlier start.
pub(crate) const EARLIER: &str = "earlier";

/// A turn in the session that is asked for later.
async fn earlier_start(mut peer: Peer, session: &str) {
    peer.shake_hands().await;
    let opening = peer.expect("session/new").await;
    let modes = json!({"currentModeId": EARLIER, "availableModes": [{"id": EARLIER, "name": EARLIER}]});
    peer.reply(&opening, json!({"sessionId": session, "modes": modes})).await;
    let prompt = peer.prompted().await;
    let commands = json!([{"name": EARLIER, "description": EARLIER}]);
    peer.update(session, json!({"sessionUpdate": "available_commands_update", "availableCommands": commands})).await;
    peer.update(session, json!({"sessionUpdate": "session_info_update", "title": EARLIER})).await;
    peer.say(session, "Yes.").await;
    peer.end_turn(&prompt, "end_turn").await;
    peer.farewell().await;
}

async fn perform(peer: Peer, recalled: Option<String>, steps: &[Step], cues: &UnboundedSender<Cue>, leaves: bool) {
    let mut stage = Stage { peer, heard: Vec::new(), ids: HashMap::new() };
    for step in steps {
        match step {
            Step::Expect(method, recorded) => {
                let Some(message) = stage.hear(|message| message["method"] == *method).await else { return };
                if matches!(*method, "session/load" | "session/resume") {
                    assert_eq!(message["params"]["sessionId"].as_str(), recalled.as_deref());
                }
                stage.ids.insert(recorded.to_string(), message["id"].clone());
            }
            Step::Reply(recorded, reply) => {
                let mut reply = reply.clone();
                reply["id"] = stage.ids[&recorded.to_string()].clone();
                stage.peer.send(reply).await;
            }
            Step::Send(message) => stage.peer.send(message.clone()).await,
            Step::Noise(line) => stage.peer.noise(line).await,
            Step::Answered(id) => {
                let is_answer = |message: &Value| message.get("method").is_none() && message["id"] == *id;
                if stage.hear(is_answer).await.is_none() {
                    return;
                }
            }
            Step::Person(act) => {
                let _ = cues.send(Cue::Act(act.clone()));
            }
        }
    }
    let _ = cues.send(Cue::Done);
    if !leaves {
        stage.peer.farewell().await;
    }
}

/// The agent, and what it heard before it expected that.
struct Stage {
    peer: Peer,
    heard: Vec<Value>,
    /// Our client's ids for the recorded one's.
    ids: HashMap<String, Value>,
}

impl Stage {
    /// The first message that is such, `None` when the client left.
    async fn hear(&mut self, is: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(at) = self.heard.iter().position(&is) {
            return Some(self.heard.remove(at));
        }
        loop {
            let message = self.peer.hear().await?;
            if is(&message) {
                return Some(message);
            }
            self.heard.push(message);
        }
    }
}
