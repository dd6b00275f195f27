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
    pub(super) fn wants(&self, owner: String) -> Option<(Number, Want)> {
        let connector = Arc::clone(&self.connector);
        self.lease.is_none().then_some((self.number, Want::Lease { connector, owner }))
    }
}

impl Core {
    /// A question was asked or settled.
    pub(super) fn mind_card(&mut self) {
        let in_turn = matches!(self.turn, Some(Turn { lease: Some(_), .. }));
        if self.questions.is_empty() {
            self.card = None;
        } else if !in_turn && self.card.is_none() {
            // Of an agent that is in no directory any more the question stays open for as long as it lives.
            let is_there = self.common.directory.find(&self.agent).is_some();
            let connector = self.session.as_ref().filter(|_| is_there).map(|session| Arc::clone(&session.connector));
            self.card = connector.map(|connector| Card { number: self.number(), connector, lease: None });
        }
    }

    /// A turn that ends leaves its lease to the questions that are still open.
    pub(super) fn keep_for_card(&mut self, lease: Option<Lease>, connector: Arc<dyn Connector>) {
        let lease = lease.filter(|lease| {
            let session = self.session.as_ref();
            !self.questions.is_empty() && session.is_some_and(|session| session.is_had_by(lease, &connector))
        });
        if lease.is_some() {
            self.card = Some(Card { number: self.number(), connector, lease });
        }
    }

    pub(super) fn card_borrowed(&mut self, number: Number, lease: Result<Lease, ConnectError>) {
        let Some(card) = self.card.as_mut().filter(|card| card.number == number) else { return };
        match lease {
            Ok(lease) if self.session.as_ref().is_some_and(|session| session.is_had_by(&lease, &card.connector)) => {
                card.lease = Some(lease);
                self.lend_to_turn();
            }
            // The turn has borrowed it itself meanwhile.
            Err(_) if self.turn.as_ref().is_some_and(|turn| turn.lease.is_some()) => self.card = None,
            // Who asked is gone, and another start knows nothing of it.
            _ => {
                self.settle_questions(ResolvedBy::Agent);
                self.tell_turn();
            }
        }
    }

    /// A turn that waits for the agent need not wait for the person to answer: it is had under the lease of the card. Where
    /// it is to be had of another connector, that may still be the same agent, so the lease goes back.
    pub(super) fn lend_to_turn(&mut self) {
        let Some(Turn { stage: Stage::Borrowing(_), profile, .. }) = &self.turn else { return };
        if let Some(Card { lease: Some(lease), connector, .. }) = self.card.take_if(|card| card.lease.is_some())
            && Arc::ptr_eq(&connector, &profile.connector)
        {
            self.borrowed(Ok(lease));
        }
    }
}
