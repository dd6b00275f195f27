//! What those who follow one conversation have not read yet.

use std::collections::VecDeque;
use std::sync::Arc;

use sidekicks_acp::AgentName;

use crate::event::Event;

/// A queue for each follower.
#[derive(Default)]
pub(super) struct Queues {
    queues: Vec<Queue>,
    next: u64,
}

/// Names the queue of one follower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueueKey(u64);

struct Queue {
    key: QueueKey,
    agent: AgentName,
    /// Each with its weight.
    unread: VecDeque<(Arc<Event>, usize)>,
    weight: usize,
    full: bool,
}

/// With how many events a queue is full.
const MANY: usize = 1024;

/// With how many bytes a queue is full.
const HEAVY: usize = 4 << 20;

impl Queues {
    pub(super) fn are_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// A new follower, that begins with `reset`. Take its queue away by [`leave`](Self::leave).
    pub(super) fn join(&mut self, agent: AgentName, reset: Arc<Event>) -> QueueKey {
        let key = QueueKey(self.next);
        self.next += 1;
        self.queues.push(Queue { key, agent, unread: VecDeque::from([(reset, 0)]), weight: 0, full: false });
        key
    }

    pub(super) fn leave(&mut self, key: QueueKey) {
        self.queues.retain(|queue| queue.key != key);
    }

    /// Adds an event, also where it is more than fits: nothing is lost.
    pub(super) fn push(&mut self, event: &Arc<Event>, weight: usize) {
        for queue in self.queues.iter_mut().filter(|queue| queue.agent == *event.agent()) {
            queue.unread.push_back((Arc::clone(event), weight));
            queue.weight += weight;
            queue.full |= queue.unread.len() >= MANY || queue.weight >= HEAVY;
        }
    }

    /// Takes the oldest, and tells whether it is not full any more.
    pub(super) fn pop(&mut self, key: QueueKey) -> (Option<Arc<Event>>, bool) {
        let Some(queue) = self.queues.iter_mut().find(|queue| queue.key == key) else { return (None, false) };
        let Some((event, weight)) = queue.unread.pop_front() else { return (None, false) };
        queue.weight -= weight;
        // Not at the first: an agent that is let go for one event at a time wakes everybody for each.
        let room = queue.full && queue.unread.len() <= MANY / 2 && queue.weight <= HEAVY / 2;
        queue.full &= !room;
        (Some(event), room)
    }

    /// Whether one of those who follow this agent has as much to read as fits.
    pub(super) fn are_full(&self, agent: &AgentName) -> bool {
        self.queues.iter().any(|queue| queue.full && queue.agent == *agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Transcript;

    fn event(agent: &str) -> Arc<Event> {
        Arc::new(Event::Reset(Arc::new(Transcript::new(agent.into()))))
    }

    #[test]
    fn it_is_full_until_half_is_read() {
        // How heavy each is, how many fill it, and how many are read until there is room.
        for (weight, fill, read) in [(0, MANY, MANY / 2), (HEAVY / 4, 4, 2), (HEAVY, 1, 1)] {
            let mut queues = Queues::default();
            let key = queues.join("a".into(), event("a"));
            queues.pop(key);
            for _ in 0..fill {
                assert!(!queues.are_full(&"a".into()), "{weight}");
                queues.push(&event("b"), weight);
                queues.push(&event("a"), weight);
            }
            assert!(queues.are_full(&"a".into()) && !queues.are_full(&"b".into()), "{weight}");
            for at in 1..=fill {
                let (event, room) = queues.pop(key);
                assert_eq!((event.is_some(), room), (true, at == read), "{weight} {at}");
                assert_eq!(queues.are_full(&"a".into()), at < read, "{weight} {at}");
            }
            assert_eq!(queues.pop(key), (None, false));
        }
    }

    #[test]
    fn who_leaves_holds_nothing_up() {
        let mut queues = Queues::default();
        let (one, two) = (queues.join("a".into(), event("a")), queues.join("a".into(), event("a")));
        queues.push(&event("a"), HEAVY);
        queues.pop(one);
        queues.pop(one);
        assert!(queues.are_full(&"a".into()));
        queues.leave(two);
        assert!(!queues.are_full(&"a".into()));
        queues.leave(one);
        assert!(queues.are_empty());
    }
}
