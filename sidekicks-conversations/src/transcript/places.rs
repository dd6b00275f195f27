//! Where in a conversation each message is.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::id::MessageId;
use crate::message::Message;

/// Where each message is: one is found, and a new one told from those that are there, without looking at all of them.
///
/// It is no part of what was said, only made of it: two conversations never differ by it. Clones share it until one of
/// them grows.
#[derive(Default)]
pub(super) struct Places(Mutex<Arc<HashMap<MessageId, usize>>>);

impl Places {
    /// Where the message of this id is. What is known is tried before it is believed, and made good where it is wrong:
    /// whoever has the list may have changed it.
    pub(super) fn find(&self, messages: &[Arc<Message>], id: &MessageId) -> Option<usize> {
        let is_at = |place: usize, id: &MessageId| messages.get(place).is_some_and(|message| message.id == *id);
        let last = messages.len().checked_sub(1)?;
        // What is looked for is nearly always at the end.
        if is_at(last, id) {
            return Some(last);
        }
        let mut known = self.lock();
        let found = known.get(id).copied();
        if found.is_some_and(|place| is_at(place, id)) {
            return found;
        }
        // So many were the messages. They are taken for the same where the last of them is.
        let count = known.len();
        let newest =
            count.checked_sub(1).map(|at| messages.get(at).and_then(|message| known.get(&message.id)) == Some(&at));
        let from = if found.is_none() && newest != Some(false) { count } else { 0 };
        if from == messages.len() {
            return None;
        }
        if from == 0 {
            *known = Arc::default();
        }
        let new = messages.iter().enumerate().skip(from);
        Arc::make_mut(&mut known).extend(new.map(|(place, message)| (message.id.clone(), place)));
        known.get(id).copied()
    }

    fn lock(&self) -> MutexGuard<'_, Arc<HashMap<MessageId, usize>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Places {
    fn clone(&self) -> Self {
        Self(Mutex::new(Arc::clone(&self.lock())))
    }
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;
    use proptest::prelude::*;

    fn message(id: usize) -> Arc<Message> {
        Arc::new(Message::new(format!("m{id}").as_str().into(), Role::Agent, 0))
    }

    fn assert_finds(places: &Places, messages: &[Arc<Message>]) {
        for id in 0..30 {
            let id = format!("m{id}").as_str().into();
            let found = messages.iter().position(|message| message.id == id);
            assert_eq!(
                places.find(messages, &id),
                found,
                "{id} in {:?}",
                messages.iter().map(|m| &m.id).collect::<Vec<_>>()
            );
        }
    }

    proptest! {
        /// What an interface may do to the list by hand: add, take out, shorten, turn round.
        #[test]
        fn each_message_is_found(steps in prop::collection::vec((0..9usize, 0..30usize), 0..60)) {
            let (mut places, mut messages) = (Places::default(), Vec::new());
            for (id, (what, at)) in steps.into_iter().enumerate() {
                let (before, unchanged) = (places.clone(), messages.clone());
                match what {
                    0 if !messages.is_empty() => drop(messages.remove(at % messages.len())),
                    1 => messages.truncate(at),
                    2 => messages.reverse(),
                    3 => messages.insert(at.min(messages.len()), message(id)),
                    4 => places = Places::default(),
                    _ => messages.push(message(id)),
                }
                assert_finds(&places, &messages);
                assert_finds(&before, &unchanged);
            }
        }
    }

    /// Each is new when it is looked for, and there is one that nobody has.
    #[test]
    fn a_list_that_grows_is_looked_at_once() {
        let (places, mut messages) = (Places::default(), Vec::new());
        for id in 0..100 {
            assert_eq!(places.find(&messages, &"other".into()), None);
            messages.push(message(id));
            assert!(places.lock().len() == id, "only what was added since is looked at");
        }
    }
}
