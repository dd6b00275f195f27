//! What holds of a conversation, whatever happened.

use std::collections::HashSet;

use sidekicks_conversations::{Part, Role, Transcript, TurnPhase};

use crate::common::name;
use crate::watch::Watcher;

/// What holds at every moment.
pub(crate) fn assert_sound(now: &Transcript) {
    assert_eq!(now.agent, name());
    assert_eq!(now.turn.busy, now.turn.phase != TurnPhase::Idle);
    assert!(now.turn.busy || now.turn.queued == 0, "somebody waits for nothing");
    assert_eq!(now.turn.queued, now.messages.iter().filter(|message| message.queued).count());
    assert!(now.turn.phase != TurnPhase::Asking || !now.permissions.is_empty());
    let mut ids = HashSet::new();
    let mut answered = HashSet::new();
    let mut unfinished = 0;
    for message in &now.messages {
        assert!(ids.insert(&message.id), "{} is there twice", message.id);
        assert!(!(message.queued && message.not_sent));
        assert!(message.resent_as.as_ref().is_none_or(|again| now.message(again).is_some()));
        if let Some(question) = &message.reply_to {
            assert!(answered.insert(question), "{question} is answered twice");
            assert!(ids.contains(question), "an answer comes after what it answers");
        }
        unfinished += usize::from(!message.is_finished());
    }
    assert!(unfinished <= usize::from(now.turn.busy), "one answer at a time, in a turn");
}

/// What holds when nothing runs, and nothing comes any more.
pub(crate) fn assert_settled(now: &Transcript) {
    assert!(!now.turn.busy && now.turn.queued == 0 && now.permissions.is_empty(), "{:?}", now.turn);
    assert!(now.turn.silent_since.is_none() && now.turn.waiting_for.is_empty() && now.turn.failed_tools == 0);
    for message in &now.messages {
        assert!(message.is_finished() && !message.queued, "{message:?}");
        let answers = now.messages.iter().filter(|answer| answer.reply_to.as_ref() == Some(&message.id)).count();
        if message.role == Role::User && !message.not_sent {
            assert_eq!(answers, 1, "{message:?}");
        }
        for part in &message.parts {
            if let Part::Tool(tool) = part {
                assert!(["completed", "failed", "cancelled", "unfinished"].contains(&&*tool.status), "{tool:?}");
            }
        }
    }
}

/// The same of all who watch.
pub(crate) fn assert_mirrored(now: &Transcript, watchers: &[Watcher]) {
    for watcher in watchers {
        assert_eq!(*watcher.mirror.lock().unwrap(), *now, "{} sees what is there", watcher.name);
    }
}
