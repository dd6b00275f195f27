//! Somebody chooses a mode while another choice is on its way, or in a turn.

#[path = "../common/mod.rs"]
mod common;
mod outliving;
mod waiting;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use common::{
    OPTIONS, OneAtATime, Talk, answers, name, options, ready, settled, talk, talk_counting, talk_with, within,
};
use serde_json::{Value, json};
use sidekicks_acp::AgentName;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::{AgentProfile, RequestError};

/// Shakes hands and opens a session in mode `ask`, which offers `yolo` too.
async fn opens(peer: &mut Peer) {
    peer.shake_hands().await;
    let open = peer.expect("session/new").await;
    peer.reply(&open, json!({"sessionId": "s1", "modes": modes()})).await;
}

fn modes() -> Value {
    json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "yolo", "name": "Yolo"}]})
}

/// Does as it is told at once; gives the next message that is no choice.
async fn obeys(peer: &mut Peer, mode: &mut String) -> Option<Value> {
    loop {
        let message = peer.hear().await?;
        let Some(chosen) = message["params"]["modeId"].as_str() else { return Some(message) };
        *mode = chosen.to_owned();
        peer.reply(&message, json!({})).await;
    }
}

/// Chooses without waiting for what comes of it, but until the agent was asked.
async fn choose(talk: &Talk, mode: &'static str) -> tokio::task::JoinHandle<Result<(), RequestError>> {
    let with = talk.with.clone();
    let choosing = tokio::spawn(async move { with.set_mode(mode).await });
    settled().await;
    choosing
}

fn mode_of(talk: &Talk) -> String {
    talk.with.messages().modes.as_ref().map(|modes| modes.current_mode_id.to_string()).unwrap_or_default()
}

fn answered_in(talk: &Talk) -> Vec<String> {
    talk.answer().parts.iter().map(common::part_word).collect()
}

#[tokio::test(start_paused = true)]
async fn the_last_choice_wins_in_whatever_order_they_are_answered() {
    for last_first in [false, true] {
        let prompted_in = Arc::new(Mutex::new(Vec::new()));
        let prompts = Arc::clone(&prompted_in);
        let talk = talk(async move |mut peer: Peer| {
            opens(&mut peer).await;
            answers(&mut peer, "One.").await;
            let mut choices = vec![peer.expect("session/set_mode").await, peer.expect("session/set_mode").await];
            if last_first {
                choices.reverse();
            }
            let mut mode = String::new();
            for choice in choices {
                mode = choice["params"]["modeId"].as_str().unwrap().to_owned();
                peer.reply(&choice, json!({})).await;
            }
            while let Some(prompt) = obeys(&mut peer, &mut mode).await {
                prompts.lock().unwrap().push(mode.clone());
                peer.end_turn(&prompt, "end_turn").await;
            }
        });
        talk.with.send("1").unwrap();
        talk.idle().await;
        let first = choose(&talk, "yolo").await;
        let last = choose(&talk, "ask").await;
        within(first).await.unwrap().unwrap();
        within(last).await.unwrap().unwrap();
        assert_eq!(mode_of(&talk), "ask", "{last_first}");
        talk.with.send("2").unwrap();
        talk.idle().await;
        assert_eq!(*prompted_in.lock().unwrap(), ["ask"], "{last_first}");
        assert_eq!(mode_of(&talk), "ask");
    }
}

#[tokio::test(start_paused = true)]
async fn a_choice_that_was_overtaken_holds_where_the_later_one_is_refused() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&heard);
    let talk = talk_counting(async move |start, mut peer: Peer| {
        opens(&mut peer).await;
        if start == 0 {
            answers(&mut peer, "One.").await;
            let (first, last) = (peer.expect("session/set_mode").await, peer.expect("session/set_mode").await);
            peer.reply(&first, json!({})).await;
            peer.refuse(&last, json!({"code": -32602, "message": "not now"})).await;
            return settled().await;
        }
        let set = peer.expect("session/set_mode").await;
        asked.lock().unwrap().push(set["params"]["modeId"].clone());
        peer.reply(&set, json!({})).await;
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    let first = choose(&talk, "yolo").await;
    let last = choose(&talk, "ask").await;
    within(first).await.unwrap().unwrap();
    assert!(within(last).await.unwrap().is_err());
    assert_eq!(mode_of(&talk), "yolo");
    settled().await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(*heard.lock().unwrap(), ["yolo"]);
}

#[tokio::test(start_paused = true)]
async fn a_choice_made_back_after_a_setting_that_was_given_up_is_asked_for() {
    let mut profile = AgentProfile::new(
        testing::agent(async |mut peer: Peer| {
            opens(&mut peer).await;
            peer.expect("session/set_mode").await; // And never answers.
            let back = peer.expect("session/set_mode").await;
            assert_eq!(back["params"]["modeId"], "ask");
            peer.reply(&back, json!({})).await;
            answers(&mut peer, "Hello.").await;
            peer.farewell().await;
        }),
        "/work",
    );
    profile.mode = Some("yolo".to_owned());
    let talk = talk_with(HashMap::from([(name(), profile)]), options());
    talk.with.send("1").unwrap();
    settled().await;
    talk.with.stop();
    talk.idle().await;
    within(talk.with.set_mode("ask")).await.unwrap();
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(start_paused = true)]
async fn a_choice_made_back_while_a_turn_begins_is_asked_for_before_its_prompt() {
    let talk = talk(async |mut peer: Peer| {
        opens(&mut peer).await;
        answers(&mut peer, "One.").await;
        let (first, last) = (peer.expect("session/set_mode").await, peer.expect("session/set_mode").await);
        assert_eq!(last["params"]["modeId"], "ask");
        peer.reply(&first, json!({})).await;
        peer.reply(&last, json!({})).await;
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    talk.with.set_mode("ask").await.unwrap();
    talk.with.send("1").unwrap();
    talk.idle().await;
    let _choosing = choose(&talk, "yolo").await;
    talk.with.send("2").unwrap();
    within(talk.with.set_mode("ask")).await.unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
    assert_eq!(mode_of(&talk), "ask");
}

#[tokio::test(start_paused = true)]
async fn what_is_configured_is_asked_for_again_after_a_choice_that_was_not_answered() {
    let agent = testing::agent(async |mut peer: Peer| {
        opens(&mut peer).await;
        answers(&mut peer, "One.").await;
        peer.expect("session/set_mode").await; // And never answers.
        let again = peer.expect("session/set_mode").await;
        assert_eq!(again["params"]["modeId"], "ask");
        peer.reply(&again, json!({})).await;
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    let talk = talk_with(HashMap::from([(name(), AgentProfile::new(agent, "/").mode("ask"))]), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    assert_eq!(within(talk.with.set_mode("yolo")).await.unwrap_err().code(), "timeout");
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(start_paused = true)]
async fn a_choice_is_forgotten_with_the_conversation() {
    let talk = talk(async |mut peer: Peer| {
        opens(&mut peer).await;
        answers(&mut peer, "One.").await;
        let choice = peer.expect("session/set_mode").await;
        settled().await;
        settled().await;
        peer.reply(&choice, json!({})).await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s2", "modes": modes()})).await;
        let prompt = peer.expect("session/prompt").await; // Without a choice before it.
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    let choosing = choose(&talk, "yolo").await;
    within(talk.all.forget()).await;
    within(choosing).await.unwrap().unwrap();
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
    assert_eq!(mode_of(&talk), "ask");
}

#[tokio::test(start_paused = true)]
async fn a_mode_is_set_in_a_turn_and_under_a_question() {
    let agent = testing::agent(async |mut peer: Peer| {
        opens(&mut peer).await;
        let prompt = peer.expect("session/prompt").await;
        let set = peer.expect("session/set_mode").await;
        peer.reply(&set, json!({})).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.ask(&json!(1), "s1", json!({"toolCallId": "t"}), OPTIONS).await;
        let set = peer.expect("session/set_mode").await;
        peer.reply(&set, json!({})).await;
        peer.farewell().await;
    });
    let connector = OneAtATime::new(agent);
    let mut talk = talk_with(HashMap::from([(name(), AgentProfile::new(connector, "/"))]), options());
    talk.with.send("1").unwrap();
    talk.until_told("answering").await;
    within(talk.with.set_mode("yolo")).await.unwrap();
    talk.asked().await;
    talk.idle().await;
    settled().await;
    within(talk.with.set_mode("ask")).await.unwrap();
    assert_eq!(mode_of(&talk), "ask");
    assert_eq!(talk.with.messages().permissions.len(), 1, "the question is open");
}

#[tokio::test(start_paused = true)]
async fn what_is_chosen_while_a_turn_waits_for_the_agent_is_set_before_its_prompt() {
    let agent = testing::agent(async |mut peer: Peer| {
        opens(&mut peer).await;
        answers(&mut peer, "One.").await;
        let set = peer.expect("session/set_mode").await;
        peer.reply(&set, json!({})).await;
        peer.expect("session/prompt").await; // And never ends.
        peer.farewell().await;
    });
    let connector = OneAtATime::new(agent);
    let place = Arc::clone(&connector.place);
    let mut talk = talk_with(HashMap::from([(name(), AgentProfile::new(connector, "/"))]), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    talk.told().await;
    let taken = place.acquire_owned().await.unwrap();
    talk.with.send("2").unwrap();
    settled().await;
    within(talk.with.set_mode("yolo")).await.unwrap();
    assert!(matches!(within(talk.with.set_mode("plan")).await, Err(RequestError::NotOffered { .. })));
    drop(taken);
    talk.until_told("answering").await;
    assert_eq!(mode_of(&talk), "yolo");
}

#[tokio::test(start_paused = true)]
async fn that_what_nobody_wants_any_more_is_refused_is_no_matter() {
    let agent = testing::agent(async |mut peer: Peer| {
        opens(&mut peer).await;
        let configured = peer.expect("session/set_mode").await;
        let chosen = peer.expect("session/set_mode").await;
        assert_eq!(chosen["params"]["modeId"], "ask");
        peer.refuse(&configured, json!({"code": -32602, "message": "not now"})).await;
        settled().await;
        peer.reply(&chosen, json!({})).await;
        answers(&mut peer, "Hello.").await;
        peer.farewell().await;
    });
    let talk = talk_with(HashMap::from([(name(), AgentProfile::new(agent, "/").mode("yolo"))]), options());
    talk.with.send("1").unwrap();
    settled().await;
    within(talk.with.set_mode("ask")).await.unwrap();
    talk.idle().await;
    assert_eq!((answered_in(&talk), &*mode_of(&talk)), (vec!["text Hello.".to_owned()], "ask"));
}

#[tokio::test(start_paused = true)]
async fn what_is_chosen_after_a_reload_goes_before_it() {
    let agent = testing::agent(async |mut peer: Peer| {
        opens(&mut peer).await;
        answers(&mut peer, "One.").await;
        answers(&mut peer, "Two.").await; // Nothing is asked in between.
        let set = peer.expect("session/set_mode").await;
        assert_eq!(set["params"]["modeId"], "yolo");
        peer.reply(&set, json!({})).await;
        answers(&mut peer, "Three.").await;
        peer.farewell().await;
    });
    let now = Arc::new(Mutex::new(AgentProfile::new(agent, "/")));
    let there = Arc::clone(&now);
    let talk = talk_with(move |_: &AgentName| Some(there.lock().unwrap().clone()), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    now.lock().unwrap().mode = Some("yolo".to_owned());
    within(talk.with.set_mode("ask")).await.unwrap();
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!((talk.answer().stop_reason.as_deref(), &*mode_of(&talk)), (Some("end_turn"), "ask"));
    // And what is configured after it, before it.
    for mode in [None, Some("yolo".to_owned())] {
        now.lock().unwrap().mode = mode;
        let _ = talk.with.set_option("none", true).await.unwrap_err(); // The directory is looked at.
    }
    talk.with.send("3").unwrap();
    talk.idle().await;
    assert_eq!(mode_of(&talk), "yolo");
}

#[tokio::test(start_paused = true)]
async fn one_who_follows_and_does_not_read_can_choose() {
    let talk = talk(async |mut peer: Peer| {
        opens(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say_often("s1", 3000, 4).await;
        let set = peer.expect("session/set_mode").await;
        peer.reply(&set, json!({})).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let mut events = talk.with.follow();
    talk.with.send("1").unwrap();
    settled().await;
    within(talk.with.set_mode("yolo")).await.unwrap();
    assert!(talk.with.messages().turn.busy, "the end of the turn is not heard yet");
    tokio::spawn(async move { while events.next().await.is_some() {} });
    talk.idle().await;
    assert_eq!(mode_of(&talk), "yolo");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_answered_yet_is_not_doubted() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "One").await;
        let set = peer.expect("session/set_mode").await;
        peer.say("s1", " two").await;
        settled().await;
        peer.refuse(&set, json!({"code": -32602, "message": "no such mode"})).await;
        // One that lists no modes says yes to anything.
        let set = peer.expect("session/set_mode").await;
        peer.say("s1", " three").await;
        peer.reply(&set, json!({})).await;
        settled().await;
        peer.say("s1", " four").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.until_told("m2.0 +One").await;
    assert!(within(talk.with.set_mode("plan")).await.is_err());
    within(talk.with.set_mode("ask")).await.unwrap();
    talk.idle().await;
    let mut story = talk.story().await;
    story.retain(|word| word.contains('+') || word.contains("unconfirmed"));
    assert_eq!(story, ["m2.0 +One", "m2.0 + two", "m2.0 + three", "m3 mode-unconfirmed", "m2.0 + four"]);
}
