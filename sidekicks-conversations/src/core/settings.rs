//! Modes, models and options: asked of a session, and looked after.

use std::sync::Arc;

use sidekicks_acp::schema::SessionConfigOption;
use sidekicks_acp::{CallError, Phase};

use super::{Answer, Core, Number, Session, Stage, Turn};
use crate::directory::AgentProfile;
use crate::error::RequestError;
use crate::event::Offer;
use crate::failure::Failure;
use crate::transcript::Transcript;
use crate::wish::{self, Models, Offered, Plan, Request, Setting, Way, Wish};

fn offered<'a>(transcript: &'a Transcript, models: &'a Models) -> Offered<'a> {
    Offered { modes: transcript.modes.as_ref(), options: &transcript.config_options, models }
}

impl Core {
    /// Sets up the session, if there is something to be set; then sends the prompt.
    pub(super) fn ready(&mut self) {
        let Some(Turn { stage: Stage::Opening, lease: Some(_), .. }) = &self.turn else { return };
        if self.session.as_ref().is_none_or(|session| session.id.is_none()) {
            return;
        }
        self.session.iter_mut().for_each(|session| session.recall.lasts = false);
        let wish = self.wish();
        loop {
            let Some(Session { id: Some(_), asked, .. }) = &self.session else { return };
            let Some(setting) = wish.beyond(asked) else { return self.prompt() };
            match self.plan(&setting) {
                Plan::Ask(_) => {
                    let number = self.number();
                    if let Some(turn) = &mut self.turn {
                        turn.stage = Stage::Setting { number, setting, asked: None };
                    }
                    return;
                }
                Plan::NotOffered(others) if setting.codes().is_some() => return self.refused(&setting, others, None),
                plan => {
                    let answer = match plan {
                        // An option that a new session does not have any more.
                        Plan::NotOffered(offered) => Err(RequestError::NotOffered { offered }),
                        _ => Ok(()),
                    };
                    self.saw_to(&setting, &answer);
                    self.is_asked(setting);
                }
            }
        }
    }

    /// The agent can be asked for what the turn is to set. Gives what for, if that is still wanted: somebody may have
    /// chosen something else since. Whoever calls this asks before the core decides anything else.
    pub(crate) fn sets(&mut self, wanted: Number) -> Option<Request> {
        let Some(Turn { stage: Stage::Setting { number, setting, .. }, .. }) = &self.turn else { return None };
        if *number != wanted {
            return None; // The turn that it was for is over.
        }
        let setting = setting.clone();
        let is_asked = self.session.as_ref().is_none_or(|session| session.asked.has(&setting));
        let Plan::Ask(way) = self.plan(&setting) else { return None };
        if is_asked || !self.wish().has(&setting) {
            return None;
        }
        let number = self.asks_for(&setting);
        if let Some(Turn { stage: Stage::Setting { asked, .. }, .. }) = &mut self.turn {
            *asked = Some((number, way.clone()));
        }
        self.request(way)
    }

    /// What is to be done for this.
    pub(super) fn plan(&self, setting: &Setting) -> Plan {
        let unsure = self.session.as_ref().is_some_and(|session| {
            session.confirmations.is_open(setting) || (session.id.is_some() && !session.told.knows(setting))
        });
        self.look_at_offer(|offered| if unsure { setting.request(offered) } else { setting.plan(offered) })
    }

    /// The agent is asked for this, under this number.
    pub(super) fn asks_for(&mut self, setting: &Setting) -> Number {
        let number = self.number();
        if let Some(session) = &mut self.session {
            let transcript = self.common.hub.transcript(&self.agent);
            session.confirmations.ask(number, setting, offered(&transcript, &session.models));
        }
        number
    }

    /// What the session that is open is asked in this way.
    pub(super) fn request(&self, way: Way) -> Option<Request> {
        let Session { connection, id, .. } = self.session.as_ref()?;
        Some(Request { connection: Arc::clone(connection), session: id.clone()?, way })
    }

    /// There is nothing more to be asked of the session for this.
    pub(super) fn is_asked(&mut self, setting: Setting) {
        if let Some(session @ Session { id: Some(_), .. }) = &mut self.session {
            session.asked.set(setting);
        }
    }

    pub(super) fn look_at_offer<T>(&self, look: impl FnOnce(Offered<'_>) -> T) -> T {
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

    /// Looks at what is configured. What is so anew goes before what was chosen until then.
    pub(super) fn look_at_configured(&mut self, profile: &AgentProfile) {
        let now = Wish { mode: profile.mode.clone(), model: profile.model.clone(), options: Vec::new() };
        if let Some(before) = &self.configured {
            self.chosen.mode.take_if(|_| before.mode != now.mode);
            self.chosen.model.take_if(|_| before.model != now.model);
        }
        self.configured = Some(now);
    }

    /// What is wanted of the session: what somebody chose, and else what is configured.
    fn wish(&self) -> Wish {
        let now = self.configured.clone().unwrap_or_default();
        let Wish { mode, model, options } = self.chosen.clone();
        let mut wish = Wish { mode: mode.or(now.mode), model: model.or(now.model), options };
        self.choices.iter().for_each(|choice| wish.set(choice.setting.clone()));
        wish
    }

    /// The agent answered what it was asked for before the prompt, or there was nothing to be asked any more.
    pub(super) fn set(&mut self, setting: Setting, asked: Option<(Number, Way)>, answer: Answer) {
        let Some(turn) = &mut self.turn else { return };
        turn.stage = Stage::Opening;
        match (answer, asked) {
            (Ok(Some(options)), Some((number, way))) => {
                self.was_set(number, setting.clone(), &way, options);
                // Otherwise it was asked for something else since.
                if self.session.as_ref().is_some_and(|session| !session.confirmations.is_open(&setting)) {
                    self.saw_to(&setting, &Ok(()));
                }
                self.tell_turn();
            }
            (Err(RequestError::Call(error)), asked) => {
                asked.into_iter().for_each(|(number, _)| self.was_not_set(number, &error));
                self.could_not_set(setting, error);
            }
            _ => self.tell_turn(),
        }
    }

    fn could_not_set(&mut self, setting: Setting, error: CallError) {
        let is_lost = self.has_lost_session(&error);
        if is_lost {
            self.lose_session();
            if self.retry() {
                return;
            }
            self.end_session();
        }
        if is_lost || !matches!(&error, CallError::Agent(error) if !error.login_required()) {
            return self.call_failed(&error, Phase::Open);
        }
        if !self.wish().has(&setting) {
            self.saw_to(&setting, &Err(error.into()));
            return self.tell_turn(); // Somebody chose something else since.
        }
        if setting.codes().is_some() {
            let others = self.look_at_offer(|offered| setting.others(offered));
            return self.refused(&setting, others, Some(&error));
        }
        // An option that somebody chose in a session that is gone is worth no more than a try.
        self.saw_to(&setting, &Err(error.into()));
        self.is_asked(setting);
        self.tell_turn();
    }

    /// The session is to be so from here on, and the agent says yes.
    pub(super) fn was_set(&mut self, number: Number, setting: Setting, way: &Way, answer: Vec<SessionConfigOption>) {
        let transcript = self.common.hub.transcript(&self.agent);
        let Some(session) = &mut self.session else { return };
        let Some(told) = session.confirmations.yes(number, &setting) else {
            // It was asked for something else since, and has said yes to that. Which it did last, it does not tell.
            session.told.doubt(&setting);
            return session.asked.unset(&setting);
        };
        session.confirmations.hear(Offered { modes: None, options: &answer, models: &Models::default() });
        let mut offer = Offer::default();
        match way {
            Way::Option(..) if !answer.is_empty() => offer.config_options = Some(answer),
            _ if told => {} // It told itself what is so.
            Way::Option(id, value) => {
                let mut options = transcript.config_options.clone();
                wish::put(&mut options, id, value);
                offer.config_options = Some(options);
            }
            Way::Mode(mode) => {
                let modes = transcript.modes.as_ref();
                offer.modes = modes.map(|modes| Some(wish::in_mode(Some(modes), mode.clone())));
            }
            Way::Model(model) => session.models.set(model),
        }
        if !session.confirmations.is_open(&setting) {
            session.asked.set(setting); // Otherwise it was asked for something else since.
        }
        drop(transcript);
        self.tell_offer(offer);
    }

    /// Only an agent that says no is sure not to have done it.
    pub(super) fn was_not_set(&mut self, number: Number, error: &CallError) {
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
        if self.chosen.has(setting) {
            self.chosen.unset(setting); // The next turn is had as it is configured.
        }
        let offered = others.clone();
        let answer = error.cloned().map_or(RequestError::NotOffered { offered }, RequestError::Call);
        self.saw_to(setting, &Err(answer));
        self.fail_before_prompt(Failure::of_refusal(code, setting.wanted(), others, error));
    }
}
