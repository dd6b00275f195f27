//! Modes, models and options: asked for before a prompt, or in between on behalf of somebody who chose.

use std::sync::Arc;

use sidekicks_acp::schema::{SessionConfigOption, SessionId};
use sidekicks_acp::{CallError, Connector, Generation, Phase};

use super::confirm::Confirmation;
use super::{Core, Number, Session, Stage, Turn};
use crate::conversations::AgentProfile;
use crate::error::RequestError;
use crate::event::{Event, Offer};
use crate::failure::Failure;
use crate::transcript::Transcript;
use crate::wish::{self, Models, Offered, Plan, Setting, Way, Wish};

/// Something that somebody chose, on its way to a session that is open.
pub(crate) struct Errand {
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) generation: Generation,
    pub(crate) session: SessionId,
    pub(crate) way: Way,
    number: Number,
    setting: Setting,
}

fn offered<'a>(transcript: &'a Transcript, models: &'a Models) -> Offered<'a> {
    Offered { modes: transcript.modes.as_ref(), options: &transcript.config_options, models }
}

impl Session {
    /// It is asked for this.
    fn is_asked_for(&mut self, setting: &Setting, offered: bool) {
        self.is_not_asked_for(setting);
        self.confirmations.push(Confirmation::of(setting, offered));
    }

    /// There is nothing to be confirmed: the agent said no, or nothing.
    fn is_not_asked_for(&mut self, setting: &Setting) {
        self.confirmations.retain(|known| !known.is_of(setting));
    }
}

impl Core {
    /// Sets up the session, if there is something to be set; then sends the prompt.
    pub(super) fn ready(&mut self) {
        let Some(Turn { stage: Stage::Opening, lease: Some(_), profile, .. }) = &self.turn else { return };
        if self.session.as_ref().is_none_or(|session| session.id.is_none()) {
            return;
        }
        let profile = profile.clone();
        self.tell_recall();
        let wish = self.wish(&profile);
        loop {
            let Some(session @ Session { id: Some(_), .. }) = &mut self.session else { return };
            let Some(setting) = wish.beyond(&session.asked) else { return self.prompt() };
            let transcript = self.common.hub.transcript(&self.agent);
            let offered = offered(&transcript, &session.models);
            match setting.plan(offered) {
                Plan::Ask(way) => {
                    let known = setting.is_among(offered);
                    session.is_asked_for(&setting, known);
                    let number = self.number();
                    if let Some(turn) = &mut self.turn {
                        turn.stage = Stage::Setting(number, setting, way);
                    }
                    return;
                }
                Plan::NotOffered(others) if setting.codes().is_some() => return self.refused(&setting, others, None),
                // An option that a new session does not have any more.
                Plan::NotOffered(_) | Plan::Nothing => session.asked.set(setting),
            }
        }
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
    pub(super) fn set(&mut self, setting: Setting, way: &Way, answer: Result<Vec<SessionConfigOption>, CallError>) {
        let Some(turn) = &mut self.turn else { return };
        turn.stage = Stage::Opening;
        if let (Err(_), Some(session)) = (&answer, &mut self.session) {
            session.is_not_asked_for(&setting);
        }
        let refused = |error: &CallError| matches!(error, CallError::Agent(error) if !error.login_required());
        match answer {
            Ok(options) => self.was_set(setting, way, options),
            Err(error) if refused(&error) && setting.codes().is_some() => {
                let others = self.others(&setting);
                return self.refused(&setting, others, Some(&error));
            }
            Err(error) if refused(&error) => {
                // An option that somebody chose in a session that is gone is worth no more than a try.
                self.session.iter_mut().for_each(|session| session.asked.set(setting.clone()));
            }
            Err(error) => return self.call_failed(&error, Phase::Open),
        }
        self.tell_turn();
    }

    /// The session is to be so from here on, and the agent says yes.
    fn was_set(&mut self, setting: Setting, way: &Way, answer: Vec<SessionConfigOption>) {
        let transcript = self.common.hub.transcript(&self.agent);
        let Some(session) = &mut self.session else { return };
        let told = session.confirmations.iter().any(|known| known.is_of(&setting) && known.was_told());
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
        if matches!(way, Way::Option(..)) {
            self.hear_confirmations(&offer);
        }
        if offer != Offer::default() {
            self.publish(Event::AgentChanged { agent: self.agent.clone(), offer });
        }
    }

    /// The agent told what it is at.
    pub(super) fn hear_confirmations(&mut self, offer: &Offer) {
        let Some(Session { confirmations, .. }) = &mut self.session else { return };
        let nothing = Models::default();
        let told = Offered {
            modes: offer.modes.as_ref().and_then(Option::as_ref),
            options: offer.config_options.as_deref().unwrap_or_default(),
            models: &nothing,
        };
        for confirmation in confirmations {
            if let Some(current) = confirmation.setting().current(told) {
                confirmation.said(current);
            }
        }
    }

    /// The agent begins to answer: by now it has said what there was to say of its mode.
    pub(super) fn judge_confirmations(&mut self) {
        let confirmations = self.session.as_mut().map(|session| std::mem::take(&mut session.confirmations));
        for (code, params) in confirmations.into_iter().flatten().filter_map(Confirmation::doubt) {
            self.say(code, params);
        }
    }

    /// The agent does not do what was to be sure before anything is said to it.
    fn refused(&mut self, setting: &Setting, others: Vec<String>, error: Option<&CallError>) {
        let Some((code, _)) = setting.codes() else { return };
        self.chosen.unset(setting); // The next turn is had as it is configured.
        self.fail_before_prompt(Failure::of_refusal(code, setting.wanted(), others, error));
    }

    fn others(&self, setting: &Setting) -> Vec<String> {
        let models = self.session.as_ref().map(|session| session.models.clone()).unwrap_or_default();
        self.look(|transcript| setting.others(offered(transcript, &models)))
    }

    // Somebody chooses.

    /// Somebody chose this. Where no session is open, it is kept for the next one.
    pub(crate) fn choose(&mut self, setting: Setting) -> Result<Option<Errand>, RequestError> {
        let profile = self.common.directory.find(&self.agent).ok_or(RequestError::NoSuchAgent)?;
        let transcript = self.common.hub.transcript(&self.agent);
        let nothing = Models::default();
        let models = self.session.as_ref().map_or(&nothing, |session| &session.models);
        let offered = offered(&transcript, models);
        let setting = setting.of_what_it_stands_for(offered);
        let open = self.session.as_ref().and_then(|session| Some((session, session.id.clone()?)));
        let Some((session, id)) = open else {
            // Of a model it may be known only then whether it is offered.
            return match setting.plan(offered) {
                Plan::NotOffered(offered) if !matches!(setting, Setting::Model(_)) => {
                    Err(not_offered(setting, offered))
                }
                _ => {
                    self.chosen.set(setting);
                    Ok(None)
                }
            };
        };
        match setting.plan(offered) {
            Plan::Ask(way) => {
                let (generation, number) = (session.generation, session.number);
                let known = setting.is_among(offered);
                self.session.iter_mut().for_each(|session| session.is_asked_for(&setting, known));
                Ok(Some(Errand { connector: profile.connector, generation, session: id, way, number, setting }))
            }
            Plan::NotOffered(offered) => Err(RequestError::NotOffered { offered }),
            Plan::Nothing => {
                self.session.iter_mut().for_each(|session| session.asked.set(setting.clone()));
                self.chosen.set(setting);
                Ok(None)
            }
        }
    }

    /// The agent did not do what somebody chose.
    pub(crate) fn did_not_choose(&mut self, errand: &Errand) {
        if let Some(session) = self.session.as_mut().filter(|session| session.number == errand.number) {
            session.is_not_asked_for(&errand.setting);
        }
    }

    /// The agent did what somebody chose, or is gone: then the next session is asked for it.
    pub(crate) fn chose(&mut self, errand: Errand, answer: Option<Vec<SessionConfigOption>>) {
        self.chosen.set(errand.setting.clone());
        if let Some(answer) = answer
            && self.session.as_ref().is_some_and(|session| session.number == errand.number)
        {
            self.was_set(errand.setting, &errand.way, answer);
        }
    }
}

fn not_offered(setting: Setting, offered: Vec<String>) -> RequestError {
    match setting {
        Setting::Option(..) if offered.is_empty() => RequestError::NoSession,
        _ => RequestError::NotOffered { offered },
    }
}
