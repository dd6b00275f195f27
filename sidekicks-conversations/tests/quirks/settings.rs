//! Modes and options.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sidekicks_acp::AgentName;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::AgentProfile;

use crate::common::{Talk, answers, options, ready, talk, talk_with, updates, within};

/// A session that offers its modes as modes and as an option.
fn offers_both_ways(mode: &str) -> Value {
    let modes = json!([{"id": "auto", "name": "Auto", "description": null}, {"id": "ask", "name": "Ask"}]);
    json!({
        "sessionId": "s1",
        "modes": {"currentModeId": mode, "availableModes": modes},
        "configOptions": [mode_option(mode)]
    })
}

fn mode_option(current: &str) -> Value {
    let choices = json!([{"value": "auto", "name": "Auto", "description": null}, {"value": "ask", "name": "Ask"}]);
    json!({"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": current, "options": choices})
}

fn mode_update(mode: &str) -> Value {
    json!({"sessionUpdate": "current_mode_update", "currentModeId": mode})
}

fn option_update(mode: &str) -> Value {
    json!({"sessionUpdate": "config_option_update", "configOptions": [mode_option(mode)]})
}

/// Mode `ask` is configured of an agent that offers both ways and begins in `auto`. It says this before its yes and this
/// after it, to whatever sets a mode. Gives the conversation after its first turn, and what sets a mode, as it comes.
async fn in_mode_ask(before: Vec<Value>, after: Vec<Value>) -> (Talk, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::clone(&heard);
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, offers_both_ways("auto")).await;
        while let Some(request) = peer.hear().await {
            let Some(mode) = request["params"]["modeId"].as_str() else {
                peer.say("s1", "Hello.").await;
                peer.end_turn(&request, "end_turn").await;
                continue;
            };
            calls.lock().unwrap().push(mode.to_owned());
            for update in &before {
                peer.update("s1", update.clone()).await;
            }
            peer.reply(&request, json!({})).await;
            for update in &after {
                peer.update("s1", update.clone()).await;
            }
        }
    });
    let profile = AgentProfile::new(agent, "/work").mode("ask");
    let mut talk = talk_with(move |_: &AgentName| Some(profile.clone()), options());
    talk.with.send("Go").unwrap();
    talk.idle().await;
    talk.told().await;
    (talk, heard)
}

/// The mode as the modes have it, and as the option has it.
fn modes_of(talk: &Talk) -> (String, Value) {
    let transcript = talk.with.messages();
    let mode = transcript.modes.as_ref().map(|modes| modes.current_mode_id.to_string());
    (mode.unwrap_or_default(), json!(transcript.config_options)[0]["currentValue"].clone())
}

/// Every form in which an agent that offers both ways confirms a mode, beside its yes.
fn confirmations() -> Vec<(Vec<Value>, Vec<Value>)> {
    let (mode, option) = (mode_update("ask"), option_update("ask"));
    vec![
        (vec![], vec![]),
        (vec![mode.clone()], vec![]),
        (vec![option.clone()], vec![]),
        (vec![mode.clone(), option.clone()], vec![]),
        (vec![], vec![mode.clone()]),
        (vec![], vec![option.clone()]),
        (vec![], vec![mode, option]),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_mode_that_is_offered_in_two_ways_may_be_confirmed_in_either() {
    for (before, after) in confirmations() {
        let (talk, asked) = in_mode_ask(before.clone(), after.clone()).await;
        assert_eq!(*asked.lock().unwrap(), ["ask"]);
        let transcript = talk.with.messages();
        let codes: Vec<_> = transcript.messages.iter().filter_map(|message| message.code.as_deref()).collect();
        assert_eq!(codes, [""; 0], "{before:?} {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_mode_is_the_same_in_both_ways_in_which_it_is_offered() {
    for (before, after) in confirmations() {
        let (talk, _) = in_mode_ask(before.clone(), after.clone()).await;
        assert_eq!(modes_of(&talk), ("ask".to_owned(), json!("ask")), "{before:?} {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_can_go_back_from_a_mode_however_it_was_confirmed() {
    for (before, after) in confirmations() {
        let (talk, asked) = in_mode_ask(before.clone(), after.clone()).await;
        within(talk.with.set_mode("auto")).await.unwrap();
        assert_eq!(*asked.lock().unwrap(), ["ask", "auto"], "{before:?} {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_goes_on_in_a_new_process_is_set_up_again() {
    // Its answer tells nothing of modes and models; the process has begun in those that it always begins in.
    for capabilities in [json!({"sessionCapabilities": {"resume": {}}}), json!({"loadSession": true})] {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (calls, offers) = (Arc::clone(&heard), capabilities.clone());
        let agent = testing::agent(async move |mut peer: Peer| {
            peer.shake_hands_with(offers).await;
            while let Some(request) = peer.hear().await {
                let method = request["method"].as_str().unwrap().to_owned();
                match method.as_str() {
                    "session/new" => peer.reply(&request, offers_both_ways("auto")).await,
                    "session/prompt" => peer.end_turn(&request, "end_turn").await,
                    "session/load" => {
                        peer.say("s1", "Hello.").await;
                        peer.reply(&request, json!({})).await;
                    }
                    _ => peer.reply(&request, json!({})).await,
                }
                calls.lock().unwrap().push(method);
            }
        });
        let profile = AgentProfile::new(agent.clone(), "/work").mode("ask");
        let talk = talk_with(move |_: &AgentName| Some(profile.clone()), options());
        talk.with.send("1").unwrap();
        talk.idle().await;
        agent.stop().await;
        heard.lock().unwrap().clear();
        talk.with.send("2").unwrap();
        talk.idle().await;
        let opened = if capabilities["loadSession"] == true { "session/load" } else { "session/resume" };
        assert_eq!(*heard.lock().unwrap(), [opened, "session/set_mode", "session/prompt"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_told_again_is_no_change() {
    let commands = json!({"sessionUpdate": "available_commands_update", "availableCommands":
        [{"name": "init", "description": "Begin"}]});
    let plan = json!({"sessionUpdate": "plan", "entries":
        [{"content": "Look", "priority": "low", "status": "pending"}]});
    let told = [
        mode_update("ask"),
        option_update("ask"),
        commands,
        plan,
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 9}),
        json!({"sessionUpdate": "session_info_update", "title": "A title"}),
    ];
    let mut changes = Vec::new();
    for update in told {
        let mut talk = talk(async move |mut peer: Peer| {
            ready(&mut peer).await;
            updates(&mut peer, [update.clone(), update]).await;
            peer.farewell().await;
        });
        talk.with.send("Go").unwrap();
        talk.idle().await;
        let story = talk.story().await;
        // Between the beginning of the answer and its end.
        changes.push(story.len() - 7);
    }
    assert_eq!(changes, [1; 6]);
}

#[tokio::test(start_paused = true)]
async fn an_option_may_be_on_or_off_and_what_is_offered_may_be_refused() {
    let talk = talk(async |mut peer: Peer| {
        let loud = |on: bool| json!({"id": "loud", "name": "Loud", "type": "boolean", "currentValue": on});
        let efforts = json!([{"value": "low", "name": "Low"}, {"value": "medium", "name": "Medium"}]);
        let effort =
            json!({"id": "effort", "name": "Effort", "type": "select", "currentValue": "low", "options": efforts});
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s1", "configOptions": [loud(false), effort]})).await;
        answers(&mut peer, "One.").await;
        let set = peer.expect("session/set_config_option").await;
        let wanted = json!({"sessionId": "s1", "configId": "loud", "type": "boolean", "value": true});
        assert_eq!(set["params"], wanted);
        peer.reply(&set, json!({"configOptions": [loud(true), effort]})).await;
        let set = peer.expect("session/set_config_option").await;
        assert_eq!(set["params"], json!({"sessionId": "s1", "configId": "effort", "value": "medium"}));
        peer.refuse(&set, json!({"code": -32602, "message": "Not for this model"})).await;
        answers(&mut peer, "Two.").await; // What was refused is not asked for again.
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    within(talk.with.set_option("loud", true)).await.unwrap();
    let refused = within(talk.with.set_option("effort", "medium")).await.unwrap_err();
    assert_eq!(refused.to_string(), "Not for this model");
    let options = json!(talk.with.messages().config_options);
    assert_eq!((&options[0]["currentValue"], &options[1]["currentValue"]), (&json!(true), &json!("low")));
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}
