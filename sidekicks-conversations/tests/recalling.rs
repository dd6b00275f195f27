//! Sessions that go on in a new process: what is told again, what is not known, and what was said in vain.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Talk, answers, options, talk_with};
use serde_json::json;
use sidekicks_acp::AgentName;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::AgentProfile;

/// An agent that resumes anything, then runs `then`, when it is started again.
async fn resumed_by<S>(
    then: impl FnOnce(Peer) -> S + Clone + Send + Sync + 'static,
    profile: fn(AgentProfile) -> AgentProfile,
) -> Talk
where
    S: Future<Output = ()> + Send + 'static,
{
    let modes =
        json!({"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "A"}, {"id": "ask", "name": "B"}]});
    let starts = Arc::new(Mutex::new(0));
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands_with(json!({"sessionCapabilities": {"resume": {}}})).await;
        let first = std::mem::replace(&mut *starts.lock().unwrap(), 1) == 0;
        if !first {
            return then(peer).await;
        }
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes})).await;
        while let Some(request) = peer.hear().await {
            match request["method"].as_str().unwrap() {
                "session/prompt" => peer.end_turn(&request, "end_turn").await,
                _ => peer.reply(&request, json!({})).await,
            }
        }
    });
    let profile = profile(AgentProfile::new(agent.clone(), "/"));
    let talk = talk_with(move |_: &AgentName| Some(profile.clone()), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    agent.stop().await;
    talk
}

#[tokio::test(start_paused = true)]
async fn options_that_have_no_mode_say_nothing_of_the_mode() {
    let script = async |mut peer: Peer| {
        let resume = peer.expect("session/resume").await;
        let models = json!([{"value": "m", "name": "M"}]);
        let option = json!({"id": "model", "name": "M", "category": "model", "type": "select", "currentValue": "m", "options": models});
        peer.reply(&resume, json!({"configOptions": [option]})).await;
        let setting = peer.expect("session/set_mode").await;
        assert_eq!(setting["params"]["modeId"], "ask");
        peer.reply(&setting, json!({})).await;
        answers(&mut peer, "In that mode.").await;
        peer.farewell().await;
    };
    let mut talk = resumed_by(script, |profile| profile.mode("ask")).await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    talk.told().await;
    assert_eq!(common::part_word(&talk.answer().parts[0]), "text In that mode.");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_lost_after_it_was_resumed_is_not_resumed_again() {
    let script = async |mut peer: Peer| {
        let resume = peer.expect("session/resume").await;
        peer.reply(&resume, json!({})).await;
        let prompt = peer.prompted().await;
        peer.refuse(&prompt, json!({"code": -32002, "message": "Session s1 not found"})).await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s2"})).await;
        let prompt = peer.prompted().await;
        peer.say("s2", "Anew.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    };
    let mut talk = resumed_by(script, |profile| profile).await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    talk.told().await;
    let transcript = talk.with.messages();
    let codes: Vec<_> = transcript.messages.iter().filter_map(|message| message.code.as_deref()).collect();
    assert_eq!(codes, ["session-resumed", "agent-restarted"], "what it said, and what was so");
    assert_eq!(common::part_word(&talk.answer().parts[0]), "text Anew.");
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_tells_beside_a_replay_keeps_no_prompt_waiting() {
    let script = async |mut peer: Peer| {
        let resume = peer.expect("session/resume").await;
        peer.reply(&resume, json!({})).await;
        for beat in 0..20 {
            peer.usage("s1", beat, 100).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        answers(&mut peer, "Here.").await;
        peer.farewell().await;
    };
    let mut talk = resumed_by(script, |profile| profile).await;
    let begun = tokio::time::Instant::now();
    talk.with.send("2").unwrap();
    talk.until_told("answering").await;
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    talk.idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_by_text_is_heard_after_a_replay_too() {
    let script = async |mut peer: Peer| {
        let resume = peer.expect("session/resume").await;
        peer.say("s1", "What was said.").await;
        peer.reply(&resume, json!({})).await;
        let setting = peer.expect("session/set_mode").await;
        peer.say("s1", "[MODE_UPDATE] auto").await;
        peer.reply(&setting, json!({})).await;
        answers(&mut peer, "Here.").await;
        peer.farewell().await;
    };
    let mut talk = resumed_by(script, |profile| profile.mode("ask")).await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    talk.told().await;
    let transcript = talk.with.messages();
    let doubt = transcript.messages.iter().find(|message| message.code.as_deref() == Some("mode-unconfirmed"));
    assert_eq!(json!(doubt.unwrap().params), json!({"wanted": "ask", "current": "auto"}));
}

#[tokio::test(start_paused = true)]
async fn who_only_greets_remembers_nothing() {
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands_with(json!({"loadSession": true})).await;
        while let Some(request) = peer.hear().await {
            match request["method"].as_str().unwrap() {
                "session/new" => peer.reply(&request, json!({"sessionId": "s1"})).await,
                "session/prompt" => peer.end_turn(&request, "end_turn").await,
                _ => {
                    peer.say("s1", "Welcome back!").await;
                    peer.reply(&request, json!({})).await;
                }
            }
        }
    });
    let profile = AgentProfile::new(agent.clone(), "/");
    let talk = talk_with(move |_: &AgentName| Some(profile.clone()), options());
    for text in ["1", "2"] {
        talk.with.send(text).unwrap();
        talk.idle().await;
        agent.stop().await;
    }
    let transcript = talk.with.messages();
    let codes: Vec<_> = transcript.messages.iter().filter_map(|message| message.code.as_deref()).collect();
    assert_eq!(codes, ["agent-restarted"]);
}
