//! Forgetting, in the middle of everything.

mod common;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{
    OPTIONS, OneAtATime, Talk, answers, chunk, name, options, ready, settled, talk, talk_to, talk_with, within, word,
};
use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{Borrow, Connector};
use sidekicks_conversations::{AgentProfile, AnswerError, SendError, Transcript};
use tokio::time::timeout;

fn forgotten() -> Transcript {
    let mut forgotten = Transcript::new(name());
    forgotten.removed = true;
    forgotten
}

#[tokio::test(start_paused = true)]
async fn what_was_said_is_gone_and_a_handle_that_is_held_begins_anew() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        peer.open("s2").await;
        let prompt = peer.prompted().await;
        peer.say("s2", "Two.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let sent = talk.with.send("1").unwrap();
    talk.idle().await;
    talk.told().await;
    within(talk.all.forget()).await;
    within(talk.all.forget()).await;
    assert_eq!(talk.story().await, ["reset"]);
    assert_eq!(*talk.with.messages(), forgotten());
    assert_eq!(talk.with.resend(&sent), Err(SendError::NoSuchMessage));
    // Those who come later hear nothing of it.
    let mut later = talk.all.subscribe();
    talk.with.send("2").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert_eq!(
        story,
        ["reset", "m3 user", "starting", "m4 agent", "answering", "m4.0 +Two.", "m4 agent end_turn", "idle"],
        "no id is used again, and nothing is said to be restarted"
    );
    assert_eq!(word(&within(later.next()).await.unwrap()), "reset");
    assert_eq!(word(&within(later.next()).await.unwrap()), "m3 user");
    let again = talk.all.with(&name()).unwrap();
    assert_eq!(*again.messages(), *talk.with.messages());
}

/// A conversation that is in this state, and is forgotten in it.
async fn forgotten_in(state: &str) -> (Talk, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::clone(&heard);
    let stop_at = state.to_owned();
    let mut talk = talk(async move |mut peer: Peer| {
        peer.shake_hands_with(json!({"sessionCapabilities": {"close": {}}})).await;
        let mut prompt = Value::Null;
        while let Some(message) = peer.hear().await {
            let method = message["method"].as_str().unwrap_or("answer").to_owned();
            calls.lock().unwrap().push(method.clone());
            match method.as_str() {
                "session/new" if stop_at == "opening" => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    peer.reply(&message, json!({"sessionId": "s1"})).await;
                }
                "session/new" => peer.reply(&message, json!({"sessionId": "s1"})).await,
                "session/prompt" => {
                    prompt = message;
                    peer.say("s1", "Work").await;
                    if stop_at == "asking" {
                        peer.ask(&json!(1), "s1", json!({"toolCallId": "t", "title": "rm"}), OPTIONS).await;
                    }
                    if stop_at == "between turns" {
                        peer.end_turn(&prompt, "end_turn").await;
                    }
                }
                "session/cancel" => {
                    peer.say("s1", "ing").await;
                    peer.end_turn(&prompt, "cancelled").await;
                    peer.say("s1", "late").await;
                }
                "session/close" => peer.reply(&message, json!({})).await,
                _ => {}
            }
        }
    });
    talk.with.send("1").unwrap();
    talk.with.send("2").unwrap();
    match state {
        "opening" => settled().await,
        "between turns" => {
            talk.with.stop();
            talk.idle().await;
            talk.with.send("3").unwrap();
            talk.idle().await;
        }
        "asking" => drop(talk.asked().await),
        _ => talk.until(|event| word(event).ends_with("+Work").then_some(())).await,
    }
    talk.told().await;
    heard.lock().unwrap().clear();
    within(talk.all.forget()).await;
    (talk, heard)
}

#[tokio::test(start_paused = true)]
async fn nothing_of_the_old_is_heard_whatever_was_going_on() {
    let cases: [(&str, &[&str], &[&str]); 4] = [
        ("opening", &["reset"], &[]),
        ("answering", &["reset"], &["session/cancel", "session/close"]),
        ("asking", &["p4 cancelled by stop", "reset"], &["answer", "session/cancel", "session/close"]),
        ("between turns", &["reset"], &["session/close"]),
    ];
    for (state, told, heard) in cases {
        let (mut talk, heard_of_it) = forgotten_in(state).await;
        let mut calls = std::mem::take(&mut *heard_of_it.lock().unwrap());
        calls.sort(); // A cancel overtakes the answer to a question.
        assert_eq!(talk.story().await, told, "{state}");
        assert_eq!(calls, heard, "{state}");
        assert_eq!(*talk.with.messages(), forgotten(), "{state}");
        assert!(timeout(Duration::ZERO, talk.with.idle()).await.is_ok(), "{state}");
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(talk.story().await, [""; 0], "{state}: and nothing comes late");
        let late: &[&str] = if state == "opening" { &["session/close"] } else { &[] };
        assert_eq!(*heard_of_it.lock().unwrap(), late, "{state}: a session that nobody wants any more is closed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_forgotten_cannot_be_answered() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.ask(&json!(1), "s1", json!({"toolCallId": "t"}), OPTIONS).await;
        assert_eq!(peer.answer(&json!(1)).await["result"]["outcome"]["outcome"], "cancelled");
        peer.end_turn(&prompt, "cancelled").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    let permission = talk.asked().await;
    within(talk.all.forget()).await;
    assert_eq!(talk.with.answer(&permission.id, "yes"), Err(AnswerError::AlreadyResolved));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_obey_is_stopped_and_its_successor_knows_nothing() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        if prompt["params"]["prompt"][0]["text"] == "1" {
            peer.say("s1", "Work").await;
            return peer.farewell().await; // It never ends the turn.
        }
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let mut talk = talk_to(agent.clone(), options());
    talk.with.send("1").unwrap();
    talk.until_told("m2.0 +Work").await;
    talk.told().await;
    let begun = tokio::time::Instant::now();
    within(talk.all.forget()).await;
    assert_eq!(begun.elapsed().as_secs(), 10, "it had its time");
    talk.with.send("2").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert_eq!(
        story,
        ["reset", "reset", "m3 user", "starting", "m4 agent", "answering", "m4 agent end_turn empty", "idle"]
    );
    let lease = agent.borrow(Borrow::by("a test")).await.unwrap();
    assert_eq!(lease.generation().0, 2);
}

#[tokio::test(start_paused = true)]
async fn the_old_turn_may_still_run_while_the_new_one_does() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let old = peer.prompted().await;
        peer.say("s1", "Old").await;
        peer.expect("session/cancel").await;
        peer.open("s2").await;
        let new = peer.prompted().await;
        peer.update("s1", chunk("old")).await;
        peer.say("s2", "New").await;
        peer.end_turn(&old, "cancelled").await;
        peer.say("s2", "new").await;
        peer.end_turn(&new, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.until_told("m2.0 +Old").await;
    talk.told().await;
    // Begun, and given up: forgetting goes on.
    timeout(Duration::ZERO, talk.all.forget()).await.unwrap_err();
    talk.with.send("2").unwrap();
    talk.idle().await;
    let said: Vec<_> = talk.story().await.into_iter().filter(|word| word.contains('+')).collect();
    assert_eq!(said, ["m4.0 +New", "m4.0 +new"]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_in_no_file_any_more_is_not_there_after_it() {
    let there = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let agent = testing::agent(async |mut peer: Peer| peer.farewell().await);
    let known = Arc::clone(&there);
    let find = move |_: &sidekicks_acp::AgentName| {
        known
            .load(std::sync::atomic::Ordering::Relaxed)
            .then(|| sidekicks_conversations::AgentProfile::new(agent.clone(), "/"))
    };
    let talk = common::talk_with(find, options());
    there.store(false, std::sync::atomic::Ordering::Relaxed);
    assert!(talk.all.with(&name()).is_some(), "what was said can still be read");
    within(talk.all.forget()).await;
    assert!(talk.all.with(&name()).is_none());
    assert_eq!(talk.with.send("x"), Err(SendError::NoSuchAgent));
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_meanwhile_waits_for_the_old_turn_and_not_for_itself() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.expect("session/cancel").await;
        peer.end_turn(&prompt, "cancelled").await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s2"})).await;
        let prompt = peer.prompted().await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let connector = OneAtATime::new(agent);
    let owners = Arc::clone(&connector.owners);
    let mut talk = talk_with(HashMap::from([(name(), AgentProfile::new(connector, "/"))]), options());
    talk.with.send("1").unwrap();
    talk.until_told("answering").await;
    // Polled once, and dropped.
    assert!(tokio::time::timeout(Duration::ZERO, tokio::task::unconstrained(talk.all.forget())).await.is_err());
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
    let owners = owners.lock().unwrap().clone();
    assert!(
        owners.len() == 2 && owners[0] != owners[1],
        "who waits for a lease of their own waits for ever: {owners:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_never_closes_a_session_is_not_waited_for() {
    let talk = talk(async |mut peer: Peer| {
        peer.shake_hands_with(json!({"sessionCapabilities": {"close": {}}})).await;
        peer.open("s1").await;
        answers(&mut peer, "Hello.").await;
        peer.expect("session/close").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let begun = tokio::time::Instant::now();
    within(talk.all.forget()).await;
    assert_eq!(begun.elapsed().as_secs(), 10, "for as long as for the end of a turn");
}
