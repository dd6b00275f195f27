//! What an agent and its descendants have in memory.

use std::time::{Duration, Instant};

use sidekicks_acp::{AgentProcess, ConnectOptions};

use crate::marks::{OBEY, by_marker};
use crate::real::{READY, quick, shell};

const MB: u64 = 1_000_000;

async fn memory(script: &str) -> u64 {
    let agent = AgentProcess::start(&shell(script), &ConnectOptions::default(), &quick()).await.unwrap();
    let begun = Instant::now();
    // Nothing tells when the child has read everything, so its memory is looked at until it has.
    let mut highest = 0;
    while highest < 60 * MB && begun.elapsed() < Duration::from_secs(20) && script.contains("tail") {
        highest = highest.max(agent.memory().await.unwrap());
    }
    let memory = highest.max(agent.memory().await.unwrap());
    agent.stop().await;
    assert_eq!(agent.memory().await, None, "its number may be another's");
    memory
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_tree_is_counted() {
    let plain = memory(&format!("{READY} {OBEY}")).await;
    assert!((1..30 * MB).contains(&plain), "{plain}");
    // `tail` keeps what may be the last line, and its writer never ends.
    let hoard = "(head -c 60000000 /dev/zero; sleep 300) | tail -n 1 >/dev/null &";
    let child = memory(&format!("{hoard} {READY} {OBEY}")).await;
    assert!((60 * MB..200 * MB).contains(&child), "{child}");
    if !by_marker() {
        return;
    }
    let elsewhere = memory(&format!("(setsid sh -c '{hoard}' &); {READY} {OBEY}")).await;
    assert!((60 * MB..200 * MB).contains(&elsewhere), "{elsewhere}");
}
