//! Modes, models and options: asked for before a prompt, or in between on behalf of somebody who chose.

use std::sync::Arc;

use sidekicks_acp::schema::{SessionConfigOption, SessionId};
use sidekicks_acp::{AgentConnection, CallError, Connector, Generation, Lease, Phase};
use tokio::sync::oneshot;

use super::{Core, Number, Session, Stage, Turn, Want};
use crate::conversations::AgentProfile;
use crate::error::RequestError;
use crate::event::{Event, Offer};
use crate::failure::Failure;
use crate::transcript::Transcript;
use crate::wish::{self, Models, Offered, Plan, Setting, Way, Wish};

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
        (self.errand.number, Want::Quiet)
    }
}

fn offered<'a>(transcript: &'a Transcript, models: &'a Models) -> Offered<'a> {
    Offered { modes: transcript.modes.as_ref(), options: &transcript.config_options, models }
}

impl Core {
    /// Sets up the session, if there is something to be set; then sends the prompt.
    pub(super) fn ready(&mut self) {
        let Some(Turn { stage: Stage::Opening, lease: Some(_), profile, .. }) = &self.turn else { return };
        let profile = profile.clone();
        let wish = self.wish(&profile);
        loop {
            let Some(Session { id: Some(_), asked, .. }) = &self.session else { return };
            let Some(setting) = wish.beyond(asked) else { return self.prompt() };
            match self.plan(&setting) {
                Plan::Ask(way) => {
                    let number = self.asks_for(&setting);
                    if let Some(turn) = &mut self.turn {
                        turn.stage = Stage::Setting(number, setting, way);
                    }
                    return;
                }
                Plan::NotOffered(others) if setting.codes().is_some() => return self.refused(&setting, others, None),
                // An option that a new session does not have any more.
                Plan::NotOffered(_) | Plan::Nothing => self.is_asked(setting),
            }
        }
    }

    /// What is to be done for this.
    fn plan(&self, setting: &Setting) -> Plan {
        let unsure = self.session.as_ref().is_some_and(|session| session.confirmations.is_open(setting));
        self.look_at_offer(|offered| if unsure { setting.request(offered) } else { setting.plan(offered) })
    }

    /// The agent is asked for this, under this number.
    fn asks_for(&mut self, setting: &Setting) -> Number {
        let number = self.number();
        if let Some(session) = &mut self.session {
            let transcript = self.common.hub.transcript(&self.agent);
            session.confirmations.ask(number, setting, offered(&transcript, &session.models));
        }
        number
    }

    /// There is nothing more to be asked of the session for this.
    fn is_asked(&mut self, setting: Setting) {
        if let Some(session @ Session { id: Some(_), .. }) = &mut self.session {
            session.asked.set(setting);
        }
    }

    fn look_at_offer<T>(&self, look: impl FnOnce(Offered<'_>) -> T) -> T {
        let nothing = Models::default();
        let models = self.session.as_ref().map_or(&nothing, |session| &session.models);
        self.look(|transcript| look(offered(transcript, models)))
    }

    /// Whether the agent can be in a mode of this name, for all that is known.
    pub(super) fn is_a_mode(&self, mode: &str) -> bool {
        let mode = Setting::Mode(mode.to_owned());
        self.session.as_ref().is_some_and(|session| session.confirmations.wants(&mode))
            || self.look_at_offer(|offered| mode.is_among(offered))
    }

    /// What is wanted of the session: what somebody chose, and else what is configured. What is configured anew goes
    /// before what was chosen until then.
    fn wish(&mut self, profile: &AgentProfile) -> Wish {
        let now = Wish { mode: profile.mode.clone(), model: profile.model.clone(), options: Vec::new() };
        if let Some(before) = &self.configured {
            self.chosen.mode.take_if(|_| before.mode != now.mode);
            self.chosen.model.take_if(|_| before.model != now.model);
        }
        self.configured = Some(now.clone());
        let Wish { mode, model, options } = self.chosen.clone();
        Wish { mode: mode.or(now.mode), model: model.or(now.model), options }
    }

    /// The agent answered what it was asked for before the prompt.
    pub(super) fn set(
        &mut self,
        number: Number,
        setting: Setting,
        way: &Way,
        answer: Result<Vec<SessionConfigOption>, CallError>,
    ) {
        let Some(turn) = &mut self.turn else { return };
        turn.stage = Stage::Opening;
        let refused = |error: &CallError| matches!(error, CallError::Agent(error) if !error.login_required());
        match answer {
            Ok(options) => self.was_set(number, setting, way, options),
            Err(error) => {
                self.was_not_set(number, &error);
                if !refused(&error) {
                    return self.call_failed(&error, Phase::Open);
                }
                if setting.codes().is_some() {
                    let others = self.look_at_offer(|offered| setting.others(offered));
                    return self.refused(&setting, others, Some(&error));
                }
                // An option that somebody chose in a session that is gone is worth no more than a try.
                self.is_asked(setting);
            }
        }
        self.tell_turn();
    }

    /// The session is to be so from here on, and the agent says yes.
    fn was_set(&mut self, number: Number, setting: Setting, way: &Way, answer: Vec<SessionConfigOption>) {
        let transcript = self.common.hub.transcript(&self.agent);
        let Some(session) = &mut self.session else { return };
        let told = session.confirmations.yes(number, &setting);
        session.confirmations.hear(Offered { modes: None, options: &answer, models: &Models::default() });
        let (mut offer, mut options) = (Offer::default(), transcript.config_options.clone());
        match way {
            Way::Option(..) if !answer.is_empty() => options = answer,
            _ if told => {} // It told itself what is so.
            Way::Option(id, value) => wish::put(&mut options, id, value),
            Way::Mode(mode) => {
                let modes = transcript.modes.as_ref().filter(|modes| modes.current_mode_id != *mode);
                offer.modes = modes.map(|modes| Some(wish::in_mode(Some(modes), mode.clone())));
            }
            Way::Model(model) => session.models.set(model),
        }
        if options != transcript.config_options {
            offer.config_options = Some(options);
        }
        session.asked.set(setting);
        drop(transcript);
        if offer != Offer::default() {
            self.publish(Event::AgentChanged { agent: self.agent.clone(), offer });
        }
    }

    /// Only an agent that says no is sure not to have done it.
    fn was_not_set(&mut self, number: Number, error: &CallError) {
        if let (CallError::Agent(_), Some(session)) = (error, &mut self.session) {
            session.confirmations.no(number);
        }
    }

    /// The agent told what it is at.
    pub(super) fn hear_confirmations(&mut self, offer: &Offer) {
        let modes = offer.modes.as_ref().and_then(Option::as_ref);
        let options = offer.config_options.as_deref().unwrap_or_default();
        if let Some(session) = &mut self.session {
            session.confirmations.hear(Offered { modes, options, models: &Models::default() });
        }
    }

    /// The agent begins to answer: by now it has said what there was to say of its mode.
    pub(super) fn judge_confirmations(&mut self) {
        let doubts = self.session.as_mut().map(|session| session.confirmations.judge());
        for (code, params) in doubts.into_iter().flatten() {
            self.say(code, params);
        }
    }

    /// The agent does not do what was to be sure before anything is said to it.
    fn refused(&mut self, setting: &Setting, others: Vec<String>, error: Option<&CallError>) {
        let Some((code, _)) = setting.codes() else { return };
        self.chosen.unset(setting); // The next turn is had as it is configured.
        self.fail_before_prompt(Failure::of_refusal(code, setting.wanted(), others, error));
    }

    // Somebody chooses.

    /// Somebody chose this. Where no session is open, it is kept for the next one; where a turn waits for the agent, for that
    /// turn.
    pub(crate) fn choose(&mut self, setting: Setting) -> Result<Option<Errand>, RequestError> {
        let profile = self.common.directory.find(&self.agent).ok_or(RequestError::NoSuchAgent)?;
        let setting = self.look_at_offer(|offered| setting.of_what_it_stands_for(offered));
        let open = self.session.as_ref().is_some_and(|session| session.id.is_some());
        // It would wait behind the turn, and be heard after it.
        let waits = matches!(self.turn, Some(Turn { stage: Stage::Borrowing(_), .. }));
        match self.plan(&setting) {
            Plan::Ask(way) if open && !waits => return Ok(self.errand(setting, way, profile.connector)),
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

    fn errand(&mut self, setting: Setting, way: Way, connector: Arc<dyn Connector>) -> Option<Errand> {
        let number = self.asks_for(&setting);
        self.choices.push((number, setting.clone()));
        let Session { number: asked_of, generation, connection, id, .. } = self.session.as_ref()?;
        Some(Errand {
            connector: self.lease().is_none().then_some(connector),
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
        heard
    }

    /// What the session says is left where it is until those who follow read, who may be those who wait for their choice.
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
