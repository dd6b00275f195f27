//! What a configuration says.

use std::fmt;
use std::num::NonZeroU16;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Language;
use crate::entries::{Entries, Variables};
use crate::units::{serde_duration, serde_size, write_duration};

mod server;

pub use server::McpServer;

/// Everything that a file says, as it stands there.
///
/// Of an agent, [`EffectiveAgent`](crate::EffectiveAgent) is what follows from it: with the defaults, its folder, and its
/// variables filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// Where an editor finds the schema. Not looked at.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The version of the format.
    pub version: Version,
    /// The language that a program is to speak.
    #[serde(default, skip_serializing_if = "is_default")]
    pub language: LanguageSetting,
    /// How much all agents together may take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Limits,
    /// What counts for every agent that does not say otherwise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub defaults: Defaults,
    /// Folders that agents work in.
    #[serde(default, skip_serializing_if = "Entries::is_empty")]
    pub workspaces: Entries<Workspace>,
    /// Tool servers that agents are to connect to.
    #[serde(default, skip_serializing_if = "Entries::is_empty")]
    pub mcp_servers: Entries<McpServer>,
    /// The agents; the first one that is enabled is the one that is meant where none is named.
    pub agents: Entries<Agent>,
    /// Groups of agents. They are checked, and not used yet.
    #[serde(default, skip_serializing_if = "Entries::is_empty")]
    pub channels: Entries<Channel>,
}

/// The version of the format: there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "u64")]
#[non_exhaustive]
pub enum Version {
    /// The number 1.
    #[default]
    V1,
}

impl From<Version> for u64 {
    fn from(_: Version) -> Self {
        1
    }
}

/// `1.0` is the number 1 too.
impl TryFrom<f64> for Version {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        if number == 1.0 { Ok(Self::V1) } else { Err("no version of the format") }
    }
}

/// The language that a program is to speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LanguageSetting {
    /// The one that the environment asks for.
    #[default]
    Auto,
    /// English.
    En,
    /// French.
    Fr,
}

impl LanguageSetting {
    /// The language, unless it is left to the environment.
    pub fn language(self) -> Option<Language> {
        match self {
            Self::Auto => None,
            Self::En => Some(Language::En),
            Self::Fr => Some(Language::Fr),
        }
    }
}

/// How much all agents together may take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// How many may run at once, 1 to 256; 4 if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub max_running: Option<NonZeroU16>,
    /// How many bytes they may use together; any number if it is not said. Written in whole KiB, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "serde_size")]
    pub max_memory: Option<u64>,
}

impl Limits {
    /// How many agents may run at once: what is said, or 4.
    pub fn max_running(&self) -> NonZeroU16 {
        const FOUR: NonZeroU16 = NonZeroU16::new(4).expect("not zero");
        self.max_running.unwrap_or(FOUR)
    }
}

/// What counts for every agent that does not say otherwise. The fields are those of [`Agent`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Defaults {
    /// See [`Agent::permission`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// See [`Agent::start_timeout`].
    #[serde(default, skip_serializing_if = "Option::is_none", with = "serde_duration")]
    pub start_timeout: Option<Duration>,
    /// See [`Agent::idle_timeout`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<IdleTimeout>,
    /// See [`Agent::memory_estimate`].
    #[serde(default, skip_serializing_if = "Option::is_none", with = "serde_size")]
    pub memory_estimate: Option<u64>,
    /// See [`Agent::memory_limit`].
    #[serde(default, skip_serializing_if = "Option::is_none", with = "serde_size")]
    pub memory_limit: Option<u64>,
    /// Variables that every agent gets; what an agent says itself goes before.
    #[serde(default, skip_serializing_if = "Variables::is_empty")]
    pub env: Variables,
}

/// A folder that agents work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Workspace {
    /// The folder; what is relative begins at the folder of the file, `~` is the home, and `${NAME}` a variable.
    pub path: String,
    /// What a person is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

impl Workspace {
    /// The workspace in this folder.
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), display_name: None }
    }
}

/// A group of agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Channel {
    /// The names of agents in it.
    pub members: Vec<String>,
    /// What a person is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

impl Channel {
    /// The channel of these agents.
    pub fn new<N: Into<String>>(members: impl IntoIterator<Item = N>) -> Self {
        Self { members: members.into_iter().map(Into::into).collect(), display_name: None }
    }
}

/// An agent, as it stands in the file. `Debug` shows no arguments and no values of variables, in which there may be keys.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Agent {
    /// The program: a name that is looked for on the `PATH`, or a path.
    pub command: String,
    /// What it is started with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables that it gets beside those that this program has.
    #[serde(default, skip_serializing_if = "Variables::is_empty")]
    pub env: Variables,
    /// Variables of this program that it does not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_remove: Vec<String>,
    /// What a person is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Whether it is offered.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// The model that it is to use, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode that it is to be in, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The name of the [`Workspace`] that it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The folder that it works in, where that is no workspace; written as [`Workspace::path`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What becomes of its questions before anybody is asked; `ask` if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// What goes before `permission`: the first rule that fits decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permission_rules: Vec<PermissionRule>,
    /// How long it may take to start; 60 seconds if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "serde_duration")]
    pub start_timeout: Option<Duration>,
    /// How long it may be idle before it is stopped; 10 minutes if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<IdleTimeout>,
    /// How many bytes it is expected to use.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "serde_size")]
    pub memory_estimate: Option<u64>,
    /// How many bytes it may use.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "serde_size")]
    pub memory_limit: Option<u64>,
    /// The names of the [`McpServer`]s that it is to connect to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp_servers: Vec<String>,
}

impl Agent {
    /// The agent that this program is, with nothing else said of it.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            env: Variables::default(),
            env_remove: Vec::new(),
            display_name: None,
            enabled: true,
            model: None,
            mode: None,
            workspace: None,
            cwd: None,
            permission: None,
            permission_rules: Vec::new(),
            start_timeout: None,
            idle_timeout: None,
            memory_estimate: None,
            memory_limit: None,
            mcp_servers: Vec::new(),
        }
    }
}

/// The program that a command begins with, to be shown: what is after a blank or a `=` may be a secret.
pub(crate) fn program_of(command: &str) -> &str {
    command.split(|c: char| c == '=' || c.is_whitespace()).next().unwrap_or_default()
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, args, env, enabled, workspace, cwd, permission, permission_rules, .. } = self;
        f.debug_struct("Agent")
            .field("command", &program_of(command))
            .field("args", &format_args!("[{}]", args.len()))
            .field("env", env)
            .field("enabled", enabled)
            .field("workspace", workspace)
            .field("cwd", cwd)
            .field("permission", permission)
            .field("permission_rules", permission_rules)
            .finish_non_exhaustive()
    }
}

/// What becomes of an agent's questions before anybody is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Permission {
    /// A person is asked.
    #[default]
    Ask,
    /// Reading and searching is allowed; a person is asked about the rest.
    AllowReads,
    /// Everything is allowed.
    AllowAll,
    /// Everything is refused.
    DenyAll,
}

/// What is decided about some of an agent's questions; all that it says has to fit. `Debug` does not show its patterns, in
/// which there may be keys.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PermissionRule {
    /// What it decides.
    pub decide: Decide,
    /// It fits only what is to be done so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// It fits only commands that this pattern stands for, with `*` for any text and `?` for a character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// It fits only paths that this pattern stands for, with `**` for any folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl PermissionRule {
    /// A rule that fits everything.
    pub fn new(decide: Decide) -> Self {
        Self { decide, action: None, command: None, path: None }
    }
}

impl fmt::Debug for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { decide, action, command, path } = self;
        let mut rule = f.debug_struct("PermissionRule");
        rule.field("decide", decide).field("action", action);
        for (name, pattern) in [("command", command), ("path", path)] {
            rule.field(name, &pattern.as_ref().map(|_| format_args!("…")));
        }
        rule.finish()
    }
}

/// What a [`PermissionRule`] decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decide {
    /// It is allowed, once.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused, once.
    Deny,
}

/// What an agent asks to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs)] // The names say it.
pub enum Action {
    RunCommand,
    EditFile,
    DeleteFile,
    MoveFile,
    ReadFile,
    Fetch,
    Search,
    SwitchMode,
    Other,
}

/// How long an agent may be idle before it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum IdleTimeout {
    /// It is not stopped for being idle.
    Never,
    /// It is stopped after this long; zero is at once.
    After(Duration),
}

/// 10 minutes.
impl Default for IdleTimeout {
    fn default() -> Self {
        Self::After(Duration::from_secs(600))
    }
}

impl From<IdleTimeout> for String {
    fn from(timeout: IdleTimeout) -> Self {
        match timeout {
            IdleTimeout::Never => "never".into(),
            IdleTimeout::After(duration) => write_duration(duration),
        }
    }
}

impl TryFrom<String> for IdleTimeout {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "never" => Ok(Self::Never),
            text => crate::units::duration(text).map(Self::After).ok_or("no duration"),
        }
    }
}

/// A number that is whole, which `4.0` is too.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NonZeroU16>, D::Error> {
    let number = f64::deserialize(deserializer)?;
    let whole = (number.fract() == 0.0 && (1.0..=256.0).contains(&number)).then_some(number as u16);
    whole.and_then(NonZeroU16::new).map(Some).ok_or_else(|| D::Error::custom("no number from 1 to 256"))
}

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
