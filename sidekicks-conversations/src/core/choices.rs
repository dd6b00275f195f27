//! What somebody chooses: kept for the session that follows, or asked of the one that is open.

use std::sync::Arc;

use sidekicks_acp::schema::{SessionConfigOption, SessionId};
use sidekicks_acp::{AgentConnection, Connector, Generation, Lease};
use tokio::sync::oneshot;

use super::{Core, Number, Session, Stage, Turn, Want};
use crate::error::RequestError;
use crate::wish::{Plan, Setting, Way};

/// Something that somebody chose, on its way to a session that is open.
pub(crate) struct Errand {
    /// Whom the agent is to be borrowed of; `None` where this conversation holds it.
    pub(crate) connector: Option<Arc<dyn Connector>>,
    pub(crate) connection: Arc<dyn AgentConnection>,
    pub(crate) generation: Generation,
    pub(crate) session: SessionId,
    pub(crate) way: Way,
    number: Number,
    asked_of: Number,
    setting: Setting,
}

/// What came of an errand: `None` where the agent was stopped meanwhile.
pub(crate) type Outcome = Result<Option<Vec<SessionConfigOption>>, RequestError>;

/// An errand that came back, for as long as what the session said before it was not heard.
pub(super) struct Returned {
    errand: Errand,
    outcome: Outcome,
    /// Is dropped once that is done.
    _heard: oneshot::Sender<()>,
}

impl Returned {
    pub(super) fn wants(&self) -> (Number, Want) {
        (self.errand.number, Want::Quiet(None))
    }
}

impl Core {
    /// Somebody chose this. Where no session is open, it is kept for the next one; where a turn waits for the agent, for that
    /// turn.
    pub(crate) fn choose(&mut self, setting: Setting) -> Result<Option<Errand>, RequestError> {
        let profile = self.common.directory.find(&self.agent).ok_or(RequestError::NoSuchAgent)?;
        self.look_at_configured(&profile);
        let setting = self.look_at_offer(|offered| setting.of_what_it_stands_for(offered));
        let open = self.session.as_ref().is_some_and(|session| session.id.is_some());
        // It would wait behind the turn, and be heard after it.
        let waits = matches!(self.turn, Some(Turn { stage: Stage::Borrowing(_), .. }));
        match self.plan(&setting) {
            Plan::Ask(way) if open && !waits => return Ok(self.errand(setting, way)),
            Plan::NotOffered(offered) if open => return Err(RequestError::NotOffered { offered }),
            // Of a model it may be known only in a session whether it is offered.
            Plan::NotOffered(offered) if !matches!(setting, Setting::Model(_)) => {
                return Err(not_offered(setting, offered));
            }
            Plan::Nothing => self.is_asked(setting.clone()),
            _ => {}
        }
        let number = self.number();
        self.holds(number, setting);
        Ok(None)
    }

    fn errand(&mut self, setting: Setting, way: Way) -> Option<Errand> {
        let number = self.asks_for(&setting);
        self.choices.push((number, setting.clone()));
        self.is_asked(setting.clone());
        let Session { number: asked_of, generation, connector, connection, id, .. } = self.session.as_ref()?;
        Some(Errand {
            // Not what the directory has by now, which may be another agent of this name.
            connector: self.lease().is_none().then(|| Arc::clone(connector)),
            connection: Arc::clone(connection),
            generation: *generation,
            session: id.clone()?,
            way,
            number,
            asked_of: *asked_of,
            setting,
        })
    }

    /// What this conversation holds of the agent, for its turn or for a question: the session that is open, if one is, lives
    /// in that process.
    fn lease(&self) -> Option<&Lease> {
        let turn = self.turn.as_ref().and_then(|turn| turn.lease.as_ref());
        turn.or_else(|| self.card.as_ref().and_then(|card| card.lease.as_ref()))
    }

    /// What came of an errand, after everything that the session has said so far. Gives what ends when it is taken in.
    pub(crate) fn returned(&mut self, errand: Errand, outcome: Outcome) -> oneshot::Receiver<()> {
        let (sender, heard) = oneshot::channel();
        self.returned.push(Returned { errand, outcome, _heard: sender });
        if self.closed {
            self.take_in_all();
        }
        heard
    }

    /// What the session says is left where it is, until those who follow read or for good. Those who wait for their choice
    /// may be the same.
    pub(crate) fn take_in_all(&mut self) {
        std::mem::take(&mut self.returned).into_iter().for_each(|returned| self.take_in(returned));
    }

    /// What the session said before the errand of this number came back was heard, if that is one.
    pub(super) fn heard_before(&mut self, number: Number) -> bool {
        let at = self.returned.iter().position(|returned| returned.errand.number == number);
        let returned = at.map(|at| self.returned.remove(at));
        returned.map(|returned| self.take_in(returned)).is_some()
    }

    fn take_in(&mut self, returned: Returned) {
        let Returned { errand: Errand { number, asked_of, setting, way, .. }, outcome, _heard } = returned;
        match outcome {
            Ok(answer) => {
                // Otherwise a later choice holds already, or all was forgotten.
                if self.choices.iter().any(|(known, _)| *known == number) {
                    self.holds(number, setting.clone());
                }
                if let Some(answer) = answer
                    && self.session.as_ref().is_some_and(|session| session.number == asked_of)
                {
                    self.was_set(number, setting, &way, answer);
                }
            }
            Err(error) => {
                self.choices.retain(|(known, _)| *known != number);
                if let RequestError::Call(error) = &error {
                    self.was_not_set(number, error);
                }
                // What it is to be instead is looked at before the next prompt.
                if let Some(session) = self.session.as_mut().filter(|session| session.number == asked_of) {
                    session.asked.unset(&setting);
                }
            }
        }
    }

    /// This holds from here on, and what was chosen of the kind before it never will.
    fn holds(&mut self, number: Number, setting: Setting) {
        self.choices.retain(|(known, other)| known.0 > number.0 || !other.is_like(&setting));
        self.chosen.set(setting);
    }
}

fn not_offered(setting: Setting, offered: Vec<String>) -> RequestError {
    match setting {
        Setting::Option(..) if offered.is_empty() => RequestError::NoSession,
        _ => RequestError::NotOffered { offered },
    }
}
