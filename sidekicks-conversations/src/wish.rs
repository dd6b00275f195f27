//! In which mode and with which model an agent is to work, and how it is asked for that: plain functions of plain values.
//!
//! Agents offer modes and models in three ways that overlap: as modes, as options of the session, and as a list of models
//! that is no longer in the protocol.

mod offered;

use std::mem::discriminant;
use std::sync::Arc;

use sidekicks_acp::schema::{SessionConfigId, SessionConfigOption, SessionConfigOptionValue, SessionId, SessionModeId};
use sidekicks_acp::{AgentConnection, CallError};

use offered::{MODE, MODEL, Stands, choices, current};
pub(crate) use offered::{Models, Offered, in_mode, mode_of, put, put_mode};

/// What is wanted of every session of a conversation, or what was asked of one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Wish {
    pub(crate) mode: Option<String>,
    pub(crate) model: Option<String>,
    /// The last value of each option that somebody chose, in the order in which they were chosen first.
    pub(crate) options: Vec<(String, SessionConfigOptionValue)>,
}

/// One thing that can be set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Setting {
    Mode(String),
    Model(String),
    Option(String, SessionConfigOptionValue),
}

/// How an agent is asked for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Way {
    Mode(SessionModeId),
    Option(SessionConfigId, SessionConfigOptionValue),
    Model(String),
}

/// A setting on its way to the agent.
pub(crate) struct Request {
    pub(crate) connection: Arc<dyn AgentConnection>,
    pub(crate) session: SessionId,
    pub(crate) way: Way,
}

/// What is to be done for a setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plan {
    /// It is so already.
    Nothing,
    Ask(Way),
    /// The agent offers others.
    NotOffered(Vec<String>),
}

impl Wish {
    /// The first setting of this wish that is not in `asked`.
    pub(crate) fn beyond(&self, asked: &Self) -> Option<Setting> {
        let differs = |wanted: &Option<String>, asked: &Option<String>| wanted.clone().filter(|_| wanted != asked);
        let option = || self.options.iter().find(|option| !asked.options.contains(option));
        differs(&self.model, &asked.model)
            .map(Setting::Model)
            // After the model: some agents have other modes for each.
            .or_else(|| differs(&self.mode, &asked.mode).map(Setting::Mode))
            .or_else(|| option().map(|(id, value)| Setting::Option(id.clone(), value.clone())))
    }

    pub(crate) fn set(&mut self, setting: Setting) {
        match setting {
            Setting::Mode(mode) => self.mode = Some(mode),
            Setting::Model(model) => self.model = Some(model),
            Setting::Option(id, value) => match self.options.iter_mut().find(|(known, _)| *known == id) {
                Some((_, known)) => *known = value,
                None => self.options.push((id, value)),
            },
        }
    }

    /// Whether this is wanted, and nothing else of the kind.
    pub(crate) fn has(&self, setting: &Setting) -> bool {
        match setting {
            Setting::Mode(mode) => self.mode.as_ref() == Some(mode),
            Setting::Model(model) => self.model.as_ref() == Some(model),
            Setting::Option(id, value) => self.options.iter().any(|known| (&known.0, &known.1) == (id, value)),
        }
    }

    pub(crate) fn unset(&mut self, setting: &Setting) {
        match setting {
            Setting::Mode(_) => self.mode = None,
            Setting::Model(_) => self.model = None,
            Setting::Option(id, _) => self.options.retain(|(known, _)| known != id),
        }
    }
}

impl Setting {
    /// The code of an error that says that the agent refuses it, and the one of a message that says that it may not be so.
    pub(crate) fn codes(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Mode(_) => Some(("mode-refused", "mode-unconfirmed")),
            Self::Model(_) => Some(("model-refused", "model-unconfirmed")),
            Self::Option(..) => None,
        }
    }

    /// Whether both are of one kind, so that the later one takes the place of the earlier.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Option(id, _), Self::Option(other, _)) => id == other,
            _ => discriminant(self) == discriminant(other),
        }
    }

    /// What is to be done for this, where that is what the session offers.
    pub(crate) fn plan(&self, offered: Offered<'_>) -> Plan {
        if self.is_so(offered) { Plan::Nothing } else { self.request(offered) }
    }

    /// The same where it is not known what the session is at.
    pub(crate) fn request(&self, offered: Offered<'_>) -> Plan {
        let others = self.others(offered);
        let by_option = |stands: &Stands, wanted: &str| {
            let option = offered.option_of(stands).filter(|option| choices(option).iter().any(|one| one == wanted))?;
            Some(Way::Option(option.id.clone(), wanted.into()))
        };
        let way = match self {
            Self::Mode(mode) if offered.mode_ids().contains(mode) => Some(Way::Mode(SessionModeId::new(mode.as_str()))),
            Self::Mode(mode) if !others.is_empty() => by_option(&MODE, mode),
            Self::Model(model) if !others.is_empty() => by_option(&MODEL, model)
                .or_else(|| offered.models.available.contains(model).then(|| Way::Model(model.clone()))),
            // Where nothing is offered it may be there all the same, and the agent says whether it is.
            Self::Mode(mode) => Some(Way::Mode(SessionModeId::new(mode.as_str()))),
            Self::Model(model) => Some(Way::Model(model.clone())),
            Self::Option(id, value) => {
                let known = |choice: &str| others.iter().any(|other| other == choice);
                let option = offered.option(id).filter(|_| value.as_value_id().is_none_or(|value| known(&value.0)));
                option.map(|option| Way::Option(option.id.clone(), value.clone()))
            }
        };
        way.map_or(Plan::NotOffered(others), Plan::Ask)
    }

    fn is_so(&self, offered: Offered<'_>) -> bool {
        match self {
            Self::Mode(mode) => offered.mode().as_deref() == Some(mode),
            Self::Model(model) => offered.model().as_deref() == Some(model),
            Self::Option(id, value) => offered.option(id).is_some_and(|option| current(option) == *value),
        }
    }

    /// What the session says it is at, of this kind.
    pub(crate) fn current(&self, offered: Offered<'_>) -> Option<String> {
        match self {
            Self::Mode(_) => offered.mode(),
            Self::Model(_) => offered.model(),
            Self::Option(..) => None,
        }
    }

    /// Whether it is something that the session offers.
    pub(crate) fn is_among(&self, offered: Offered<'_>) -> bool {
        self.others(offered).contains(&self.wanted())
    }

    /// What the session offers of this kind.
    pub(crate) fn others(&self, offered: Offered<'_>) -> Vec<String> {
        let (mut others, option) = match self {
            Self::Mode(_) => (offered.mode_ids(), offered.option_of(&MODE)),
            Self::Model(_) => (offered.models.available.clone(), offered.option_of(&MODEL)),
            Self::Option(id, _) => match offered.option(id) {
                Some(option) => (Vec::new(), Some(option)),
                None => return offered.options.iter().map(|option| option.id.to_string()).collect(),
            },
        };
        for choice in option.map(choices).unwrap_or_default() {
            if !others.contains(&choice) {
                others.push(choice);
            }
        }
        others
    }

    /// The same in terms of modes and models, where the option stands for them.
    pub(crate) fn of_what_it_stands_for(self, offered: Offered<'_>) -> Self {
        let Self::Option(id, value) = &self else { return self };
        let stands = |stands: &Stands| offered.option_of(stands).is_some_and(|option| *option.id.0 == **id);
        match value.as_value_id() {
            Some(mode) if stands(&MODE) => Self::Mode(mode.to_string()),
            Some(model) if stands(&MODEL) => Self::Model(model.to_string()),
            _ => self,
        }
    }

    /// Which it is.
    pub(crate) fn wanted(&self) -> String {
        match self {
            Self::Mode(wanted) | Self::Model(wanted) => wanted.clone(),
            Self::Option(id, _) => id.clone(),
        }
    }
}

impl Request {
    /// Asks the agent. Gives the options of the session as they are then, where it tells them.
    pub(crate) async fn ask(self) -> Result<Vec<SessionConfigOption>, CallError> {
        let Self { connection, session, way } = self;
        match way {
            Way::Mode(mode) => connection.set_mode(&session, &mode).await.map(|()| Vec::new()),
            Way::Model(model) => connection.set_model(&session, &model).await.map(|()| Vec::new()),
            Way::Option(option, value) => connection.set_config_option(&session, &option, value).await,
        }
    }
}

/// The mode that an agent may confirm by this text: a line that says nothing else.
pub(crate) fn confirmed_in_text(text: &str) -> Option<&str> {
    let mode = text.strip_prefix("[MODE_UPDATE] ")?.trim();
    (!mode.contains('\n')).then_some(mode)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use sidekicks_acp::schema::SessionModeState;

    use super::*;

    fn mode(mode: &str) -> Setting {
        Setting::Mode(mode.to_owned())
    }

    fn model(model: &str) -> Setting {
        Setting::Model(model.to_owned())
    }

    fn option(id: &str, value: impl Into<SessionConfigOptionValue>) -> Setting {
        Setting::Option(id.to_owned(), value.into())
    }

    /// A session as agents describe it in the answer to its opening.
    fn plan(session: &Value, setting: &Setting) -> String {
        let modes: Option<SessionModeState> = serde_json::from_value(session["modes"].clone()).unwrap();
        let options: Option<Vec<SessionConfigOption>> =
            serde_json::from_value(session["configOptions"].clone()).unwrap();
        let (options, models) = (options.unwrap_or_default(), Models::told(session));
        match setting.plan(Offered { modes: modes.as_ref(), options: &options, models: &models }) {
            Plan::Nothing => "nothing".to_owned(),
            Plan::Ask(Way::Mode(mode)) => format!("set_mode {mode}"),
            Plan::Ask(Way::Model(model)) => format!("set_model {model}"),
            Plan::Ask(Way::Option(id, value)) => format!("set_config_option {id} {}", json!(value)),
            Plan::NotOffered(others) => format!("not offered: {}", others.join(" ")),
        }
    }

    #[test]
    fn each_agent_is_asked_in_the_way_that_it_offers() {
        let select = |id: &str, category: &str, current: &str, choices: &[&str]| {
            let options: Vec<Value> = choices.iter().map(|choice| json!({"value": choice, "name": choice})).collect();
            let mut option =
                json!({"id": id, "name": id, "type": "select", "currentValue": current, "options": options});
            if !category.is_empty() {
                option["category"] = json!(category);
            }
            option
        };
        let modes = json!({"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "A"}, {"id": "ask", "name": "B"}]});
        let models = json!({"currentModelId": "big", "availableModels": [{"modelId": "big"}, {"modelId": "small"}]});
        let grouped = json!({"id": "m", "name": "m", "category": "model", "type": "select", "currentValue": "a", "options": [
            {"group": "g", "name": "G", "options": [{"value": "b", "name": "B"}]}]});
        let on = json!({"id": "auto_approve", "name": "x", "type": "boolean", "currentValue": true});
        let only_options = json!({"configOptions": [select("style", "mode", "auto", &["auto", "ask"]), select("model", "", "big", &["big", "small"]), on]});
        let only_modes = json!({"modes": modes, "models": models});
        let both = json!({"modes": modes, "configOptions": [select("mode", "mode", "auto", &["auto", "ask", "plan"])]});
        let cases = [
            (&only_modes, mode("auto"), "nothing"),
            (&only_modes, mode("ask"), "set_mode ask"),
            (&only_modes, mode("yolo"), "not offered: auto ask"),
            (&only_modes, model("small"), "set_model small"),
            (&only_modes, model("big"), "nothing"),
            (&only_modes, model("huge"), "not offered: big small"),
            (&only_options, mode("auto"), "nothing"),
            (&only_options, mode("ask"), r#"set_config_option style {"value":"ask"}"#),
            (&only_options, mode("yolo"), "not offered: auto ask"),
            (&only_options, model("small"), r#"set_config_option model {"value":"small"}"#),
            (
                &only_options,
                option("auto_approve", false),
                r#"set_config_option auto_approve {"type":"boolean","value":false}"#,
            ),
            (&only_options, option("auto_approve", true), "nothing"),
            (&only_options, option("style", "loud"), "not offered: auto ask"),
            (&only_options, option("effort", "low"), "not offered: style model auto_approve"),
            (&both, mode("plan"), r#"set_config_option mode {"value":"plan"}"#),
            (&both, mode("ask"), "set_mode ask"),
            (&json!({"configOptions": [grouped]}), model("b"), r#"set_config_option m {"value":"b"}"#),
            (&json!({"configOptions": [grouped]}), model("c"), "not offered: b"),
            (&json!({}), mode("ask"), "set_mode ask"),
            (&json!({}), model("big"), "set_model big"),
        ];
        for (session, setting, expected) in cases {
            assert_eq!(plan(session, &setting), expected, "{setting:?} of {session}");
        }
    }

    #[test]
    fn what_was_asked_is_not_asked_again() {
        let (mut wish, mut asked) = (Wish::default(), Wish::default());
        assert_eq!(wish.beyond(&asked), None);
        for setting in [mode("ask"), model("big"), option("a", true), option("b", "x"), option("a", false)] {
            wish.set(setting);
        }
        let mut order = Vec::new();
        while let Some(setting) = wish.beyond(&asked) {
            asked.set(setting.clone());
            order.push(setting);
        }
        assert_eq!(order, [model("big"), mode("ask"), option("a", false), option("b", "x")]);
        wish.unset(&mode("ask"));
        assert_eq!(wish.beyond(&asked), None);
        wish.set(mode("plan"));
        assert_eq!(wish.beyond(&asked), Some(mode("plan")));
    }
}
