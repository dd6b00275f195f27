//! What follows from an entry.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::entries::{Entries, Variables};
use crate::environment::{find_program, search_path};
use crate::expand::Expander;
use crate::model::{Agent, Config, Decide, IdleTimeout, McpServer, Permission, PermissionRule};

/// An agent with everything that counts for it: the defaults, its workspace, the variables that the file names.
///
/// `${NAME}` is filled in everywhere but in names, modes and patterns of commands. An environment variable that names a
/// variable which is not set is not there, and the agent does not inherit it either; one of a tool server and a header are
/// left out; anything else keeps the text as it is written. `Debug` shows nothing in which a variable may be filled in, for
/// that may be a key.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectiveAgent {
    /// Its name.
    pub name: String,
    /// What a person is shown: its name, unless the file says something else.
    pub display_name: String,
    /// Whether it is offered.
    pub enabled: bool,
    /// The program: an absolute path, or a name that is to be looked for on the `PATH` that the agent will have.
    pub command: String,
    /// What it is started with.
    pub args: Vec<String>,
    /// Variables that it gets beside those that this program has.
    pub env: Variables,
    /// Variables of this program that it does not get. What is in [`env`](Self::env) is not in here.
    pub env_remove: Vec<String>,
    /// The folder that it works in, absolute; `None` where the file names none.
    pub cwd: Option<PathBuf>,
    /// The name of its workspace, where it has one.
    pub workspace: Option<String>,
    /// The model that it is to use.
    pub model: Option<String>,
    /// The mode that it is to be in.
    pub mode: Option<String>,
    /// What becomes of its questions before anybody is asked.
    pub permission: Permission,
    /// What goes before that. A path that began with `~` begins with the home. Where a rule that forbids or asks has a path
    /// with a variable that is not set, or with what was meant as one, nothing is allowed that it may be about: a person is
    /// asked, unless a later rule or `permission` forbids it.
    pub permission_rules: Vec<PermissionRule>,
    /// How long it may take to start.
    pub start_timeout: Duration,
    /// How long it may be idle before it is stopped.
    pub idle_timeout: IdleTimeout,
    /// How many bytes it is expected to use.
    pub memory_estimate: Option<u64>,
    /// How many bytes it may use.
    pub memory_limit: Option<u64>,
    /// The tool servers that it is to connect to, by name. A program is an absolute path, as ACP wants it, where there is
    /// one of its name on the `PATH` of the agent.
    pub mcp_servers: Entries<McpServer>,
}

impl Config {
    /// The agent of this name, with everything that counts for it; `None` where there is none, or no workspace as it
    /// names, which cannot be in a [`Loaded`](crate::Loaded).
    ///
    /// `file` is where the configuration was read from: what is relative begins at its folder. `env` is the environment that
    /// agents will have, mostly `&|name| std::env::var_os(name)`. Looks at the disk for the programs of tool servers.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use sidekicks_config::Config;
    ///
    /// let config: Config = serde_json::from_str(
    ///     r#"{ "version": 1, "agents": { "riker": { "command": "codex-acp", "cwd": "api", "env": { "KEY": "${MY_KEY}" } } } }"#,
    /// )?;
    /// let env = |name: &str| (name == "MY_KEY").then(|| "secret".into());
    /// let riker = config.effective("riker", Path::new("/home/will/sidekicks.jsonc"), &env).expect("is there");
    /// assert_eq!(riker.env.get("KEY"), Some("secret"));
    /// assert_eq!(riker.cwd.as_deref(), Some(Path::new("/home/will/api")));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn effective(&self, name: &str, file: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Option<EffectiveAgent> {
        let agent = self.agents.get(name)?;
        let expander = Expander::new(file, env);
        let defaults = &self.defaults;
        let folder = match (&agent.cwd, &agent.workspace) {
            (Some(cwd), _) => Some(cwd),
            (None, Some(workspace)) => Some(&self.workspaces.get(workspace)?.path),
            (None, None) => None,
        };
        let removed = |name: &str| agent.env_remove.iter().any(|removed| removed == name);
        let mut written: Entries<&str> = defaults.env.iter().filter(|(name, _)| !removed(name)).collect();
        written.extend(agent.env.iter());
        let variables = set(written.iter().map(|(name, value)| (name, *value)), &expander);
        // One that is not set is not to be another one of the same name, either: that may be the key of another account.
        let without = agent.env_remove.iter().map(String::as_str).chain(written.names());
        let without: Entries<()> =
            without.filter(|name| variables.get(name).is_none()).map(|name| (name, ())).collect();
        let permission = agent.permission.or(defaults.permission).unwrap_or_default();
        let servers = agent.mcp_servers.iter().filter_map(|name| Some((name, self.mcp_servers.get(name)?)));
        let mut effective = EffectiveAgent {
            name: name.to_owned(),
            display_name: agent.display_name.clone().unwrap_or_else(|| name.to_owned()),
            enabled: agent.enabled,
            command: expander.program(&expander.place(&agent.command).text),
            args: texts(&agent.args, &expander),
            env_remove: without.names().map(str::to_owned).collect(),
            env: variables,
            cwd: folder.map(|folder| expander.path(&expander.place(folder).text)),
            workspace: agent.workspace.clone(),
            model: agent.model.clone(),
            mode: agent.mode.clone(),
            permission,
            permission_rules: rules(agent, permission, &expander),
            start_timeout: agent.start_timeout.or(defaults.start_timeout).unwrap_or(Duration::from_secs(60)),
            idle_timeout: agent.idle_timeout.or(defaults.idle_timeout).unwrap_or_default(),
            memory_estimate: agent.memory_estimate.or(defaults.memory_estimate),
            memory_limit: agent.memory_limit.or(defaults.memory_limit),
            mcp_servers: Entries::default(),
        };
        let path = effective.search_path(env);
        effective.mcp_servers = servers.map(|(name, server)| (name, server.expanded(&expander, &path))).collect();
        Some(effective)
    }
}

impl EffectiveAgent {
    /// The program that its command is on this machine, if there is one: looked for on the `PATH` that the agent will have,
    /// its own or that of `env`. Looks at the disk.
    pub fn find_program(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let folder = self.cwd.as_deref().unwrap_or(Path::new(""));
        find_program(&self.command, &self.search_path(env), Some(folder))
    }

    fn search_path(&self, env: &dyn Fn(&str) -> Option<OsString>) -> OsString {
        let inherited = |name: &str| env(name).filter(|_| !self.env_remove.iter().any(|removed| removed == name));
        search_path(self.env.get("PATH"), &inherited)
    }
}

impl McpServer {
    /// `path` is the `PATH` of the agent that starts it.
    fn expanded(&self, expander: &Expander<'_>, path: &OsStr) -> Self {
        match self {
            Self::Stdio { command, args, env } => {
                let env = set(env.iter(), expander);
                let command = expander.program(&expander.place(command).text);
                // A relative folder of the `PATH` begins at that of the agent, which may be another one in each session.
                let found = find_program(&command, env.get("PATH").map_or(path, OsStr::new), None);
                let found = found.and_then(|file| file.into_os_string().into_string().ok());
                Self::Stdio { command: found.unwrap_or(command), args: texts(args, expander), env }
            }
            Self::Http { url, headers } => {
                Self::Http { url: expander.text(url).text, headers: set(headers.iter(), expander) }
            }
            Self::Sse { url, headers } => {
                Self::Sse { url: expander.text(url).text, headers: set(headers.iter(), expander) }
            }
        }
    }
}

fn texts(texts: &[String], expander: &Expander<'_>) -> Vec<String> {
    texts.iter().map(|text| expander.text(text).text).collect()
}

/// The variables whose values are known.
fn set<'a>(variables: impl Iterator<Item = (&'a str, &'a str)>, expander: &Expander<'_>) -> Variables {
    let known = variables.filter_map(|(name, value)| {
        let filled = expander.text(value);
        filled.unset.is_empty().then_some((name, filled.text))
    });
    known.collect()
}

/// The rules with whole paths, as agents name them: what begins with `~` begins with the home, and variables are filled in.
///
/// What forbids or asks about a path below `~` stays as it is written too, for what an agent says of `~`. A rule that allows
/// and whose path is not known fits nothing. One that forbids or asks may fit every path: what comes after it allows nothing
/// any more, and still forbids.
fn rules(agent: &Agent, permission: Permission, expander: &Expander<'_>) -> Vec<PermissionRule> {
    let asking = |rule| PermissionRule { decide: Decide::Ask, ..rule };
    let mut rules = Vec::new();
    let mut doubts = Vec::new();
    for rule in &agent.permission_rules {
        let path = rule.path.as_ref().map(|path| expander.place(path).known());
        let home = path.iter().flatten().find_map(|path| expander.home_of(path)?.into_os_string().into_string().ok());
        let with = |path| PermissionRule { path, ..rule.clone() };
        match (rule.decide, path) {
            (Decide::Allow, Some(None)) => {}
            (Decide::Allow, path) if doubts.is_empty() => rules.push(with(home.or(path.flatten()))),
            // Behind all others, since they may forbid it.
            (Decide::Allow, path) => doubts.push(asking(with(home.or(path.flatten())))),
            (Decide::Ask | Decide::Deny, Some(None)) => doubts.push(asking(with(None))),
            (Decide::Ask | Decide::Deny, path) => {
                rules.extend(home.map(|home| with(Some(home))));
                rules.push(with(path.flatten()));
            }
        }
    }
    if permission != Permission::DenyAll {
        rules.extend(doubts);
    }
    rules
}

impl fmt::Debug for EffectiveAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EffectiveAgent")
            .field("name", &self.name)
            .field("enabled", &self.enabled)
            .field("args", &format_args!("[{}]", self.args.len()))
            .field("env", &self.env)
            .field("env_remove", &self.env_remove)
            .field("workspace", &self.workspace)
            .field("model", &self.model)
            .field("mode", &self.mode)
            .field("permission", &self.permission)
            .field("permission_rules", &self.permission_rules)
            .field("start_timeout", &self.start_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("mcp_servers", &self.mcp_servers)
            .finish_non_exhaustive()
    }
}
