//! Where everything that happens is applied and told, under one lock.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sidekicks_acp::AgentName;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::{Instant, sleep_until};

use crate::event::Event;
use crate::transcript::Transcript;

/// All conversations as they are, and who follows them.
pub(crate) struct Hub {
    transcripts: Mutex<Vec<Arc<Transcript>>>,
    sender: broadcast::Sender<Arc<Event>>,
}

impl Hub {
    /// A subscriber that is more than `capacity` events behind gets a reset.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { transcripts: Mutex::default(), sender: broadcast::Sender::new(capacity) }
    }

    /// A new conversation, with a reset for those who follow already.
    pub(crate) fn add(&self, agent: &AgentName) {
        let mut transcripts = self.lock();
        let transcript = Arc::new(Transcript::new(agent.clone()));
        transcripts.push(Arc::clone(&transcript));
        let _ = self.sender.send(Arc::new(Event::Reset(transcript))); // Fails only where nobody follows.
    }

    /// The only way in which a conversation changes: what happens is applied and told together.
    pub(crate) fn publish(&self, event: Event) {
        let mut transcripts = self.lock();
        if let Some(transcript) = transcripts.iter_mut().find(|transcript| transcript.agent == *event.agent()) {
            Arc::make_mut(transcript).apply(&event);
            let _ = self.sender.send(Arc::new(event));
        }
    }

    pub(crate) fn transcript(&self, agent: &AgentName) -> Arc<Transcript> {
        let found = self.lock().iter().find(|transcript| transcript.agent == *agent).map(Arc::clone);
        found.unwrap_or_else(|| Arc::new(Transcript::new(agent.clone())))
    }

    pub(crate) fn subscribe(self: &Arc<Self>) -> Subscription {
        let (resets, receiver) = self.resets();
        Subscription { hub: Arc::downgrade(self), receiver, resets, drawn: None }
    }

    /// Everything as it is, and what comes after it: taken under one lock, so that nothing is between them.
    fn resets(&self) -> (VecDeque<Arc<Event>>, broadcast::Receiver<Arc<Event>>) {
        let transcripts = self.lock();
        let resets = transcripts.iter().map(|transcript| Arc::new(Event::Reset(Arc::clone(transcript)))).collect();
        (resets, self.sender.subscribe())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Transcript>>> {
        self.transcripts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events of all conversations, in order.
///
/// First comes a reset of each conversation. A reader that falls behind loses nothing but the steps between: it gets a
/// fresh reset of each. Nobody ever waits for a reader.
pub struct Subscription {
    /// Weak, so that the end of all conversations is the end of the events.
    hub: Weak<Hub>,
    receiver: broadcast::Receiver<Arc<Event>>,
    /// Resets that come before what is in `receiver`.
    resets: VecDeque<Arc<Event>>,
    /// When the last batch was handed over.
    drawn: Option<Instant>,
}

impl Subscription {
    /// The next event; `None` when there can be none any more. Cancel-safe.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        loop {
            if let Some(reset) = self.resets.pop_front() {
                return Some(reset);
            }
            match self.receiver.recv().await {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(_)) => self.catch_up(),
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Everything that happened since the last batch, at most once per `period`, with neighbouring fragments of one
    /// part joined: however fast the agent writes, an interface redraws once a frame. Cancel-safe.
    pub async fn next_batch(&mut self, period: Duration) -> Option<Vec<Arc<Event>>> {
        let first = self.next().await?;
        // Put back while we wait, so that dropping this future loses nothing.
        self.resets.push_front(first);
        if let Some(drawn) = self.drawn {
            sleep_until(drawn + period).await;
        }
        let mut batch = Vec::new();
        loop {
            while let Some(event) = self.resets.pop_front() {
                push_joined(&mut batch, event);
            }
            match self.receiver.try_recv() {
                Ok(event) => push_joined(&mut batch, event),
                Err(TryRecvError::Lagged(_)) => {
                    batch.clear(); // The resets say it all.
                    self.catch_up();
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        self.drawn = Some(Instant::now());
        Some(batch)
    }

    fn catch_up(&mut self) {
        if let Some(hub) = self.hub.upgrade() {
            (self.resets, self.receiver) = hub.resets();
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

/// Adds `event`, or appends it to the last one where both are fragments of one part.
fn push_joined(batch: &mut Vec<Arc<Event>>, event: Arc<Event>) {
    if let Some(last) = batch.last_mut()
        && continues(last, &event)
        && let Event::MessageDelta { text: Some(fragment), .. } = &*event
        && let Event::MessageDelta { text: Some(text), .. } = Arc::make_mut(last)
    {
        text.push_str(fragment);
        return;
    }
    batch.push(event);
}

fn continues(last: &Event, next: &Event) -> bool {
    match (last, next) {
        (
            Event::MessageDelta { agent, message_id, index, text: Some(_), .. },
            Event::MessageDelta { agent: next_agent, message_id: next_id, index: next_index, text: Some(_), .. },
        ) => agent == next_agent && message_id == next_id && index == next_index,
        _ => false,
    }
}
