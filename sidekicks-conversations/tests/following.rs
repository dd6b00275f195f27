//! Following one conversation: nothing is lost, and the agent waits for who is slow.

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use common::{
    Talk, answers, chunk, name, options, ready, settled, talk, talk_counting, talk_with, tool_update, within, word,
};
use serde_json::json;
use sidekicks_acp::SingleAgent;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::{AgentProfile, Conversations, Event, Follower, Transcript};

const FRAGMENTS: usize = 100_000;

/// More fragments than fit into everything between an agent and who follows.
const LONG: usize = 20_000;

/// More than a follower holds: 1,024, the few that a person causes, and the one that filled it.
const MOST: usize = 1_024 + 16;

/// What is there to be read, without letting anybody else do anything.
async fn unread(follower: &mut Follower) -> Vec<Arc<Event>> {
    let mut all = Vec::new();
    loop {
        let mut next = std::pin::pin!(tokio::task::unconstrained(follower.next()));
        match std::future::poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await {
            Poll::Ready(Some(event)) => all.push(event),
            Poll::Ready(None) | Poll::Pending => return all,
        }
    }
}

fn apply(mirror: &mut Transcript, events: &[Arc<Event>]) {
    events.iter().for_each(|event| mirror.apply(event));
}

/// An agent that says so many fragments, and how many it has written.
fn chatterbox(fragments: usize) -> (SingleAgent, Arc<AtomicUsize>) {
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    let agent = testing::agent(async move |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        for at in 0..fragments {
            peer.update("s1", chunk(&format!("{at} "))).await;
            count.store(at + 1, Ordering::Relaxed);
        }
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    (agent, written)
}

fn chat(fragments: usize) -> (Talk, Arc<AtomicUsize>) {
    let (agent, written) = chatterbox(fragments);
    (talk_with(HashMap::from([(name(), AgentProfile::new(agent, "/work"))]), options()), written)
}

#[tokio::test(start_paused = true)]
async fn the_agent_waits_for_who_is_slow_and_nothing_is_lost() {
    let (talk, written) = chat(FRAGMENTS);
    let (mut follower, mut mirror) = (talk.with.follow(), Transcript::new(name()));
    talk.with.send("Go").unwrap();
    let (mut events, mut most) = (0, 0);
    while mirror.messages.last().is_none_or(|message| message.stop_reason.is_none()) {
        settled().await; // The agent writes for as long as it may.
        if events == 0 {
            assert!(written.load(Ordering::Relaxed) < FRAGMENTS / 2, "it is held up");
        }
        let read = unread(&mut follower).await;
        assert!(!read.is_empty(), "it goes on");
        assert!(events == 0 || !read.iter().any(|event| matches!(**event, Event::Reset(_))));
        events += read.len();
        most = most.max(read.len());
        apply(&mut mirror, &read);
    }
    talk.idle().await;
    apply(&mut mirror, &unread(&mut follower).await);
    assert_eq!(mirror, *talk.with.messages());
    assert!(events > FRAGMENTS && most > 1_000 && most <= MOST, "{most} of {events}");
}

#[tokio::test(start_paused = true)]
async fn heavy_events_are_few() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let output = |at: usize| tool_update("t", json!({"rawOutput": format!("{at}{}", "x".repeat(1 << 20))}));
        common::updates(&mut peer, (0..20).map(output)).await;
        peer.farewell().await;
    });
    let mut follower = talk.with.follow();
    talk.with.send("Go").unwrap();
    settled().await;
    let tools = unread(&mut follower).await.iter().filter(|event| word(event).contains("tool")).count();
    assert_eq!(tools, 4, "of one MiB each");
    within(async {
        while talk.with.messages().turn.busy {
            follower.next().await.unwrap();
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_offers_weighs_too() {
    let talk = talk(common::offers_much);
    let mut follower = talk.with.follow();
    talk.with.send("Go").unwrap();
    settled().await;
    let is_offer = |event: &&Arc<Event>| matches!(***event, Event::AgentChanged { .. });
    assert_eq!(unread(&mut follower).await.iter().filter(is_offer).count(), 4, "of one MiB each");
    within(async {
        while talk.with.messages().turn.busy {
            follower.next().await.unwrap();
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn who_is_dropped_holds_nobody_up() {
    let (talk, written) = chat(LONG);
    let (full, slow) = (talk.with.follow(), talk.with.follow());
    talk.with.send("Go").unwrap();
    for one in [full, slow] {
        settled().await;
        assert!(written.load(Ordering::Relaxed) < LONG);
        drop(one);
    }
    talk.idle().await;
    assert_eq!(written.load(Ordering::Relaxed), LONG);
}

#[tokio::test(start_paused = true)]
async fn other_conversations_are_not_held_up() {
    let ((one, written), (other, _)) = (chatterbox(LONG), chatterbox(3));
    let agents =
        HashMap::from([("a".into(), AgentProfile::new(one, "/")), ("b".into(), AgentProfile::new(other, "/"))]);
    let all = Conversations::new(agents, options());
    let (one, other) = (all.with(&"a".into()).unwrap(), all.with(&"b".into()).unwrap());
    let mut follower = one.follow();
    one.send("Go").unwrap();
    other.send("Go").unwrap();
    within(other.idle()).await;
    settled().await;
    assert!(written.load(Ordering::Relaxed) < LONG && one.messages().turn.busy);
    assert!(unread(&mut follower).await.iter().all(|event| event.agent() == one.agent()));
}

#[tokio::test(start_paused = true)]
async fn the_end_comes_after_what_was_not_read() {
    let (talk, _) = chat(3);
    let mut follower = talk.with.follow();
    talk.with.send("Go").unwrap();
    talk.idle().await;
    drop(talk);
    let mut told = Vec::new();
    while let Some(event) = within(follower.next()).await {
        told.push(word(&event));
    }
    let expected = ["reset", "m1 user", "starting", "m2 agent", "answering", "m2.0 +0 ", "m2.0 +1 ", "m2.0 +2 "];
    assert_eq!(told[..8], expected);
    assert_eq!(told[8..], ["m2 agent end_turn", "idle"]);
    assert!(within(follower.next()).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn stop_is_obeyed_whoever_reads() {
    let (talk, written) = chat(LONG);
    let (mut follower, mut mirror) = (talk.with.follow(), Transcript::new(name()));
    talk.with.send("Go").unwrap();
    settled().await;
    assert!(written.load(Ordering::Relaxed) < LONG, "it is held up");
    talk.with.stop();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("cancelled"));
    assert!(talk.with.messages().messages.iter().all(|message| message.code.is_none()), "the agent obeyed");
    apply(&mut mirror, &unread(&mut follower).await);
    assert_eq!(mirror, *talk.with.messages());
}

#[tokio::test(start_paused = true)]
async fn how_an_agent_left_is_told_before_the_next_begins() {
    let talk = talk_counting(async |start, mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "Hello.").await;
        if start == 0 {
            for _ in 0..MOST {
                peer.say("s1", "And on.").await;
            }
        }
    });
    let mut follower = talk.with.follow();
    for _ in 0..2 {
        talk.with.send("Go").unwrap();
        settled().await;
    }
    let mut told = Vec::new();
    while told.iter().filter(|word: &&String| word.ends_with("end_turn")).count() < 2 {
        settled().await;
        told.extend(unread(&mut follower).await.iter().map(|event| word(event)));
    }
    told.retain(|word| !word.contains(" +"));
    let first = ["reset", "m1 user", "starting", "m2 agent", "answering", "m2 agent end_turn", "idle"];
    let between = ["m3 user", "starting", "m4 agent-exited", "m5 agent-restarted", "m2 agent end_turn"];
    let second = ["m6 agent", "answering", "m6 agent end_turn", "idle", "m7 agent-exited"];
    assert_eq!(told, [&first[..], &between, &second].concat());
}
