//! Those who watch, each at their own pace.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sidekicks_conversations::{Conversation, Conversations, Transcript};
use tokio::task::JoinHandle;

use crate::common::name;

type Mirror = Arc<Mutex<Transcript>>;

/// Somebody who sees nothing but the events.
pub(crate) struct Watcher {
    pub(crate) name: &'static str,
    pub(crate) mirror: Mirror,
    task: JoinHandle<()>,
}

impl Watcher {
    /// Subscribes, and reads event by event, or by frames of this length.
    pub(crate) fn joining(all: &Conversations, frame: Option<Duration>) -> Self {
        let (mut events, mirror) = (all.subscribe(), nothing());
        let told = Arc::clone(&mirror);
        let task = tokio::spawn(async move {
            loop {
                let batch = match frame {
                    Some(frame) => events.next_batch(frame).await,
                    None => events.next().await.map(|event| vec![event]),
                };
                let Some(batch) = batch else { return };
                batch.iter().for_each(|event| told.lock().unwrap().apply(event));
            }
        });
        Self { name: if frame.is_some() { "a screen" } else { "a subscriber" }, mirror, task }
    }

    /// Follows, and takes its time for each event.
    pub(crate) fn following(with: &Conversation) -> Self {
        let (mut events, mirror) = (with.follow(), nothing());
        let told = Arc::clone(&mirror);
        let task = tokio::spawn(async move {
            while let Some(event) = events.next().await {
                told.lock().unwrap().apply(&event);
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        });
        Self { name: "a follower", mirror, task }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Of what was forgotten before it is told nothing.
fn nothing() -> Mirror {
    let mut nothing = Transcript::new(name());
    nothing.removed = true;
    Arc::new(Mutex::new(nothing))
}
