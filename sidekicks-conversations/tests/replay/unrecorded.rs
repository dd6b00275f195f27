//! What real agents were seen to do, and no recording shows.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::AgentProfile;

use crate::common::{answers, chunk, name, options, talk_counting, talk_with, thought, tool_call, word};
use crate::shape::message_word;

/// What is there when the agent is asked to go on by `method`, answers after `early` lines of a replay, and writes the
/// others after that, one in each `moment`.
async fn gone_on(method: &'static str, early: usize, moment: Duration) -> Vec<String> {
    let mut talk = talk_counting(async move |start, mut peer: Peer| {
        let offer = if method == "session/load" {
            json!({"loadSession": true})
        } else {
            json!({"sessionCapabilities": {"resume": {}}})
        };
        peer.shake_hands_with(offer).await;
        if start == 0 {
            peer.open("s1").await;
            return answers(&mut peer, "One.").await;
        }
        let request = peer.expect(method).await;
        let user = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "1"}});
        let replay = [user, thought("Hm."), tool_call("t", json!({"status": "completed"})), chunk("One.")];
        for update in &replay[..early] {
            peer.update("s1", update.clone()).await;
        }
        peer.reply(&request, json!({})).await;
        for update in &replay[early..] {
            tokio::time::sleep(moment).await;
            peer.update("s1", update.clone()).await;
        }
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.until(|event| word(event).ends_with("agent-exited").then_some(())).await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    talk.told().await;
    talk.with.messages().messages[3..].iter().map(|message| message_word(message, &[])).collect()
}

/// What is there when nothing is told twice.
const ONCE: [&str; 3] = ["user[text]", "system:session-resumed", "agent[text] end_turn"];

#[tokio::test(start_paused = true)]
async fn what_is_told_again_before_the_answer_is_swallowed() {
    assert_eq!(gone_on("session/load", 4, Duration::ZERO).await, ONCE);
}

#[tokio::test(start_paused = true)]
async fn one_that_resumes_may_tell_everything_again() {
    assert_eq!(gone_on("session/resume", 4, Duration::ZERO).await, ONCE);
}

#[tokio::test(start_paused = true)]
async fn a_replay_may_go_on_after_the_answer() {
    assert_eq!(gone_on("session/load", 1, Duration::ZERO).await, ONCE);
}

#[tokio::test(start_paused = true)]
async fn a_replay_may_begin_after_the_answer() {
    assert_eq!(gone_on("session/load", 0, Duration::ZERO).await, ONCE);
}

#[tokio::test(start_paused = true)]
async fn a_replay_may_take_its_time() {
    assert_eq!(gone_on("session/load", 1, Duration::from_millis(5)).await, ONCE);
}

/// The mode that is shown of an agent that offers modes twice, like codex-acp, and confirms another one by its option; and
/// the modes that it was asked for when somebody chose the first one after that.
async fn confirmed_by_the_option() -> (String, Vec<Value>) {
    let option = |current: &str| {
        let options = json!([{"value": "agent", "name": "A"}, {"value": "read-only", "name": "R"}]);
        json!([{"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": current, "options": options}])
    };
    let (asked, heard) = std::sync::mpsc::channel();
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands().await;
        let opening = peer.expect("session/new").await;
        let modes = json!([{"id": "agent", "name": "A"}, {"id": "read-only", "name": "R"}]);
        let modes = json!({"currentModeId": "agent", "availableModes": modes});
        peer.reply(&opening, json!({"sessionId": "s1", "modes": modes, "configOptions": option("agent")})).await;
        while let Some(message) = peer.hear().await {
            if message["method"] == "session/set_mode" {
                let mode = message["params"]["modeId"].clone();
                let current = option(mode.as_str().expect("a mode"));
                let update = json!({"sessionUpdate": "config_option_update", "configOptions": current});
                peer.update("s1", update).await;
                peer.reply(&message, json!({})).await;
                asked.send(mode).expect("the test listens");
            } else {
                peer.say("s1", "Yes.").await;
                peer.end_turn(&message, "end_turn").await;
            }
        }
    });
    let profile = AgentProfile::new(agent, "/work").mode("read-only");
    let talk = talk_with(HashMap::from([(name(), profile)]), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    let shown = talk.with.messages().modes.as_ref().expect("it has modes").current_mode_id.to_string();
    talk.with.set_mode("agent").await.expect("it is offered");
    (shown, heard.try_iter().collect())
}

#[tokio::test(start_paused = true)]
async fn a_mode_may_be_confirmed_by_the_option_that_stands_for_it() {
    let (shown, asked) = confirmed_by_the_option().await;
    assert_eq!((shown.as_str(), asked), ("read-only", vec![json!("read-only"), json!("agent")]));
}
