//! Questions between turns: the agent is borrowed for as long as one is open, so that it is not stopped under the card.

use std::sync::Arc;

use sidekicks_acp::{ConnectError, Connector, Lease};

use super::{Core, Number, Stage, Turn, Want};
use crate::event::ResolvedBy;

/// What keeps the agent alive while nobody has answered yet.
pub(super) struct Card {
    number: Number,
    connector: Arc<dyn Connector>,
    pub(super) lease: Option<Lease>,
}

impl Card {
    pub(super) fn wants(&self) -> Option<(Number, Want)> {
        let connector = Arc::clone(&self.connector);
        self.lease.is_none().then_some((self.number, Want::Lease { connector, between_turns: true }))
    }
}

impl Core {
    /// A question was asked or settled.
    pub(super) fn mind_card(&mut self) {
        let in_turn = matches!(self.turn, Some(Turn { stage: Stage::Prompting(_), .. }));
        if self.questions.is_empty() {
            self.card = None;
        } else if !in_turn && self.card.is_none() {
            // Of an agent that is in no directory any more the question stays open for as long as it lives.
            let profile = self.common.directory.find(&self.agent);
            self.card =
                profile.map(|profile| Card { number: self.number(), connector: profile.connector, lease: None });
        }
    }

    pub(super) fn card_borrowed(&mut self, number: Number, lease: Result<Lease, ConnectError>) {
        let Some(card) = self.card.as_mut().filter(|card| card.number == number) else { return };
        let asked_in = self.session.as_ref().map(|session| session.generation);
        match lease {
            Ok(lease) if Some(lease.generation()) == asked_in => card.lease = Some(lease),
            // Who asked is gone, and another start knows nothing of it.
            _ => {
                self.settle_questions(ResolvedBy::Agent);
                self.tell_turn();
            }
        }
    }
}
