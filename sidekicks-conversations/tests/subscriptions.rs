//! Following conversations: frames, falling behind, and the end.

mod common;

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use common::{answers, options, ready, talk, talk_to, tool_call, tool_update, within, word};
use serde_json::json;
use sidekicks_acp::AgentName;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::{
    AgentProfile, Conversation, Conversations, Event, Follower, Options, Subscription, Transcript,
};
use tokio::time::Instant;

const FRAME: Duration = Duration::from_millis(16);

fn words(batch: &[Arc<Event>]) -> Vec<String> {
    batch.iter().map(|event| word(event)).collect()
}

#[test]
fn handles_go_anywhere() {
    fn anywhere<T: Clone + Send + Sync + 'static>() {}
    fn sent<T: Send>(_: &T) {}
    anywhere::<Conversations>();
    anywhere::<Conversation>();
    anywhere::<Options>();
    anywhere::<AgentProfile>();
    let _futures = |talk: Conversation, mut events: Subscription, mut follower: Follower| {
        sent(&events);
        sent(&follower);
        sent(&follower.next());
        sent(&talk.idle());
        sent(&events.next());
        sent(&events.next_batch(FRAME));
    };
}

#[test]
fn a_message_and_its_parts_name_no_agent() {
    // A channel of several agents is to be made of the same messages.
    let message = serde_json::json!({"id": "m1", "role": "agent", "parts": [{"kind": "text", "text": "x"}], "at": 1,
        "queued": false, "notSent": false});
    let read: sidekicks_conversations::Message = serde_json::from_value(message.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), message);
}

#[tokio::test(start_paused = true)]
async fn a_frame_joins_what_belongs_together() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        for text in ["a", "b", "c"] {
            peer.say("s1", text).await;
        }
        peer.update("s1", common::thought("d")).await;
        for text in ["e", "f"] {
            peer.say("s1", text).await;
        }
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let mut events = talk.all.subscribe();
    assert_eq!(words(&within(events.next_batch(FRAME)).await.unwrap()), ["reset"]);
    let first = Instant::now();
    talk.with.send("Go").unwrap();
    let batch = within(events.next_batch(FRAME)).await.unwrap();
    assert_eq!(first.elapsed(), FRAME, "one frame after the other");
    assert_eq!(
        words(&batch),
        [
            "m1 user",
            "starting",
            "m2 agent",
            "answering",
            "m2.0 +abc",
            "m2.1 +d",
            "m2.2 +ef",
            "m2 agent end_turn",
            "idle"
        ]
    );
    talk.told().await;
    // After a pause there is nothing to wait for.
    tokio::time::advance(Duration::from_secs(1)).await;
    let before = Instant::now();
    talk.with.send("").unwrap_err();
    talk.with.send("More").unwrap();
    within(events.next_batch(FRAME)).await.unwrap();
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_frame_holds_the_newest_of_a_part_that_is_replaced() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let told = [
            tool_call("t", json!({})),
            tool_update("t", json!({"status": "in_progress"})),
            tool_update("t", json!({"rawOutput": "a"})),
            tool_call("u", json!({})),
            tool_update("t", json!({"status": "completed"})),
        ];
        common::updates(&mut peer, told).await;
        peer.farewell().await;
    });
    let mut events = talk.all.subscribe();
    within(events.next_batch(FRAME)).await.unwrap();
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let told = words(&within(events.next_batch(FRAME)).await.unwrap());
    let tools: Vec<_> = told.iter().filter(|word| word.contains("tool")).collect();
    assert_eq!(
        tools,
        ["m2.0 tool t in_progress", "m2.1 tool u pending", "m2.0 tool t completed", "m2.1 tool u unfinished"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_frame_may_last_for_ever() {
    let talk = talk(async |mut peer: Peer| peer.farewell().await);
    let mut events = talk.all.subscribe();
    assert_eq!(words(&within(events.next_batch(Duration::MAX)).await.unwrap()), ["reset"]);
    talk.with.send("Go").unwrap();
    tokio::time::timeout(common::PATIENCE, events.next_batch(Duration::MAX)).await.unwrap_err();
    assert_eq!(word(&within(events.next()).await.unwrap()), "m1 user");
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_is_not_waited_for_loses_nothing() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "Hello.").await;
        peer.farewell().await;
    });
    let mut events = talk.all.subscribe();
    within(events.next_batch(FRAME)).await.unwrap();
    talk.with.send("Go").unwrap();
    {
        let mut batch = pin!(events.next_batch(FRAME));
        let polled = std::future::poll_fn(|context| Poll::Ready(batch.as_mut().poll(context))).await;
        assert!(polled.is_pending(), "it has one event, and waits for the frame");
    }
    talk.idle().await;
    let mut told = vec![word(&within(events.next()).await.unwrap())];
    told.extend(words(&within(events.next_batch(FRAME)).await.unwrap()));
    assert_eq!(told, ["m1 user", "starting", "m2 agent", "answering", "m2.0 +Hello.", "m2 agent end_turn", "idle"]);
}

#[tokio::test(start_paused = true)]
async fn who_falls_behind_gets_a_reset_and_nobody_waits() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    let talk = talk_to(agent, options().backlog(4));
    let (mut slow, mut framed) = (talk.all.subscribe(), talk.all.subscribe());
    talk.with.send("1").unwrap();
    talk.idle().await;
    assert_eq!(word(&within(slow.next()).await.unwrap()), "reset", "from before");
    let reset = within(slow.next()).await.unwrap();
    assert!(matches!(&*reset, Event::Reset(whole) if **whole == *talk.with.messages()), "{reset:?}");
    let batch = within(framed.next_batch(FRAME)).await.unwrap();
    assert_eq!(words(&batch), ["reset"], "only the newest");
    assert!(matches!(&*batch[0], Event::Reset(whole) if **whole == *talk.with.messages()));
    talk.with.send("2").unwrap();
    assert_eq!(word(&within(slow.next()).await.unwrap()), "m3 user");
}

#[tokio::test(start_paused = true)]
async fn who_falls_behind_by_much_gets_a_reset_though_it_is_few() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let output = |at: usize| tool_update("t", json!({"rawOutput": format!("{at}{}", "x".repeat(1 << 20))}));
        common::updates(&mut peer, (0..20).map(output)).await;
        peer.farewell().await;
    });
    let mut slow = talk.all.subscribe();
    talk.with.send("Go").unwrap();
    talk.idle().await;
    assert_eq!(word(&within(slow.next()).await.unwrap()), "reset", "from before");
    let reset = within(slow.next()).await.unwrap();
    assert!(matches!(&*reset, Event::Reset(whole) if **whole == *talk.with.messages()));
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_offers_weighs_too() {
    let talk = talk(common::offers_much);
    let mut slow = talk.all.subscribe();
    talk.with.send("Go").unwrap();
    talk.idle().await;
    assert_eq!(word(&within(slow.next()).await.unwrap()), "reset", "from before");
    let reset = within(slow.next()).await.unwrap();
    assert!(matches!(&*reset, Event::Reset(whole) if **whole == *talk.with.messages()));
}

#[tokio::test(start_paused = true)]
async fn who_fell_behind_hears_of_what_was_forgotten() {
    let script = async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "Hello.").await;
        peer.farewell().await;
    };
    let names: [AgentName; 2] = ["a".into(), "b".into()];
    let agents = names.clone().map(|name| (name, AgentProfile::new(testing::agent(script), "/")));
    let all = Conversations::new(HashMap::from(agents), options().backlog(4));
    let [a, b] = names.map(|name| all.with(&name).unwrap());
    let mut early = all.subscribe();
    a.send("Go").unwrap();
    within(a.idle()).await;
    let (mut slow, mut framed) = (all.subscribe(), all.subscribe());
    assert!(matches!(&*within(slow.next()).await.unwrap(), Event::Reset(whole) if whole.messages.len() == 2));
    within(all.forget()).await;
    let mut late = all.subscribe();
    b.send("Go").unwrap();
    within(b.idle()).await;
    let mut mirror = Transcript::new(a.agent().clone());
    for events in [&mut early, &mut slow] {
        while mirror != *a.messages() {
            mirror.apply(&within(events.next()).await.unwrap());
        }
        assert!(mirror.removed && mirror.messages.is_empty());
    }
    let batch = within(framed.next_batch(FRAME)).await.unwrap();
    assert!(batch.iter().any(|event| matches!(&**event, Event::Reset(whole) if **whole == *a.messages())));
    // Nobody who knew it is left.
    drop((early, slow, framed));
    within(late.next_batch(FRAME)).await.unwrap();
    drop(late);
    let mut fresh = all.subscribe();
    b.send("More").unwrap();
    b.stop();
    within(b.idle()).await;
    let batch = within(fresh.next_batch(FRAME)).await.unwrap();
    assert!(batch.iter().all(|event| event.agent() == b.agent()), "{batch:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_readers_hear_of_everything() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let words = (0..2_000).map(|at| common::chunk(&format!("{at} ")));
        common::updates(&mut peer, words).await;
        peer.farewell().await;
    });
    let readers: Vec<_> = (0..20)
        .map(|_| {
            let mut events = talk.all.subscribe();
            tokio::spawn(async move {
                let mut mirror = Transcript::new(common::name());
                while mirror.messages.last().is_none_or(|message| message.stop_reason.is_none()) {
                    mirror.apply(&within(events.next()).await.unwrap());
                }
                mirror.messages
            })
        })
        .collect();
    talk.with.send("Go").unwrap();
    talk.idle().await;
    for reader in readers {
        assert_eq!(reader.await.unwrap(), talk.with.messages().messages);
    }
}

#[tokio::test(start_paused = true)]
async fn a_backlog_of_nothing_is_one_event() {
    for backlog in [0, 1, usize::MAX] {
        let agent = testing::agent(async |mut peer: Peer| peer.farewell().await);
        let talk = talk_to(agent, options().backlog(backlog));
        talk.with.send("x").unwrap();
        assert_eq!(talk.with.messages().messages.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn each_conversation_begins_with_a_reset() {
    let agent = testing::agent(async |mut peer: Peer| peer.farewell().await);
    let names: [AgentName; 2] = ["a".into(), "b".into()];
    let agents = names.clone().map(|name| (name, AgentProfile::new(agent.clone(), "/")));
    let all = Conversations::new(HashMap::from(agents), options());
    let mut early = all.subscribe();
    all.with(&names[0]).unwrap();
    all.with(&names[0]).unwrap();
    let mut late = all.subscribe();
    all.with(&names[1]).unwrap();
    for events in [&mut early, &mut late] {
        for name in &names {
            let reset = within(events.next()).await.unwrap();
            assert!(matches!(&*reset, Event::Reset(whole) if **whole == Transcript::new(name.clone())));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_all_conversations_is_the_end_of_the_events() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        peer.farewell().await;
    });
    let talk = talk_to(agent, options().backlog(4));
    let (mut events, mut framed) = (talk.all.subscribe(), talk.all.subscribe());
    talk.with.send("1").unwrap();
    talk.idle().await;
    let last = talk.with.messages();
    drop(talk);
    // One that had fallen behind still learns how it ended.
    assert_eq!(word(&within(events.next()).await.unwrap()), "reset");
    assert!(matches!(&*within(events.next()).await.unwrap(), Event::Reset(whole) if *whole == last));
    assert!(within(events.next()).await.is_none());
    assert!(within(events.next()).await.is_none());
    let batch = within(framed.next_batch(FRAME)).await.unwrap();
    assert!(matches!(&*batch[0], Event::Reset(whole) if *whole == last));
    assert!(within(framed.next_batch(FRAME)).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn dropping_everything_in_a_turn_cancels_it() {
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let agent = testing::agent(async move |mut peer: Peer| {
        ready(&mut peer).await;
        peer.prompted().await;
        peer.say("s1", "Work").await;
        told.send(peer.hear().await).unwrap();
    });
    let mut talk = talk_to(agent.clone(), options());
    talk.with.send("Go").unwrap();
    talk.until_told("m2.0 +Work").await;
    drop(talk);
    let heard = within(heard.recv()).await.unwrap();
    assert_eq!(heard.unwrap()["method"], "session/cancel");
    drop(agent);
}
