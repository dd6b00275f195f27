//! A choice that goes on without who made it, without the agent it was made for, or not at all.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sidekicks_acp::AgentName;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::{AgentProfile, RequestError};
use tokio::time::{Instant, timeout};

use super::common::{answers, options, settled, talk, talk_counting, talk_to, talk_with, within};
use super::{answered_in, choose, mode_of, obeys, opens};

#[tokio::test(start_paused = true)]
async fn a_choice_that_nobody_waits_for_any_more_is_seen_through() {
    let talk = talk_counting(async |start, mut peer: Peer| {
        opens(&mut peer).await;
        if start == 0 {
            answers(&mut peer, "One.").await;
        }
        let set = peer.expect("session/set_mode").await;
        assert_eq!(set["params"]["modeId"], "yolo");
        for _ in 0..5 {
            settled().await;
        }
        peer.reply(&set, json!({})).await;
        answers(&mut peer, "Two.").await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    choose(&talk, "yolo").await.abort();
    settled().await;
    assert_eq!(mode_of(&talk), "ask");
    for _ in 0..5 {
        settled().await;
    }
    assert_eq!(mode_of(&talk), "yolo");
    for text in ["2", "3"] {
        talk.with.send(text).unwrap();
        talk.idle().await;
        assert_eq!(mode_of(&talk), "yolo");
        settled().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_choice_outlives_an_agent_that_is_stopped_meanwhile() {
    let starts = Arc::new(Mutex::new(0));
    let agent = testing::agent(async move |mut peer: Peer| {
        opens(&mut peer).await;
        let first = std::mem::replace(&mut *starts.lock().unwrap(), 1) == 0;
        if first {
            answers(&mut peer, "One.").await;
            return peer.farewell().await; // It does not answer.
        }
        let mut mode = String::new();
        while let Some(prompt) = obeys(&mut peer, &mut mode).await {
            peer.say("s1", &mode).await;
            peer.end_turn(&prompt, "end_turn").await;
        }
    });
    let talk = talk_to(agent.clone(), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    let choosing = choose(&talk, "yolo").await;
    within(agent.stop()).await;
    within(choosing).await.unwrap().unwrap();
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(answered_in(&talk), ["text yolo"]);
}

#[test]
fn nothing_is_chosen_where_the_runtime_is_gone() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let first = runtime();
    let talk = first.block_on(async {
        let talk = talk(async |mut peer: Peer| {
            opens(&mut peer).await;
            answers(&mut peer, "One.").await;
            peer.farewell().await;
        });
        talk.with.send("1").unwrap();
        talk.idle().await;
        talk
    });
    drop(first);
    runtime().block_on(async {
        for refused in [
            within(talk.with.set_mode("yolo")).await,
            within(talk.with.set_model("big")).await,
            within(talk.with.set_option("effort", "high")).await,
            within(talk.with.authenticate("key")).await,
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, RequestError::Closed), "{error:?}");
            assert_eq!(error.code(), "conversation-closed");
        }
    });
}

#[tokio::test(start_paused = true)]
async fn the_session_is_asked_and_not_who_came_after_its_agent() {
    let agent = testing::agent(async |mut peer: Peer| {
        opens(&mut peer).await;
        answers(&mut peer, "Hello.").await;
        let setting = peer.expect("session/set_mode").await;
        peer.reply(&setting, json!({})).await;
        peer.farewell().await;
    });
    let starts = Arc::new(Mutex::new(0));
    let started = Arc::clone(&starts);
    let other = testing::agent(async move |mut peer: Peer| {
        *started.lock().unwrap() += 1;
        peer.farewell().await;
    });
    let now = Arc::new(Mutex::new(AgentProfile::new(agent, "/")));
    let there = Arc::clone(&now);
    let talk = talk_with(move |_: &AgentName| Some(there.lock().unwrap().clone()), options());
    talk.with.send("Go").unwrap();
    talk.idle().await;
    *now.lock().unwrap() = AgentProfile::new(other, "/");
    within(talk.with.set_mode("yolo")).await.unwrap();
    assert_eq!(*starts.lock().unwrap(), 0, "nobody is started for it");
}

#[tokio::test(start_paused = true)]
async fn what_nobody_waits_for_any_more_keeps_nothing_alive() {
    let talk = talk(async |mut peer: Peer| {
        opens(&mut peer).await;
        answers(&mut peer, "Hello.").await;
        peer.expect("session/set_mode").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    assert!(timeout(Duration::from_secs(1), talk.with.set_mode("yolo")).await.is_err(), "it is not answered");
    let mut events = talk.all.subscribe();
    drop(talk);
    let begun = Instant::now();
    while within(events.next()).await.is_some() {}
    assert!(begun.elapsed() < Duration::from_secs(1), "no answer is waited for");
}
