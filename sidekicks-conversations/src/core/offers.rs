//! What a session offers: commands, modes, options, a title.

use sidekicks_acp::{OpenedSession, SessionOrigin};

use super::Core;
use crate::event::{Event, Offer};
use crate::transcript::Transcript;
use crate::wish::{self, Setting};

/// What this session has told of itself. The rest is of the process before, where it goes on: what that was at is not what
/// this one begins in.
#[derive(Default)]
pub(super) struct Told {
    modes: bool,
    options: bool,
    /// One of the options stands for the mode.
    mode_option: bool,
}

impl Told {
    /// Whether it is known what the session is at, of this kind.
    pub(super) fn knows(&self, setting: &Setting) -> bool {
        match setting {
            Setting::Mode(_) => self.modes || self.mode_option,
            Setting::Model(_) | Setting::Option(..) => self.options,
        }
    }

    /// It is not known any more.
    pub(super) fn doubt(&mut self, setting: &Setting) {
        match setting {
            Setting::Mode(_) => (self.modes, self.mode_option) = (false, false),
            Setting::Model(_) | Setting::Option(..) => self.options = false,
        }
    }
}

impl Core {
    /// The agent tells of what it offers.
    pub(super) fn offered(&mut self, offer: Offer) {
        self.hear_confirmations(&offer);
        self.tell_offer(offer);
    }

    /// Tells what of it is new.
    pub(super) fn tell_offer(&mut self, offer: Offer) {
        if let Some(session) = &mut self.session {
            session.told.modes |= offer.modes.is_some();
            session.told.options |= offer.config_options.is_some();
            session.told.mode_option |= offer.config_options.as_deref().and_then(wish::mode_of).is_some();
        }
        let offer = self.look(|known| news(known, in_step(known, offer)));
        if offer != Offer::default() {
            self.publish(Event::AgentChanged { agent: self.agent.clone(), offer });
        }
    }

    /// A session is open. What belonged to the one before is there no more; one that goes on keeps what its answer leaves
    /// out: it was told before, or in the replay.
    pub(super) fn tell_opened(&mut self, session: &OpenedSession, origin: &SessionOrigin) {
        let anew = *origin == SessionOrigin::New;
        self.tell_offer(Offer {
            commands: anew.then(Vec::new), // The agent tells them after the opening.
            modes: (anew || session.modes.is_some()).then(|| session.modes.clone()),
            config_options: (anew || !session.config_options.is_empty()).then(|| session.config_options.clone()),
            title: anew.then_some(None),
        });
        if anew && self.look(|known| known.usage.is_some()) {
            self.publish(Event::UsageChanged { agent: self.agent.clone(), usage: None });
        }
    }
}

/// Some agents offer the mode as an option too, and tell of only one of the two: the other is as that says.
fn in_step(known: &Transcript, mut offer: Offer) -> Offer {
    match (&offer.modes, &offer.config_options) {
        (Some(Some(modes)), None) => {
            let mut options = known.config_options.clone();
            wish::put_mode(&mut options, &modes.current_mode_id);
            offer.config_options = Some(options).filter(|options| !options.is_empty());
        }
        (None, Some(options)) => {
            let modes = known.modes.as_ref().zip(wish::mode_of(options));
            let modes = modes.filter(|(modes, mode)| modes.available_modes.iter().any(|one| one.id == *mode));
            offer.modes = modes.map(|(modes, mode)| Some(wish::in_mode(Some(modes), mode)));
        }
        _ => {}
    }
    offer
}

/// What of it is not so already: agents tell the same again and again.
fn news(known: &Transcript, offer: Offer) -> Offer {
    let Offer { commands, modes, config_options, title } = offer;
    Offer {
        commands: commands.filter(|commands| *commands != known.commands),
        modes: modes.filter(|modes| *modes != known.modes),
        config_options: config_options.filter(|options| *options != known.config_options),
        title: title.filter(|title| *title != known.title),
    }
}
