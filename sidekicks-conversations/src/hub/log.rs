//! The events that somebody has not read yet.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::Event;

/// A log of limited length and weight. Each reader has a place in it; what all have read is dropped, and what does not
/// fit any more too.
pub(super) struct Log {
    entries: VecDeque<Entry>,
    /// The place of the first entry.
    first: u64,
    /// Of all entries.
    weight: usize,
    /// How many entries there may be.
    most: usize,
    readers: usize,
}

struct Entry {
    event: Arc<Event>,
    weight: usize,
    /// How many readers have not read it.
    unread: usize,
}

/// Where a reader goes on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place(u64);

/// What was at a reader's place is gone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gone;

/// How much the unread events may weigh together, in bytes: so much memory a reader that sleeps may cost.
const HEAVIEST: usize = 16 << 20;

impl Log {
    pub(super) fn new(most: usize) -> Self {
        Self { entries: VecDeque::new(), first: 0, weight: 0, most, readers: 0 }
    }

    pub(super) fn has_readers(&self) -> bool {
        self.readers > 0
    }

    /// A new reader, of what comes from now on. Give its place back by [`leave`](Self::leave).
    pub(super) fn join(&mut self) -> Place {
        self.readers += 1;
        Place(self.end())
    }

    /// The reader at this place is gone, and holds nothing any more.
    pub(super) fn leave(&mut self, place: &Place) {
        for entry in self.entries.range_mut(self.index(place).unwrap_or(0)..) {
            entry.unread -= 1;
        }
        self.readers -= 1;
        self.tidy();
    }

    /// Adds an event. Only where there are readers: nobody else would ever take it out.
    pub(super) fn push(&mut self, event: Arc<Event>, weight: usize) {
        self.weight += weight;
        self.entries.push_back(Entry { event, weight, unread: self.readers });
        // The newest stays, however heavy it is: a reader that is not behind at all is not made to be.
        while self.entries.len() > self.most || self.weight > HEAVIEST && self.entries.len() > 1 {
            self.drop_first();
        }
    }

    /// What is at this place, if it is written yet.
    pub(super) fn next(&mut self, place: &mut Place) -> Result<Option<Arc<Event>>, Gone> {
        let at = self.index(place)?;
        let Some(entry) = self.entries.get_mut(at) else { return Ok(None) };
        place.0 += 1;
        entry.unread -= 1;
        let event = Arc::clone(&entry.event);
        self.tidy();
        Ok(Some(event))
    }

    /// How much there is from this place on.
    pub(super) fn unread(&self, place: &Place) -> usize {
        usize::try_from(self.end() - place.0.max(self.first)).unwrap_or(usize::MAX)
    }

    fn index(&self, place: &Place) -> Result<usize, Gone> {
        place.0.checked_sub(self.first).and_then(|at| usize::try_from(at).ok()).ok_or(Gone)
    }

    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn tidy(&mut self) {
        while self.entries.front().is_some_and(|entry| entry.unread == 0) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            self.first += 1;
            self.weight -= entry.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Transcript;

    fn event() -> Arc<Event> {
        Arc::new(Event::Reset(Arc::new(Transcript::new("a".into()))))
    }

    #[test]
    fn what_all_have_read_is_dropped() {
        let mut log = Log::new(10);
        let (mut one, two) = (log.join(), log.join());
        let events = [event(), event()];
        events.iter().for_each(|event| log.push(Arc::clone(event), 7));
        assert_eq!((log.unread(&one), log.weight), (2, 14));
        assert!(Arc::ptr_eq(&log.next(&mut one).unwrap().unwrap(), &events[0]));
        assert_eq!((log.unread(&one), log.unread(&two), log.weight), (1, 2, 14));
        log.leave(&two);
        assert_eq!((log.entries.len(), log.weight, Arc::strong_count(&events[0])), (1, 7, 1));
        assert!(log.next(&mut one).unwrap().is_some());
        assert_eq!((log.next(&mut one), log.entries.len(), log.weight), (Ok(None), 0, 0));
        log.leave(&one);
        assert!(!log.has_readers());
    }

    #[test]
    fn it_holds_so_many_and_so_much() {
        const HALF: usize = HEAVIEST / 2;
        let cases: [(&[usize], usize); 7] = [
            (&[0; 3], 3),
            (&[0; 10], 4),
            (&[HALF; 2], 2),
            (&[HALF; 3], 2),
            (&[HALF, HALF, 1], 2),
            (&[HEAVIEST + 1], 1),
            (&[HEAVIEST + 1, 1], 1),
        ];
        for (weights, stay) in cases {
            let mut log = Log::new(4);
            let mut place = log.join();
            weights.iter().for_each(|weight| log.push(event(), *weight));
            assert_eq!((log.entries.len(), log.unread(&place)), (stay, stay), "{weights:?}");
            assert_eq!(log.next(&mut place).is_err(), stay < weights.len(), "{weights:?}");
            log.leave(&place);
            assert_eq!((log.entries.len(), log.weight), (0, 0), "{weights:?}");
        }
    }
}
