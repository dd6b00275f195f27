//! What somebody chooses: kept for the session that follows, or asked of the one that is open.

use std::sync::Arc;

use sidekicks_acp::schema::SessionConfigOption;
use sidekicks_acp::{Connector, Generation, Lease};
use tokio::sync::oneshot;

use super::{Core, Number, Session, Stage, Turn, Want};
use crate::error::RequestError;
use crate::wish::{Plan, Request, Setting, Way};

/// Something that somebody chose and that does not hold yet.
pub(super) struct Chosen {
    number: Number,
    pub(super) setting: Setting,
    /// Until the agent is asked for it: a turn that begins earlier asks for it itself, and tells here what came of that.
    waits: Option<oneshot::Sender<Result<(), RequestError>>>,
}

/// A choice on its way to a session that is open.
pub(crate) struct Errand {
    /// Whom the agent is to be borrowed of; `None` where this conversation holds it.
    pub(crate) connector: Option<Arc<dyn Connector>>,
    pub(crate) generation: Generation,
    /// What came of it without the errand; nothing where something else was chosen, and it is not needed any more.
    pub(crate) settled: oneshot::Receiver<Result<(), RequestError>>,
    number: Number,
    session: Number,
    setting: Setting,
    /// What the agent was asked, and under which number.
    asked: Option<(Number, Way)>,
}

/// What the agent answered to an errand: `None` where it was not asked, or was stopped meanwhile.
pub(crate) type Answer = Result<Option<Vec<SessionConfigOption>>, RequestError>;

/// An errand that came back, for as long as what the session said before it was not heard.
pub(super) struct Returned {
    errand: Errand,
    answer: Answer,
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
        if self.closed {
            return Err(RequestError::Closed);
        }
        let profile = self.common.directory.find(&self.agent).ok_or(RequestError::NoSuchAgent)?;
        self.look_at_configured(&profile);
        let setting = self.look_at_offer(|offered| setting.of_what_it_stands_for(offered));
        let open = self.session.as_ref().is_some_and(|session| session.id.is_some());
        // It would wait behind the turn, and be heard after it.
        let waits = matches!(self.turn, Some(Turn { stage: Stage::Borrowing(_), .. }));
        match self.plan(&setting) {
            Plan::Ask(_) if open && !waits => return Ok(self.errand(setting)),
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

    fn errand(&mut self, setting: Setting) -> Option<Errand> {
        let number = self.number();
        let Session { number: session, generation, connector, .. } = self.session.as_ref()?;
        let (waits, settled) = oneshot::channel();
        let errand = Errand {
            // Not what the directory has by now, which may be another agent of this name.
            connector: self.lease().is_none().then(|| Arc::clone(connector)),
            generation: *generation,
            settled,
            number,
            session: *session,
            setting: setting.clone(),
            asked: None,
        };
        self.choices.push(Chosen { number, setting, waits: Some(waits) });
        Some(errand)
    }

    /// The agent is had. Gives what it is to be asked for, if that is still needed. Whoever calls this asks before the core
    /// decides anything else.
    pub(crate) fn sets_out(&mut self, errand: &mut Errand) -> Result<Option<Request>, RequestError> {
        let Some(at) = self.choices.iter().position(|choice| choice.number == errand.number) else {
            return errand.settled.try_recv().unwrap_or(Ok(())).map(|()| None);
        };
        let is_overtaken = self.choices[at + 1..].iter().any(|later| later.setting.is_like(&errand.setting));
        if is_overtaken || self.session.as_ref().is_none_or(|session| session.number != errand.session) {
            return Ok(None); // It holds all the same, where nothing later does.
        }
        self.choices[at].waits = None;
        let way = match self.plan(&errand.setting) {
            Plan::Ask(way) => way,
            Plan::Nothing => return Ok(None),
            Plan::NotOffered(offered) => return Err(RequestError::NotOffered { offered }),
        };
        errand.asked = Some((self.asks_for(&errand.setting), way.clone()));
        self.is_asked(errand.setting.clone());
        Ok(self.request(way))
    }

    /// A turn saw to this: those who chose it and still wait for the agent need not.
    pub(super) fn saw_to(&mut self, setting: &Setting, answer: &Result<(), RequestError>) {
        let waits = |choice: &Chosen| choice.waits.is_some() && choice.setting == *setting;
        while let Some(at) = self.choices.iter().position(waits) {
            let Chosen { number, setting, waits } = self.choices.remove(at);
            if answer.is_ok() {
                self.holds(number, setting);
            }
            // Nobody waits for it where the runtime is gone.
            let _ = waits.map(|waits| waits.send(answer.clone()));
        }
    }

    /// What this conversation holds of the agent, for its turn or for a question: the session that is open, if one is, lives
    /// in that process.
    fn lease(&self) -> Option<&Lease> {
        let turn = self.turn.as_ref().and_then(|turn| turn.lease.as_ref());
        turn.or_else(|| self.card.as_ref().and_then(|card| card.lease.as_ref()))
    }

    /// What came of an errand, after everything that the session has said so far. Gives what ends when it is taken in.
    pub(crate) fn returned(&mut self, errand: Errand, answer: Answer) -> oneshot::Receiver<()> {
        let (sender, heard) = oneshot::channel();
        self.returned.push(Returned { errand, answer, _heard: sender });
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
        let Returned { errand: Errand { number, session, setting, asked, .. }, answer, _heard } = returned;
        let asked = asked.filter(|_| self.session.as_ref().is_some_and(|ours| ours.number == session));
        match answer {
            Ok(answer) => {
                // Otherwise a later choice holds already, or all was forgotten.
                if self.choices.iter().any(|choice| choice.number == number) {
                    self.holds(number, setting.clone());
                }
                if let (Some(options), Some((asked, way))) = (answer, asked) {
                    self.was_set(asked, setting, &way, options);
                }
            }
            Err(error) => {
                self.choices.retain(|choice| choice.number != number);
                if let (RequestError::Call(error), Some((asked, _))) = (&error, &asked) {
                    self.was_not_set(*asked, error);
                }
                // What it is to be instead is looked at before the next prompt.
                self.session.iter_mut().filter(|_| asked.is_some()).for_each(|session| session.asked.unset(&setting));
            }
        }
    }

    /// This holds from here on, and what was chosen of the kind before it never will.
    fn holds(&mut self, number: Number, setting: Setting) {
        self.choices.retain(|choice| choice.number.0 > number.0 || !choice.setting.is_like(&setting));
        self.chosen.set(setting);
    }
}

fn not_offered(setting: Setting, offered: Vec<String>) -> RequestError {
    match setting {
        Setting::Option(..) if offered.is_empty() => RequestError::NoSession,
        _ => RequestError::NotOffered { offered },
    }
}
