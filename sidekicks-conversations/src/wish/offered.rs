//! What a session offers of modes, models and options, in the three ways in which agents do (Q23).

use serde_json::Value;
use sidekicks_acp::schema::{
    SessionConfigId, SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOptions, SessionModeId, SessionModeState,
};

/// What a session offers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offered<'a> {
    pub(crate) modes: Option<&'a SessionModeState>,
    pub(crate) options: &'a [SessionConfigOption],
    pub(crate) models: &'a Models,
}

/// The models of an agent that lists them beside its options: in older words of the protocol.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Models {
    current: Option<String>,
    pub(super) available: Vec<String>,
}

/// An option that stands for modes or for models: by its category, or where it has none by its name.
pub(super) struct Stands {
    category: SessionConfigOptionCategory,
    id: &'static str,
}

pub(super) const MODE: Stands = Stands { category: SessionConfigOptionCategory::Mode, id: "mode" };
pub(super) const MODEL: Stands = Stands { category: SessionConfigOptionCategory::Model, id: "model" };

impl<'a> Offered<'a> {
    /// The mode that the session is in.
    pub(crate) fn mode(self) -> Option<String> {
        let mode = self.modes.map(|modes| modes.current_mode_id.to_string());
        mode.or_else(|| self.chosen(&MODE))
    }

    /// The model that the session works with.
    pub(crate) fn model(self) -> Option<String> {
        self.chosen(&MODEL).or_else(|| self.models.current.clone())
    }

    pub(super) fn mode_ids(self) -> Vec<String> {
        let modes = self.modes.map(|modes| modes.available_modes.as_slice()).unwrap_or_default();
        modes.iter().map(|mode| mode.id.to_string()).collect()
    }

    pub(super) fn option_of(self, stands: &Stands) -> Option<&'a SessionConfigOption> {
        let by_category = self.options.iter().find(|option| option.category.as_ref() == Some(&stands.category));
        by_category
            .or_else(|| self.options.iter().find(|option| option.category.is_none() && *option.id.0 == *stands.id))
    }

    fn chosen(self, stands: &Stands) -> Option<String> {
        current(self.option_of(stands)?).as_value_id().map(ToString::to_string)
    }

    pub(super) fn option(self, id: &str) -> Option<&'a SessionConfigOption> {
        self.options.iter().find(|option| *option.id.0 == *id)
    }
}

impl Models {
    /// As told in the answer to the opening of a session, if the agent tells them there.
    pub(crate) fn told(answer: &Value) -> Self {
        let models = &answer["models"];
        let available = models["availableModels"].as_array().map(Vec::as_slice).unwrap_or_default();
        let available = available.iter().filter_map(|model| model["modelId"].as_str()).map(str::to_owned);
        Self { current: models["currentModelId"].as_str().map(str::to_owned), available: available.collect() }
    }

    pub(crate) fn set(&mut self, model: &str) {
        self.current = Some(model.to_owned());
    }
}

/// What an option is set to.
pub(super) fn current(option: &SessionConfigOption) -> SessionConfigOptionValue {
    match &option.kind {
        SessionConfigKind::Select(select) => select.current_value.clone().into(),
        SessionConfigKind::Boolean(boolean) => boolean.current_value.into(),
        _ => "".into(),
    }
}

/// What an option can be set to; nothing for one that is on or off.
pub(super) fn choices(option: &SessionConfigOption) -> Vec<String> {
    let SessionConfigKind::Select(select) = &option.kind else { return Vec::new() };
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => options.iter().map(|one| one.value.to_string()).collect(),
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).map(|one| one.value.to_string()).collect()
        }
        _ => Vec::new(),
    }
}

/// Takes `value` as what the option is set to.
pub(crate) fn put(options: &mut [SessionConfigOption], id: &SessionConfigId, value: &SessionConfigOptionValue) {
    let Some(option) = options.iter_mut().find(|option| option.id == *id) else { return };
    match (&mut option.kind, value.as_value_id(), value.as_bool()) {
        (SessionConfigKind::Select(select), Some(value), _) => select.current_value = value.clone(),
        (SessionConfigKind::Boolean(boolean), _, Some(value)) => boolean.current_value = value,
        _ => {}
    }
}

/// The mode that the option for it is set to, where there is one.
pub(crate) fn mode_of(options: &[SessionConfigOption]) -> Option<SessionModeId> {
    let offered = Offered { modes: None, options, models: &Models::default() };
    offered.chosen(&MODE).map(SessionModeId::new)
}

/// Takes `mode` as what the option for it is set to, where it is one of its choices.
pub(crate) fn put_mode(options: &mut [SessionConfigOption], mode: &SessionModeId) {
    let offered = Offered { modes: None, options, models: &Models::default() };
    let option = offered.option_of(&MODE).filter(|option| choices(option).iter().any(|one| *one == *mode.0));
    if let Some(id) = option.map(|option| option.id.clone()) {
        put(options, &id, &(&*mode.0).into());
    }
}

/// What is known of the modes, with this one as the one that the session is in.
pub(crate) fn in_mode(known: Option<&SessionModeState>, mode: SessionModeId) -> SessionModeState {
    let mut modes = known.cloned().unwrap_or_else(|| SessionModeState::new(mode.clone(), Vec::new()));
    modes.current_mode_id = mode;
    modes
}
