//! Whether a session is in the mode and has the model that it was asked for.
//!
//! Agents confirm that by an update of the mode, by one of the options, by a line of text, or not at all; some say yes and
//! then tell of another one.

use serde_json::{Map, Value};

use crate::wish::Setting;

/// A mode or a model that the agent was asked for, until it begins to answer a prompt.
#[derive(Debug)]
pub(super) struct Confirmation {
    setting: Setting,
    wanted: String,
    /// It is one of those that the agent offers, so that its yes is enough.
    offered: bool,
    /// What the agent has told of since it was asked.
    said: Option<String>,
}

impl Confirmation {
    pub(super) fn of(setting: &Setting, offered: bool) -> Self {
        Self { setting: setting.clone(), wanted: setting.wanted(), offered, said: None }
    }

    pub(super) fn is_of(&self, setting: &Setting) -> bool {
        std::mem::discriminant(&self.setting) == std::mem::discriminant(setting)
    }

    pub(super) fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The agent tells what is so.
    pub(super) fn said(&mut self, current: String) {
        self.said = Some(current);
    }

    /// Whether the agent has told what is so.
    pub(super) fn was_told(&self) -> bool {
        self.said.is_some()
    }

    /// The code and the particulars of what there is to say, if something is not as it was asked for.
    pub(super) fn doubt(self) -> Option<(&'static str, Map<String, Value>)> {
        let Self { setting, wanted, offered, said } = self;
        let (_, code) = setting.codes()?;
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
