//! The least that keeps what is said, without anybody who could follow it.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;

use crate::measure::timed;
use crate::ours::{FRAGMENT, FRAME, GROWTH, MESSAGES, OUTPUT};

/// A `String` that grows.
pub(crate) fn fragments(times: usize) -> Duration {
    append(times, FRAGMENT)
}

/// The same, though of an output we keep only the ends.
pub(crate) fn growth(times: usize) -> Duration {
    append(times, &"x".repeat(GROWTH))
}

fn append(times: usize, fragment: &str) -> Duration {
    let mut text = String::new();
    timed(|| (0..times).for_each(|_| black_box(&mut text).push_str(black_box(fragment))))
}

/// A `String` in place of another.
pub(crate) fn outputs(times: usize) -> Duration {
    let output = "x".repeat(OUTPUT);
    let mut kept = String::new();
    timed(|| (0..times).for_each(|_| *black_box(&mut kept) = black_box(&output).clone()))
}

/// Two messages in a `Vec`.
pub(crate) fn turns(times: usize) -> Duration {
    let mut messages = Vec::new();
    timed(|| (0..2 * times).for_each(|_| black_box(&mut messages).push(Arc::new(black_box(FRAGMENT).to_owned()))))
}

/// Tokio's broadcast of nothing but a pointer.
pub(crate) async fn readers(readers: usize, times: usize) -> Duration {
    let (sender, _) = broadcast::channel(4096);
    let event = Arc::new(FRAGMENT.to_owned());
    let tasks: Vec<_> = (0..readers)
        .map(|_| {
            let mut events = sender.subscribe();
            tokio::spawn(async move {
                for _ in 0..times {
                    black_box(events.recv().await).expect("it does not fall behind");
                }
            })
        })
        .collect();
    let begun = std::time::Instant::now();
    for at in 0..times {
        sender.send(Arc::clone(&event)).expect("they read");
        if at % FRAME == 0 {
            while !sender.is_empty() {
                tokio::task::yield_now().await;
            }
        }
    }
    for task in tasks {
        task.await.expect("nothing panics");
    }
    begun.elapsed()
}

/// An `Arc` is cloned.
pub(crate) fn snapshots(times: usize) -> Duration {
    let messages = Arc::new(());
    timed(|| (0..times).for_each(|_| drop(black_box(Arc::clone(black_box(&messages))))))
}

/// A list of so many `Arc`s is cloned.
pub(crate) fn after_snapshots(times: usize) -> Duration {
    let messages: Vec<_> = (0..MESSAGES).map(Arc::new).collect();
    timed(|| (0..times).for_each(|_| drop(black_box(black_box(&messages).clone()))))
}
