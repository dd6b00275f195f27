//! Whether the agent does something: silence, failures in a row, room that is waited for, questions between turns.

mod common;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use common::{
    OPTIONS, OneAtATime, Talk, answers, name, options, ready, settled, talk, talk_to, talk_with, tool_call,
    tool_update, within,
};
use serde_json::json;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{AgentName, Borrow, ConnectError, Connector, Lease, SingleAgent};
use sidekicks_conversations::{AgentDirectory, AgentProfile, Event, LOOP_THRESHOLD, Options, Policy, TurnPhase};
use tokio::sync::Semaphore;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn silence_is_told_and_ends_with_the_next_word() {
    let now = Arc::new(AtomicU64::new(1_000));
    let clock = Arc::clone(&now);
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "Work").await;
        sleep(Duration::from_secs(70)).await;
        peer.notify("_session/retrying", json!({"sessionId": "s1"})).await;
        sleep(Duration::from_secs(59)).await;
        // Who is waited for is the person.
        peer.ask(&json!(1), "s1", json!({"toolCallId": "t"}), OPTIONS).await;
        peer.answer(&json!(1)).await;
        sleep(Duration::from_secs(59)).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let mut talk = talk_to(agent, Options::default().clock(move || clock.load(Ordering::Relaxed)));
    talk.with.send("Go").unwrap();
    talk.until_told("m2.0 +Work").await;
    now.store(9_000, Ordering::Relaxed);
    let silent = |event: &Event| match event {
        Event::TurnChanged { turn, .. } => Some((turn.phase, turn.silent_since)),
        _ => None,
    };
    assert_eq!(talk.until(silent).await, (TurnPhase::Answering, Some(1_000)));
    assert_eq!(talk.until(silent).await, (TurnPhase::Answering, None));
    let permission = talk.asked().await;
    talk.told().await;
    sleep(Duration::from_secs(100)).await;
    talk.with.answer(&permission.id, "yes").unwrap();
    talk.idle().await;
    let told: Vec<_> = talk.told().await.iter().filter_map(|event| silent(event)).collect();
    assert_eq!(told, [(TurnPhase::Answering, None), (TurnPhase::Idle, None)], "nothing was told of silence meanwhile");
}

/// How many failures were told of, one after the other.
async fn counts(talk: &mut Talk) -> Vec<u32> {
    let mut counts: Vec<u32> = Vec::new();
    for event in talk.told().await {
        if let Event::TurnChanged { turn, .. } = &*event
            && counts.last() != Some(&turn.failed_tools)
        {
            counts.push(turn.failed_tools);
        }
    }
    counts
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_goes_in_circles_is_told_of() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        for (id, status) in [("a", "failed"), ("b", "failed"), ("c", "completed"), ("d", "failed"), ("e", "failed")] {
            peer.update("s1", tool_call(id, json!({"status": "pending"}))).await;
            peer.update("s1", tool_update(id, json!({ "status": status }))).await;
            peer.update("s1", tool_update(id, json!({"title": "again"}))).await;
        }
        peer.update("s1", tool_call("f", json!({"status": "failed"}))).await;
        peer.end_turn(&prompt, "end_turn").await;
        answers(&mut peer, "Done.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    assert_eq!(counts(&mut talk).await, [0, 1, 2, 0, 1, 2, LOOP_THRESHOLD, 0], "a turn that is over goes in no circle");
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(counts(&mut talk).await, [0]);
}

#[tokio::test(start_paused = true)]
async fn what_the_person_refused_is_no_failure() {
    for (announced, answer) in [(true, "no"), (false, "no"), (true, "never")] {
        let mut talk = talk(async move |mut peer: Peer| {
            ready(&mut peer).await;
            let prompt = peer.prompted().await;
            peer.update("s1", tool_call("t", json!({"status": "pending"}))).await;
            // Some ask by a name that no tool has.
            let asked = if announced { "t" } else { "confirmation-1" };
            let options = [("yes", "allow_once"), ("no", "reject_once"), ("never", "reject_always")];
            peer.ask(&json!(1), "s1", json!({ "toolCallId": asked }), &options).await;
            peer.answer(&json!(1)).await;
            peer.update("s1", tool_update("t", json!({"status": "failed"}))).await;
            // After "reject always" they refuse by themselves, again and again; no card comes.
            for id in ["u", "v", "w"] {
                peer.update("s1", tool_call(id, json!({"status": "failed"}))).await;
            }
            peer.end_turn(&prompt, "end_turn").await;
            peer.farewell().await;
        });
        talk.with.send("1").unwrap();
        let permission = talk.asked().await;
        talk.with.answer(&permission.id, answer).unwrap();
        talk.idle().await;
        assert_eq!(counts(&mut talk).await, [0, 1, 2, LOOP_THRESHOLD, 0], "{announced} {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_person_refused_may_be_a_circle() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        for at in 0..3 {
            let id = format!("t{at}");
            peer.update("s1", tool_call(&id, json!({"status": "pending"}))).await;
            peer.ask(&json!(at), "s1", json!({"toolCallId": id}), OPTIONS).await;
            peer.answer(&json!(at)).await;
            peer.update("s1", tool_update(&id, json!({"status": "failed"}))).await;
        }
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let profile = AgentProfile::new(agent, "/work").policy(Policy::DenyAll);
    let mut talk = talk_with(HashMap::from([(name(), profile)]), options());
    talk.with.send("Go").unwrap();
    talk.idle().await;
    assert_eq!(counts(&mut talk).await, [0, 1, 2, LOOP_THRESHOLD, 0]);
}

/// An agent that is had only where there is room.
struct Roomy {
    agent: SingleAgent,
    room: Arc<Semaphore>,
}

#[async_trait]
impl Connector for Roomy {
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError> {
        if self.room.available_permits() == 0 {
            request.waiting(&["data".to_owned()]);
            let room = self.room.acquire().await.expect("it is open");
            request.waiting(&[]);
            drop(room);
        }
        self.agent.borrow(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_room_learns_for_whom() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "Here.").await;
        peer.farewell().await;
    });
    let room = Arc::new(Semaphore::new(0));
    let connector = Roomy { agent, room: Arc::clone(&room) };
    let mut talk = talk_with(HashMap::from([(name(), AgentProfile::new(connector, "/"))]), options());
    talk.with.send("1").unwrap();
    talk.until_told("waiting").await;
    assert_eq!(talk.with.messages().turn.waiting_for, ["data"]);
    talk.with.stop();
    talk.idle().await;
    talk.told().await;
    talk.with.send("2").unwrap();
    talk.until_told("waiting").await;
    talk.told().await;
    room.add_permits(1);
    talk.idle().await;
    let story = talk.story().await;
    assert_eq!(story, ["starting", "m3 agent", "answering", "m3.0 +Here.", "m3 agent end_turn", "idle"]);
    assert!(talk.with.messages().turn.waiting_for.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_not_given_back_under_a_question() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        peer.ask(&json!(1), "s1", json!({"toolCallId": "t"}), OPTIONS).await;
        peer.answer(&json!(1)).await;
        peer.farewell().await;
    });
    let connector = OneAtATime::new(agent);
    let (held, owners) = (Arc::clone(&connector.place), Arc::clone(&connector.owners));
    let mut talk = talk_with(HashMap::from([(name(), AgentProfile::new(connector, "/"))]), options());
    talk.with.send("1").unwrap();
    let permission = talk.asked().await;
    talk.idle().await;
    settled().await;
    assert_eq!(held.available_permits(), 0, "it is borrowed for the question");
    let owners = owners.lock().unwrap().clone();
    assert_ne!(owners[0], owners[1], "two borrowers, of whom one may wait for the other");
    talk.with.answer(&permission.id, "yes").unwrap();
    settled().await;
    assert_eq!(held.available_permits(), 1);
}

/// A message is sent under a question between turns, where the agent, of which there is one, is found in this way. Gives in
/// whose names it was borrowed.
async fn sent_under_a_question<D, F>(directory: F) -> Vec<Option<String>>
where
    D: AgentDirectory + 'static,
    F: FnOnce(Arc<OneAtATime>) -> D,
{
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        peer.ask(&json!(1), "s1", json!({"toolCallId": "t"}), OPTIONS).await;
        let prompt = peer.prompted().await;
        assert_eq!(peer.answer(&json!(1)).await["outcome"]["optionId"], "yes");
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let connector = Arc::new(OneAtATime::new(agent));
    let (held, owners) = (Arc::clone(&connector.place), Arc::clone(&connector.owners));
    let mut talk = talk_with(directory(connector), options());
    talk.with.send("1").unwrap();
    let permission = talk.asked().await;
    settled().await;
    assert_eq!(held.available_permits(), 0, "it is borrowed for the question");
    talk.with.send("2").unwrap();
    settled().await;
    assert_eq!(talk.with.messages().turn.phase, TurnPhase::Asking);
    talk.with.answer(&permission.id, "yes").unwrap();
    talk.idle().await;
    settled().await;
    assert_eq!(held.available_permits(), 1);
    owners.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn a_message_does_not_wait_until_a_question_between_turns_is_answered() {
    let same = |connector| HashMap::from([(name(), AgentProfile::new(connector, "/"))]);
    assert_eq!(sent_under_a_question(same).await.len(), 2, "the turn was had under the card's lease");
    let another_each_time =
        |connector: Arc<OneAtATime>| move |_: &AgentName| Some(AgentProfile::new(Arc::clone(&connector), "/"));
    assert_eq!(sent_under_a_question(another_each_time).await.len(), 3, "the card gave its lease back");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_leaves_its_agent_to_a_question_that_is_open() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        peer.ask(&json!(1), "s1", json!({"toolCallId": "t"}), OPTIONS).await;
        let set = peer.expect("session/set_mode").await;
        peer.refuse(&set, json!({"code": -32602, "message": "no"})).await;
        assert_eq!(peer.answer(&json!(1)).await["outcome"]["optionId"], "yes");
        peer.farewell().await;
    });
    let connector = OneAtATime::new(agent);
    let (held, owners) = (Arc::clone(&connector.place), Arc::clone(&connector.owners));
    let now = Arc::new(Mutex::new(AgentProfile::new(connector, "/")));
    let there = Arc::clone(&now);
    let mut talk = talk_with(move |_: &AgentName| Some(there.lock().unwrap().clone()), options());
    talk.with.send("1").unwrap();
    let permission = talk.asked().await;
    now.lock().unwrap().mode = Some("ask".to_owned());
    settled().await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    settled().await;
    let message = talk.with.messages().messages.last().map(|message| common::message_word(message));
    assert_eq!(message.as_deref(), Some("m4 user not sent failed: mode-refused"));
    assert_eq!((held.available_permits(), owners.lock().unwrap().len()), (0, 2), "it went to the turn, and back");
    talk.with.answer(&permission.id, "yes").unwrap();
    settled().await;
    assert_eq!(held.available_permits(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_is_not_listened_to_is_not_silent() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        peer.prompted().await;
        for _ in 0..5_000 {
            peer.say("s1", "And on.").await;
        }
        peer.farewell().await;
    });
    let mut follower = talk.with.follow();
    talk.with.send("Go").unwrap();
    sleep(Duration::from_secs(200)).await;
    assert_eq!(talk.with.messages().turn.silent_since, None, "it is we who do not listen");
    talk.told().await;
    while talk.with.messages().turn.silent_since.is_none() {
        within(follower.next()).await.unwrap(); // Nothing more comes, so it is told once all is read.
    }
}
