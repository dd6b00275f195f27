//! Modes, models and options: configured or chosen, set before anything is said, confirmed or not.

mod common;

use std::sync::{Arc, Mutex};

use common::{Talk, answers, chunk, options, ready, talk, talk_with, within};
use serde_json::{Value, json};
use sidekicks_acp::AgentName;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::{AgentProfile, RequestError};

fn modes() -> Value {
    json!({"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "Auto"}, {"id": "ask", "name": "Ask"}]})
}

fn select(id: &str, current: &str, choices: &[&str]) -> Value {
    let choices: Vec<_> = choices.iter().map(|choice| json!({"value": choice, "name": choice})).collect();
    json!({"id": id, "name": id, "category": id, "type": "select", "currentValue": current, "options": choices})
}

fn mode_update(mode: &str) -> Value {
    json!({"sessionUpdate": "current_mode_update", "currentModeId": mode})
}

fn options_update(options: Value) -> Value {
    json!({"sessionUpdate": "config_option_update", "configOptions": options})
}

/// A conversation with an agent that is to be in mode `ask` and to work with model `small`, where they are named.
fn configured<F, S>(mode: Option<&str>, model: Option<&str>, script: F) -> Talk
where
    F: FnOnce(Peer) -> S + Clone + Send + Sync + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let mut profile = AgentProfile::new(testing::agent(script), "/work");
    (profile.mode, profile.model) = (mode.map(str::to_owned), model.map(str::to_owned));
    talk_with(move |_: &AgentName| Some(profile.clone()), options())
}

/// What an agent does when it is asked for mode `ask`.
#[derive(Debug, Clone)]
enum Says {
    /// Updates before its yes, and updates after it.
    Yes(Vec<Value>, Vec<Value>),
    No,
}

/// What is told of a turn in which `session` was opened, and the mode `ask` was asked for.
async fn asked_for(session: Value, says: Says) -> Vec<String> {
    let mut talk = configured(Some("ask"), None, async move |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        let mut answer = json!({"sessionId": "s1"});
        answer.as_object_mut().unwrap().extend(session.as_object().unwrap().clone());
        peer.reply(&open, answer).await;
        let set = peer.hear().await.unwrap();
        match says {
            Says::Yes(before, after) => {
                for update in before {
                    peer.update("s1", update).await;
                }
                peer.reply(&set, json!({})).await;
                for update in after {
                    peer.update("s1", update).await;
                }
            }
            Says::No => peer.refuse(&set, json!({"code": -32602, "message": "no such mode"})).await,
        }
        answers(&mut peer, "Hello.").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    let system = |word: &&String| word.contains("unconfirmed") || word.contains("failed") || word.contains('+');
    let mut told: Vec<String> = story.iter().filter(system).cloned().collect();
    let transcript = talk.with.messages();
    let doubts = transcript.messages.iter().filter(|message| message.code.is_some());
    told.extend(doubts.map(|message| json!(message.params).to_string()));
    told
}

#[tokio::test(start_paused = true)]
async fn a_mode_is_confirmed_in_every_form() {
    let (yes, no) = (mode_update("ask"), mode_update("off"));
    let option = |current: &str| options_update(json!([select("mode", current, &["auto", "ask"])]));
    let text = chunk("[MODE_UPDATE] ask");
    let with_modes = json!({ "modes": modes() });
    let with_options = json!({"configOptions": [select("mode", "auto", &["auto", "ask"])]});
    let nothing = json!({});
    let fine = vec!["m2.0 +Hello."];
    let doubt = |params: &'static str| vec!["m2.0 +Hello.", "m3 mode-unconfirmed", params];
    // A doubt is told when the answer begins, just before its first words.
    let doubted = |params: &'static str| {
        let mut doubt = doubt(params);
        doubt.swap(0, 1);
        doubt
    };
    let cases: Vec<(&Value, Says, Vec<&str>)> = vec![
        (&with_modes, Says::Yes(vec![], vec![]), fine.clone()),
        (&with_modes, Says::Yes(vec![yes.clone()], vec![]), fine.clone()),
        (&with_modes, Says::Yes(vec![], vec![yes.clone()]), fine.clone()),
        (&with_modes, Says::Yes(vec![], vec![text.clone()]), fine.clone()),
        (&with_modes, Says::Yes(vec![text.clone()], vec![]), fine.clone()),
        (&with_modes, Says::Yes(vec![option("ask")], vec![]), fine.clone()),
        (&with_modes, Says::Yes(vec![], vec![no.clone()]), doubted(r#"{"wanted":"ask","current":"off"}"#)),
        (&with_modes, Says::Yes(vec![], vec![option("auto")]), doubted(r#"{"wanted":"ask","current":"auto"}"#)),
        (&with_modes, Says::Yes(vec![mode_update("auto")], vec![]), doubted(r#"{"wanted":"ask","current":"auto"}"#)),
        (&with_modes, Says::Yes(vec![no.clone()], vec![]), doubted(r#"{"wanted":"ask","current":"off"}"#)),
        (&with_modes, Says::Yes(vec![no.clone()], vec![yes.clone()]), fine.clone()),
        (&with_modes, Says::Yes(vec![], vec![mode_update("auto")]), doubted(r#"{"wanted":"ask","current":"auto"}"#)),
        (&with_modes, Says::Yes(vec![mode_update("auto")], vec![yes.clone()]), fine.clone()),
        (&with_modes, Says::No, vec!["m1 user not sent failed: mode-refused"]),
        (&with_options, Says::Yes(vec![], vec![]), fine.clone()),
        (&with_options, Says::Yes(vec![], vec![option("ask")]), fine.clone()),
        (&with_options, Says::Yes(vec![], vec![option("auto")]), doubted(r#"{"wanted":"ask","current":"auto"}"#)),
        // One that offers nothing may say yes to anything.
        (&nothing, Says::Yes(vec![], vec![]), doubted(r#"{"wanted":"ask"}"#)),
        (&nothing, Says::Yes(vec![yes.clone()], vec![]), fine.clone()),
        (&nothing, Says::Yes(vec![], vec![yes]), fine.clone()),
        (&nothing, Says::Yes(vec![], vec![text]), fine),
        (&nothing, Says::No, vec!["m1 user not sent failed: mode-refused"]),
    ];
    for (session, says, expected) in cases {
        let told = asked_for(session.clone(), says.clone()).await;
        assert_eq!(told, expected, "{session} {says:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_offered_is_refused_before_anything_is_said() {
    let script = async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        let models = json!({"currentModelId": "big", "availableModels": [{"modelId": "big"}, {"modelId": "small"}]});
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes(), "models": models})).await;
        assert_eq!(peer.hear().await, None, "nothing is said to it");
    };
    let cases = [
        (Some("yolo"), None, "mode-refused", "yolo", vec!["auto", "ask"]),
        (None, Some("huge"), "model-refused", "huge", vec!["big", "small"]),
    ];
    for (mode, model, code, wanted, offered) in cases {
        let mut talk = configured(mode, model, script);
        talk.with.send("Go").unwrap();
        talk.with.send("On").unwrap();
        talk.idle().await;
        talk.told().await;
        let transcript = talk.with.messages();
        assert!(transcript.messages.iter().all(|message| message.not_sent), "the queue does not go on");
        let error = transcript.messages[0].error.clone().unwrap();
        assert_eq!((error.code.as_str(), error.wanted.as_deref(), error.prompt_sent), (code, Some(wanted), false));
        assert_eq!(error.offered.unwrap(), offered);
    }
}

#[tokio::test(start_paused = true)]
async fn mode_and_model_are_set_once_and_again_where_they_change() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::clone(&heard);
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        let models = json!({"currentModelId": "big", "availableModels": [{"modelId": "big"}, {"modelId": "small"}]});
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes(), "models": models})).await;
        while let Some(message) = peer.hear().await {
            let params = &message["params"];
            let what = [&params["modeId"], &params["modelId"], &params["prompt"][0]["text"]];
            let what = what.iter().find_map(|value| value.as_str()).unwrap();
            calls.lock().unwrap().push(format!("{} {what}", message["method"].as_str().unwrap()));
            match message["method"].as_str() {
                Some("session/prompt") => peer.end_turn(&message, "end_turn").await,
                _ => peer.reply(&message, json!({})).await,
            }
        }
    });
    let profile = Arc::new(Mutex::new(AgentProfile::new(agent, "/").mode("ask").model("small")));
    let found = Arc::clone(&profile);
    let talk = talk_with(move |_: &AgentName| Some(found.lock().unwrap().clone()), options());
    let turn = async |text: &str| {
        talk.with.send(text).unwrap();
        talk.idle().await;
        std::mem::take(&mut *heard.lock().unwrap())
    };
    assert_eq!(turn("1").await, ["session/set_model small", "session/set_mode ask", "session/prompt 1"]);
    assert_eq!(turn("2").await, ["session/prompt 2"]);
    profile.lock().unwrap().mode = Some("auto".to_owned());
    assert_eq!(turn("3").await, ["session/set_mode auto", "session/prompt 3"]);
    // What somebody chooses holds until something else is configured.
    within(talk.with.set_mode("ask")).await.unwrap();
    within(talk.with.set_mode("ask")).await.unwrap();
    assert_eq!(turn("4").await, ["session/set_mode ask", "session/prompt 4"]);
    profile.lock().unwrap().mode = None;
    assert_eq!(turn("5").await, ["session/prompt 5"]);
    profile.lock().unwrap().mode = Some("auto".to_owned());
    assert_eq!(turn("6").await, ["session/set_mode auto", "session/prompt 6"]);
    let modes = talk.with.messages().modes.clone().unwrap();
    assert_eq!(&*modes.current_mode_id.0, "auto");
}

#[tokio::test(start_paused = true)]
async fn somebody_chooses_in_and_between_turns_and_before_the_first() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::clone(&heard);
    let talk = common::talk_counting(async move |start, mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        let effort = select("effort", "low", &["low", "high"]);
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes(), "configOptions": [effort]})).await;
        let mut prompt = None;
        while let Some(message) = peer.hear().await {
            let params = &message["params"];
            let what = [&params["modeId"], &params["value"]].iter().find_map(|value| value.as_str());
            calls.lock().unwrap().push(format!(
                "{start}: {} {}",
                message["method"].as_str().unwrap(),
                what.unwrap_or("")
            ));
            match message["method"].as_str() {
                Some("session/prompt") => prompt = Some(message.clone()),
                Some("session/set_config_option") => {
                    let set = select("effort", "high", &["low", "high"]);
                    peer.reply(&message, json!({"configOptions": [set]})).await;
                }
                _ => peer.reply(&message, json!({})).await,
            }
            // The prompt is answered once something was set in its turn.
            if calls.lock().unwrap().last().is_some_and(|last| last.contains("set_config_option"))
                && let Some(prompt) = prompt.take()
            {
                peer.end_turn(&prompt, "end_turn").await;
            }
            if params["prompt"][0]["text"] == "bye" {
                return peer.end_turn(&prompt.take().unwrap(), "end_turn").await;
            }
        }
    });
    let mut talk = talk;
    assert!(matches!(talk.with.set_option("effort", "high").await, Err(RequestError::NoSession)));
    talk.with.set_mode("ask").await.unwrap();
    talk.with.send("1").unwrap();
    talk.until_told("answering").await;
    let refused = within(talk.with.set_option("effort", "huge")).await;
    assert!(
        matches!(&refused, Err(RequestError::NotOffered { offered, .. }) if offered == &["low", "high"]),
        "{refused:?}"
    );
    within(talk.with.set_option("effort", "high")).await.unwrap();
    talk.idle().await;
    talk.with.send("bye").unwrap();
    talk.until(|event| common::word(event).ends_with("agent-exited").then_some(())).await;
    let told = json!(talk.with.messages().config_options)[0]["currentValue"].clone();
    assert_eq!(told, "high");
    // What is known not to be there is refused although no session is open.
    assert!(matches!(talk.with.set_mode("yolo").await, Err(RequestError::NotOffered { .. })));
    talk.with.send("2").unwrap();
    talk.until_told("answering").await;
    common::settled().await;
    assert_eq!(
        *heard.lock().unwrap(),
        [
            "0: session/set_mode ask",
            "0: session/prompt ",
            "0: session/set_config_option high",
            "0: session/prompt ",
            "1: session/set_mode ask",
            "1: session/set_config_option high",
            "1: session/prompt "
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn stop_while_a_mode_is_set() {
    let mut talk = configured(Some("ask"), None, async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes()})).await;
        peer.expect("session/set_mode").await; // And never answers.
        let set = peer.expect("session/set_mode").await;
        peer.reply(&set, json!({})).await;
        answers(&mut peer, "Hello.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    common::settled().await;
    talk.with.stop();
    talk.idle().await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    let mut story = talk.story().await;
    story.retain(|word| !word.starts_with("offers"));
    assert_eq!(story[2..5], ["starting", "m1 user not sent", "idle"], "{story:?}");
    assert!(story.contains(&"m3 agent end_turn".to_owned()), "{story:?}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_never_answers_a_setting_fails_the_turn() {
    let talk = configured(Some("ask"), None, async |mut peer: Peer| {
        ready(&mut peer).await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    let error = talk.with.messages().messages[0].error.clone().unwrap();
    assert_eq!((error.code.as_str(), error.prompt_sent), ("timeout", false));
}

#[tokio::test(start_paused = true)]
async fn a_choice_that_the_agent_refuses_is_forgotten() {
    let talk = talk(async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes()})).await;
        answers(&mut peer, "One.").await;
        let set = peer.expect("session/set_mode").await;
        peer.refuse(&set, json!({"code": -32602, "message": "not now"})).await;
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    let refused = within(talk.with.set_mode("ask")).await.unwrap_err();
    assert_eq!((refused.code(), refused.to_string().as_str()), ("agent-error", "not now"));
    assert!(matches!(within(talk.with.set_mode("yolo")).await, Err(RequestError::NotOffered { .. })));
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(start_paused = true)]
async fn what_the_agent_refused_is_not_doubted_later() {
    // It offers nothing, so that its yes would not be enough; but it said no.
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        let set = peer.expect("session/set_mode").await;
        peer.refuse(&set, json!({"code": -32601, "message": "no modes here"})).await;
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    talk.told().await;
    assert!(within(talk.with.set_mode("ask")).await.is_err());
    talk.with.send("2").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert_eq!(story, ["m3 user", "starting", "m4 agent", "answering", "m4.0 +Two.", "m4 agent end_turn", "idle"]);
}

#[tokio::test(start_paused = true)]
async fn a_mode_is_not_doubted_because_of_what_is_told_of_the_model() {
    let offer =
        |model: &str| json!([select("model", model, &["big", "small"]), select("mode", "auto", &["auto", "ask"])]);
    let mut talk = configured(Some("ask"), Some("small"), async move |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes(), "configOptions": offer("big")})).await;
        let model = peer.expect("session/set_config_option").await;
        peer.reply(&model, json!({"configOptions": offer("small")})).await;
        let mode = peer.expect("session/set_mode").await;
        // Of the model, and told so late that the mode was asked for meanwhile.
        peer.update("s1", options_update(offer("small"))).await;
        peer.reply(&mode, json!({})).await;
        answers(&mut peer, "Hello.").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert!(!story.iter().any(|word| word.contains("unconfirmed")), "{story:?}");
    assert_eq!(&*talk.with.messages().modes.as_ref().unwrap().current_mode_id.0, "ask");
}

#[tokio::test(start_paused = true)]
async fn an_option_that_the_agent_lists_as_it_was_is_doubted() {
    let offer = || json!([select("mode", "auto", &["auto", "ask"])]);
    let mut talk = configured(Some("ask"), None, async move |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s1", "configOptions": offer()})).await;
        let set = peer.expect("session/set_config_option").await;
        peer.reply(&set, json!({"configOptions": offer()})).await;
        answers(&mut peer, "Hello.").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert!(story.contains(&"m3 mode-unconfirmed".to_owned()), "{story:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_looks_like_the_name_of_a_mode_is_an_answer() {
    let cases = [
        (json!({ "modes": modes() }), "[MODE_UPDATE] ask", None),
        (json!({ "modes": modes() }), "[MODE_UPDATE] ask\n", None),
        (json!({ "modes": modes() }), "[MODE_UPDATE] ask\nHere is more.", Some("auto")),
        (json!({ "modes": modes() }), "[MODE_UPDATE] is what it writes.", Some("auto")),
        (json!({ "modes": modes() }), "Now [MODE_UPDATE] ask", Some("auto")),
        (json!({}), "[MODE_UPDATE] ask", Some("")),
    ];
    for (session, text, mode_of_an_answer) in cases {
        let talk = talk(async move |mut peer: Peer| {
            peer.shake_hands().await;
            let open = peer.expect("session/new").await;
            peer.reply(&open, common::with(json!({"sessionId": "s1"}), session)).await;
            answers(&mut peer, text).await;
            peer.farewell().await;
        });
        talk.with.send("Go").unwrap();
        talk.idle().await;
        let (answer, transcript) = (talk.answer(), talk.with.messages());
        let mode = transcript.modes.as_ref().map_or("", |modes| &*modes.current_mode_id.0);
        let told: Vec<_> = answer.parts.iter().map(common::part_word).collect();
        match mode_of_an_answer {
            Some(expected) => assert_eq!((mode, told), (expected, vec![format!("text {text}")]), "{text}"),
            None => assert_eq!((mode, told), ("ask", vec![]), "{text}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_is_told_without_a_copy_of_what_was_said() {
    let talk = configured(Some("yolo"), None, async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes()})).await;
        peer.farewell().await;
    });
    let Talk { all: _all, with, .. } = talk; // Nobody subscribes.
    with.send("1").unwrap();
    let before = Arc::as_ptr(&with.messages());
    within(with.idle()).await;
    let after = with.messages();
    assert_eq!(after.messages[0].error.as_ref().unwrap().code, "mode-refused");
    assert!(std::ptr::eq(before, Arc::as_ptr(&after)), "the transcript was changed in place");
}
