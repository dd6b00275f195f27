//! Where everything that happens is applied and told, under one lock.

use std::collections::VecDeque;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sidekicks_acp::AgentName;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::{Instant, sleep};

use crate::event::Event;
use crate::transcript::Transcript;

/// All conversations as they are, and who follows them.
pub(crate) struct Hub {
    transcripts: Arc<Transcripts>,
    sender: broadcast::Sender<Arc<Event>>,
}

#[derive(Default)]
struct Transcripts(Mutex<Vec<Arc<Transcript>>>);

/// What a backlog may be: at least one event, and not so many that their places alone fill the memory.
const BACKLOGS: RangeInclusive<usize> = 1..=1 << 20;

impl Hub {
    /// A subscriber that is more than `backlog` events behind gets a reset.
    pub(crate) fn new(backlog: usize) -> Self {
        let backlog = backlog.clamp(*BACKLOGS.start(), *BACKLOGS.end());
        Self { transcripts: Arc::default(), sender: broadcast::Sender::new(backlog) }
    }

    /// A new conversation, with a reset for those who follow already. Nothing where it is there.
    pub(crate) fn add(&self, agent: &AgentName) {
        let mut transcripts = self.transcripts.lock();
        if transcripts.iter().any(|transcript| transcript.agent == *agent) {
            return;
        }
        let transcript = Arc::new(Transcript::new(agent.clone()));
        transcripts.push(Arc::clone(&transcript));
        let _ = self.sender.send(Arc::new(Event::Reset(transcript))); // Fails only where nobody follows.
    }

    pub(crate) fn knows(&self, agent: &AgentName) -> bool {
        self.transcripts.lock().iter().any(|transcript| transcript.agent == *agent)
    }

    /// A conversation is forgotten; that is told by a reset, too.
    pub(crate) fn remove(&self, agent: &AgentName) {
        let mut transcripts = self.transcripts.lock();
        let known = transcripts.len();
        transcripts.retain(|transcript| transcript.agent != *agent);
        if transcripts.len() < known {
            let _ = self.sender.send(Arc::new(Event::Reset(Arc::new(forgotten(agent)))));
        }
    }

    /// The only way in which a conversation changes: what happens is applied and told together.
    pub(crate) fn publish(&self, event: Event) {
        let mut transcripts = self.transcripts.lock();
        if let Some(transcript) = transcripts.iter_mut().find(|transcript| transcript.agent == *event.agent()) {
            Arc::make_mut(transcript).apply(&event);
            let _ = self.sender.send(Arc::new(event));
        }
    }

    pub(crate) fn transcript(&self, agent: &AgentName) -> Arc<Transcript> {
        let found = self.transcripts.lock().iter().find(|transcript| transcript.agent == *agent).map(Arc::clone);
        found.unwrap_or_else(|| Arc::new(forgotten(agent)))
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        // Everything as it is, and what comes after it: under one lock, so that nothing is between them.
        let transcripts = self.transcripts.lock();
        let (resets, receiver) = (resets(&transcripts), self.sender.subscribe());
        Subscription { transcripts: Arc::clone(&self.transcripts), receiver, resets, drawn: None }
    }
}

fn forgotten(agent: &AgentName) -> Transcript {
    Transcript { removed: true, ..Transcript::new(agent.clone()) }
}

impl Transcripts {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Transcript>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn resets(transcripts: &[Arc<Transcript>]) -> VecDeque<Arc<Event>> {
    transcripts.iter().map(|transcript| Arc::new(Event::Reset(Arc::clone(transcript)))).collect()
}

/// The events of all conversations, in order.
///
/// First comes a reset of each conversation. A reader that falls behind loses nothing but the steps between: it gets a
/// fresh reset of each. Nobody ever waits for a reader.
pub struct Subscription {
    transcripts: Arc<Transcripts>,
    /// Its end is the end of all conversations.
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

    /// Everything that happened since the last batch, at most once per `period`, with neighbouring changes of one part
    /// made one: however fast the agent writes, an interface redraws once a frame. Cancel-safe.
    pub async fn next_batch(&mut self, period: Duration) -> Option<Vec<Arc<Event>>> {
        let first = self.next().await?;
        // Put back while we wait, so that dropping this future loses nothing.
        self.resets.push_front(first);
        let left = self.drawn.map_or(Duration::ZERO, |drawn| period.saturating_sub(drawn.elapsed()));
        if !left.is_zero() {
            sleep(left).await;
        }
        let mut batch = Vec::new();
        self.resets.drain(..).for_each(|event| push_joined(&mut batch, event));
        // What comes while we are at it waits for the next frame.
        for _ in 0..self.receiver.len() {
            match self.receiver.try_recv() {
                Ok(event) => push_joined(&mut batch, event),
                Err(TryRecvError::Lagged(_)) => {
                    self.catch_up();
                    batch = self.resets.drain(..).collect(); // They say it all.
                    break;
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        self.drawn = Some(Instant::now());
        Some(batch)
    }

    fn catch_up(&mut self) {
        let transcripts = self.transcripts.lock();
        self.resets = resets(&transcripts);
        self.receiver = self.receiver.resubscribe();
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

/// Adds `event`. Where it and the last one are of one part it is appended to that as a fragment, or takes its place as a
/// whole.
fn push_joined(batch: &mut Vec<Arc<Event>>, event: Arc<Event>) {
    if let Some(last) = batch.last_mut().filter(|last| of_one_part(last, &event)) {
        match &*event {
            Event::MessageDelta { part: Some(_), .. } => {
                *last = event;
                return;
            }
            Event::MessageDelta { text: Some(fragment), .. } => {
                if let Event::MessageDelta { text: Some(text), .. } = Arc::make_mut(last) {
                    text.push_str(fragment);
                    return;
                }
            }
            _ => {}
        }
    }
    batch.push(event);
}

fn of_one_part(last: &Event, next: &Event) -> bool {
    match (last, next) {
        (
            Event::MessageDelta { agent, message_id, index, .. },
            Event::MessageDelta { agent: next_agent, message_id: next_id, index: next_index, .. },
        ) => agent == next_agent && message_id == next_id && index == next_index,
        _ => false,
    }
}
