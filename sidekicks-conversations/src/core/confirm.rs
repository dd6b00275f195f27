//! Whether a session is in the mode and has the model that it was asked for.
//!
//! Agents confirm that by an update of the mode, by one of the options, by a line of text, or not at all; some say yes and
//! then tell of another one.

use serde_json::{Map, Value};

use super::Number;
use crate::wish::{Offered, Setting};

/// What a session was asked for, in order: until the agent says no, is asked for something else of the kind, or begins to
/// answer a prompt.
#[derive(Debug, Default)]
pub(super) struct Confirmations(Vec<Confirmation>);

#[derive(Debug)]
struct Confirmation {
    number: Number,
    setting: Setting,
    /// It is one of those that the agent offers, so that its yes is enough.
    offered: bool,
    /// What was so when it was asked for.
    before: Option<String>,
    /// What the agent has told of since.
    said: Option<String>,
    /// The agent said yes.
    agreed: bool,
}

impl Confirmations {
    /// The agent is asked for this.
    pub(super) fn ask(&mut self, number: Number, setting: &Setting, offered: Offered<'_>) {
        self.0.retain(|known| !(known.agreed && known.setting.is_like(setting)));
        let (before, offered) = (setting.current(offered), setting.is_among(offered));
        self.0.push(Confirmation { number, setting: setting.clone(), offered, before, said: None, agreed: false });
    }

    /// Whether the agent was asked for one of this kind and has not answered: what is known of it may not be so by now.
    pub(super) fn is_open(&self, setting: &Setting) -> bool {
        self.0.iter().any(|known| !known.agreed && known.setting.is_like(setting))
    }

    /// Whether the agent was asked for just this.
    pub(super) fn wants(&self, setting: &Setting) -> bool {
        self.0.iter().any(|known| known.setting == *setting)
    }

    /// The agent says yes, and what it was asked for before is past. Gives whether it has told itself what is so; `None`
    /// where this is past itself.
    pub(super) fn yes(&mut self, number: Number, setting: &Setting) -> Option<bool> {
        self.0.retain(|known| known.number.0 >= number.0 || !known.setting.is_like(setting));
        let known = self.0.iter_mut().find(|known| known.number == number)?;
        known.agreed = true;
        Some(known.said.is_some())
    }

    /// The agent says no.
    pub(super) fn no(&mut self, number: Number) {
        self.0.retain(|known| known.number != number);
    }

    /// The agent tells what is so. A list of options may come of something else that it was asked for: until its yes, what
    /// was so before is no answer then.
    pub(super) fn hear(&mut self, told: Offered<'_>) {
        let mut pairs = self.0.windows(2);
        let is_vague = told.modes.is_none() && pairs.any(|pair| !pair[0].setting.is_like(&pair[1].setting));
        for known in &mut self.0 {
            let Some(current) = known.setting.current(told) else { continue };
            if known.agreed || !is_vague || known.before.as_ref() != Some(&current) {
                known.said = Some(current);
            }
        }
    }

    /// By now the agent has said what there was to say of what it agreed to: the code and the particulars of each that is
    /// not as it was asked for.
    pub(super) fn judge(&mut self) -> Vec<(&'static str, Map<String, Value>)> {
        self.0.extract_if(.., |known| known.agreed).filter_map(Confirmation::doubt).collect()
    }
}

impl Confirmation {
    fn doubt(self) -> Option<(&'static str, Map<String, Value>)> {
        let Self { setting, offered, said, .. } = self;
        let (_, code) = setting.codes()?;
        let wanted = setting.wanted();
        match said {
            Some(current) if current == wanted => None,
            None if offered => None,
            said => {
                let mut params = Map::from_iter([("wanted".to_owned(), wanted.into())]);
                params.extend(said.map(|current| ("current".to_owned(), current.into())));
                Some((code, params))
            }
        }
    }
}
