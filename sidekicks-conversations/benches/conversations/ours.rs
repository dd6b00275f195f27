//! The same through a conversation.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::json;
use sidekicks_acp::SessionEvent;
use sidekicks_conversations::{Event, Subscription};

use crate::agent::{Talk, chunk, update};
use crate::measure::timed;

/// What an agent says at once.
pub(crate) const FRAGMENT: &str = "twelve bytes";

/// How many updates come within a frame.
pub(crate) const FRAME: usize = 500;

/// How long an output is, in bytes.
pub(crate) const OUTPUT: usize = 100_000;

/// By how much an output grows at once, in bytes.
pub(crate) const GROWTH: usize = 1024;

/// How many messages there are where many are.
pub(crate) const MESSAGES: usize = 10_000;

pub(crate) async fn fragments(times: usize) -> Duration {
    frames(times, FRAME, |_| chunk(FRAGMENT)).await
}

pub(crate) async fn outputs(times: usize) -> Duration {
    let output = "x".repeat(OUTPUT);
    // So few to a frame that those which wait are not what the memory is for.
    frames(times, 20, |at| tool(&json!({"rawOutput": format!("{at}{output}")}))).await
}

pub(crate) async fn growth(times: usize) -> Duration {
    let data = "x".repeat(GROWTH);
    frames(times, FRAME, |_| tool(&json!({"_meta": {"terminal_output_delta": {"data": data}}}))).await
}

fn tool(more: &serde_json::Value) -> SessionEvent {
    let mut told = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "make"});
    told.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    update(&told)
}

/// So many updates, frame by frame, with one that reads them and a snapshot that is held until the next.
async fn frames(times: usize, frame: usize, told: impl Fn(usize) -> SessionEvent) -> Duration {
    let mut talk = Talk::new();
    let mut events = talk.all.subscribe();
    let prompt = talk.prompt().await;
    let (mut took, mut at, mut snapshot) = (Duration::ZERO, 0, None);
    while at < times {
        let updates: Vec<_> = (at..times.min(at + frame)).map(&told).collect();
        at += updates.len();
        // The last of a frame tells that it is over.
        let last = format!("frame {at}");
        let end = update(&json!({"sessionUpdate": "session_info_update", "title": last}));
        let begun = Instant::now();
        updates.into_iter().chain([end]).for_each(|event| talk.tell(event));
        read_until(&mut events, &last).await;
        snapshot = Some(talk.with.messages());
        took += begun.elapsed();
    }
    drop(black_box(snapshot));
    talk.end(prompt).await;
    took
}

async fn read_until(events: &mut Subscription, title: &str) {
    let told = |event: &Event| match event {
        Event::AgentChanged { offer, .. } => offer.title.as_ref().is_some_and(|told| told.as_deref() == Some(title)),
        _ => false,
    };
    while !events.next_batch(Duration::ZERO).await.expect("they go on").iter().any(|event| told(event)) {}
}

pub(crate) async fn turns(times: usize) -> Duration {
    let mut talk = Talk::new();
    let mut events = talk.all.subscribe();
    let reader = tokio::spawn(async move { while events.next().await.is_some() {} });
    let begun = Instant::now();
    say(&mut talk, times).await;
    let took = begun.elapsed();
    drop(talk);
    reader.await.expect("nothing panics");
    took
}

/// So many turns of two messages each.
async fn say(talk: &mut Talk, turns: usize) {
    for _ in 0..turns {
        let prompt = talk.prompt().await;
        talk.tell(chunk(FRAGMENT));
        talk.end(prompt).await;
    }
}

pub(crate) async fn readers(readers: usize, times: usize) -> Duration {
    let mut talk = Talk::new();
    let mut own = talk.all.subscribe();
    let prompt = talk.prompt().await;
    let tasks: Vec<_> = (1..readers)
        .map(|_| {
            let mut events = talk.all.subscribe();
            tokio::spawn(async move {
                let mut read = 0;
                while let Some(event) = events.next().await {
                    read += usize::from(matches!(*event, Event::MessageDelta { .. }));
                }
                assert_eq!(read, times, "nobody falls behind");
            })
        })
        .collect();
    let (mut took, mut at) = (Duration::ZERO, 0);
    while at < times {
        let updates: Vec<_> = (at..times.min(at + FRAME)).map(|_| chunk(FRAGMENT)).collect();
        at += updates.len();
        let begun = Instant::now();
        let mut left = updates.len();
        updates.into_iter().for_each(|event| talk.tell(event));
        while left > 0 {
            left -= usize::from(matches!(*own.next().await.expect("they go on"), Event::MessageDelta { .. }));
        }
        took += begun.elapsed();
    }
    talk.end(prompt).await;
    drop(talk);
    let begun = Instant::now();
    drop(own);
    for task in tasks {
        task.await.expect("nothing panics");
    }
    took + begun.elapsed()
}

pub(crate) async fn snapshots(times: usize) -> Duration {
    let mut talk = Talk::new();
    say(&mut talk, MESSAGES / 2).await;
    timed(|| (0..times).for_each(|_| drop(black_box(talk.with.messages()))))
}

pub(crate) async fn after_snapshots(times: usize) -> Duration {
    let mut talk = Talk::new();
    say(&mut talk, MESSAGES / 2 - 1).await;
    let prompt = talk.prompt().await;
    let mut events = talk.all.subscribe();
    let mut took = Duration::ZERO;
    for at in 0..times {
        let title = at.to_string();
        let told = update(&json!({"sessionUpdate": "session_info_update", "title": title}));
        let begun = Instant::now();
        let snapshot = talk.with.messages();
        talk.tell(told);
        read_until(&mut events, &title).await;
        drop(snapshot);
        took += begun.elapsed();
    }
    talk.end(prompt).await;
    took
}
