//! What is decided about a question before anybody is asked.

mod case;
mod glob;
#[cfg(test)]
mod tests;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub(crate) use case::{Case, decide};

use crate::permission::Action;
#[cfg(doc)]
use crate::permission::Permission;

/// What becomes of an agent's questions before anybody is asked; the [`Rule`]s of its profile come first.
///
/// It never widens: an agent is allowed something once, and refused something once, whatever else it offers. Where it
/// offers no such answer to allow with, or two of which one may change more than this one answer, nothing is decided. Where
/// it offers two to refuse with, a person is asked; where it offers none, the question is answered "cancelled".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Policy {
    /// A person, or the [`Decider`](crate::Decider), is asked.
    #[default]
    Ask,
    /// Reading and searching is allowed, if it runs no command, changes no file and nothing is
    /// [flagged](Permission::dangers). Else as [`Ask`](Self::Ask).
    AllowReads,
    /// Everything is allowed, what is flagged too.
    AllowAll,
    /// Everything is refused.
    DenyAll,
}

/// What a [`Rule`] decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decide {
    /// It is allowed once, unless something is [flagged](Permission::dangers): then a person is asked.
    Allow,
    /// A person is asked, whatever the policy and the [`Decider`](crate::Decider) would say.
    Ask,
    /// It is refused once.
    Deny,
}

/// What is decided about some of an agent's questions. Of the rules of a profile the first that fits counts; all that a
/// rule says has to fit.
///
/// A doubt is never in favour of the agent. A rule that *allows* fits only what it covers entirely: every command of the
/// line, every path. One that *asks* or *denies* fits where one command or one path does; and where that cannot be told,
/// because a command is hidden or none of the paths is known, a person is asked, unless what comes after it denies.
///
/// In JSON: `{"decide": "allow", "command": "git log *"}`. A key that does not exist is an error: without what it was meant
/// to say the rule would fit more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schemars", schemars(extend("additionalProperties" = true)))] // As it is told in an event.
#[non_exhaustive]
pub struct Rule {
    /// What it decides.
    pub decide: Decide,
    /// It fits only what is to be done so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// It fits only commands that this pattern stands for: `*` is any text, `?` one character, and everything else itself.
    /// Where it ends in a blank and `*` the command may also end before the blank: `git log *` fits `git log`.
    ///
    /// The command line is read as a shell reads it, and each simple command is looked at by itself, with one blank between
    /// its words: of `cd a && sudo make` these are `cd a`, `sudo make` and `make`. To be allowed a command has to fit as it
    /// is written, with its quotes, what it sets (`A=1 make`) and where it writes; where it appends to a file, the pattern
    /// has to have a `>>` too. To be asked about, or denied, it is enough that it fits without all that, as `\git 'push'`,
    /// `/usr/bin/git push` and `git -C a push` fit `git push`; about `git $x` a person is asked. Without the feature
    /// `dangers` no command is known well enough to be allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// It fits only [paths](Permission::paths) that this pattern stands for: `*` is any text in one name, `?` one character
    /// of it, and `**` any number of names. What does not begin with `/` or `~` is below the folder that the agent works in;
    /// a rule that asks or denies, and begins with `**`, is about any folder.
    ///
    /// Links are not followed. What a command touches is not known: such a rule allows no command, unless it has a pattern
    /// for that too, and where it asks or denies, a person is asked about a command of which a word is such a path. A person
    /// is asked, too, where a folder is searched, moved or deleted that may hold such a path, and where only who is at home in
    /// `~` could tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Rule {
    /// A rule that fits everything.
    ///
    /// ```
    /// use sidekicks_conversations::{Action, Decide, Rule};
    ///
    /// let rules = [
    ///     Rule::new(Decide::Deny).path("**/.env"),
    ///     Rule::new(Decide::Allow).command("cargo *"),
    ///     Rule::new(Decide::Allow).action(Action::EditFile).path("src/**"),
    /// ];
    /// # assert_eq!(serde_json::json!(rules[1]), serde_json::json!({"decide": "allow", "command": "cargo *"}));
    /// ```
    pub fn new(decide: Decide) -> Self {
        Self { decide, action: None, command: None, path: None }
    }

    /// Lets it fit only what is to be done so.
    pub fn action(mut self, action: Action) -> Self {
        self.action = Some(action);
        self
    }

    /// Lets it fit only commands that this pattern stands for.
    pub fn command(mut self, pattern: impl Into<String>) -> Self {
        self.command = Some(pattern.into());
        self
    }

    /// Lets it fit only paths that this pattern stands for.
    pub fn path(mut self, pattern: impl Into<String>) -> Self {
        self.path = Some(pattern.into());
        self
    }
}

/// Reads the rule of an event: what a later version says of it beside is left out, since here it only tells what was.
pub(crate) fn told<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Rule>, D::Error> {
    let Some(mut told) = Option::<Map<String, Value>>::deserialize(deserializer)? else { return Ok(None) };
    told.retain(|key, _| ["decide", "action", "command", "path"].contains(&key.as_str()));
    Rule::deserialize(Value::Object(told)).map(Some).map_err(D::Error::custom)
}
