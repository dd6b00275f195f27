//! What passes with time: silence, words that come late, a cancel that is not obeyed.

use std::mem;

use tokio::time::Instant;

use super::questions::Question;
use super::{Core, Stage};
use crate::id::MessageId;

/// When something came of the agent last.
pub(super) struct Heard {
    pub(super) at: Instant,
    /// The same by the clock, in milliseconds since the Unix epoch.
    pub(super) clock: u64,
    /// That nothing came since was told.
    pub(super) told: bool,
}

/// Finished messages that were added to since: each is told as a whole once nothing more comes.
#[derive(Default)]
pub(super) struct Late {
    pub(super) messages: Vec<MessageId>,
    pub(super) due: Option<Instant>,
}

impl Core {
    /// Whether what the agent says is heard now, or left where it is until those who follow have room for it.
    pub(crate) fn listen(&mut self, listens: bool) {
        if !mem::replace(&mut self.listens, listens) && listens {
            self.heard();
        }
        if !listens {
            self.take_in_all();
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let cancelled = self.turn.as_ref().and_then(|turn| turn.deadline);
        let own = [cancelled, self.late.due, self.silent_from(), self.questions_due()];
        own.into_iter().flatten().min()
    }

    pub(crate) fn passed(&mut self, now: Instant) {
        if self.late.due.is_some_and(|due| due <= now) {
            self.tell_late();
        }
        self.settle_due(now);
        if self.silent_from().is_some_and(|silent| silent <= now)
            && let Some(turn) = &mut self.turn
        {
            turn.heard.told = true;
            self.tell_turn();
        }
        if self.turn.as_ref().and_then(|turn| turn.deadline).is_some_and(|deadline| deadline <= now) {
            self.condemn();
        }
    }

    /// When it is to be told that nothing comes, if that was not told already. Who waits for the person is not silent, nor
    /// who is not listened to.
    fn silent_from(&self) -> Option<Instant> {
        let turn = self.turn.as_ref()?;
        let works = matches!(turn.stage, Stage::Prompting(_))
            && !turn.cancelled
            && !self.questions.iter().any(Question::is_asked);
        if works && self.listens && !turn.heard.told {
            turn.heard.at.checked_add(self.common.options.silence)
        } else {
            None
        }
    }

    /// Something came of the agent, or it may go on.
    pub(super) fn heard(&mut self) {
        let clock = self.common.now();
        if let Some(turn) = self.turn.as_mut().filter(|turn| matches!(turn.stage, Stage::Prompting(_))) {
            let told = mem::replace(&mut turn.heard, Heard { at: Instant::now(), clock, told: false }).told;
            if told {
                self.tell_turn();
            }
        }
    }
}
