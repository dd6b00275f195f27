//! Two turns with a new start of the agent between them, as the JSON of every event of the second.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Talk, answers, chunk, options, talk_counting, talk_to, thought, tool_call};
use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};

fn commands(name: &str) -> Value {
    let commands = json!([{"name": name, "description": "Begin"}]);
    json!({"sessionUpdate": "available_commands_update", "availableCommands": commands})
}

/// An agent with these capabilities is stopped after its first turn, as for idleness; its second start opens a session
/// in this way.
async fn stopped<F, S>(capabilities: Value, reopen: F) -> String
where
    F: FnOnce(Peer) -> S + Clone + Send + Sync + 'static,
    S: Future<Output = Peer> + Send + 'static,
{
    let starts = Arc::new(AtomicUsize::new(0));
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands_with(capabilities).await;
        if starts.fetch_add(1, Ordering::Relaxed) == 0 {
            let open = peer.expect("session/new").await;
            let modes = [json!({"id": "auto", "name": "Auto"}), json!({"id": "ask", "name": "Ask"})];
            let modes = json!({"currentModeId": "auto", "availableModes": modes});
            peer.reply(&open, json!({"sessionId": "s1", "modes": modes})).await;
            answers(&mut peer, "One.").await;
        } else {
            peer = reopen(peer).await;
            answers(&mut peer, "Two.").await;
        }
        peer.farewell().await;
    });
    let talk = talk_to(agent.clone(), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    agent.stop().await;
    common::settled().await;
    second_turn(talk).await
}

async fn second_turn(mut talk: Talk) -> String {
    talk.told().await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    talk.json().await
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_resumed() {
    let events = stopped(json!({"sessionCapabilities": {"resume": {}}}), async |mut peer: Peer| {
        let request = peer.expect("session/resume").await;
        peer.reply(&request, json!({})).await;
        peer.update("s1", commands("init")).await;
        peer
    });
    insta::assert_snapshot!(events.await);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_loaded() {
    let events = stopped(json!({"loadSession": true}), async |mut peer: Peer| {
        let request = peer.expect("session/load").await;
        let replayed = [
            json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "1"}}),
            thought("Hm."),
            tool_call("t1", json!({"status": "completed"})),
            json!({"sessionUpdate": "plan", "entries": [{"content": "Go", "priority": "low", "status": "pending"}]}),
            chunk("One."),
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"}),
        ];
        for update in replayed {
            peer.update("s1", update).await;
        }
        peer.reply(&request, json!({})).await;
        // Many tell these only now.
        peer.update("s1", commands("init")).await;
        peer.usage("s1", 5, 10).await;
        peer
    });
    insta::assert_snapshot!(events.await);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_gone() {
    let events = stopped(json!({}), async |mut peer: Peer| {
        peer.open("s1").await;
        peer
    });
    insta::assert_snapshot!(events.await);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_left_by_itself_and_resumes() {
    let mut talk = talk_counting(async |start, mut peer: Peer| {
        peer.shake_hands_with(json!({"sessionCapabilities": {"resume": {}}})).await;
        if start == 0 {
            peer.open("s1").await;
            return answers(&mut peer, "One.").await;
        }
        let request = peer.expect("session/resume").await;
        peer.reply(&request, json!({})).await;
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.until_told("m3 agent-exited").await;
    insta::assert_snapshot!(second_turn(talk).await);
}
