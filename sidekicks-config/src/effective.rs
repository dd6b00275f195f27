//! What follows from an entry.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::entries::{Entries, Variables};
use crate::environment::{find_program, search_path};
use crate::expand::Expander;
use crate::model::{Agent, Config, Decide, IdleTimeout, McpServer, Permission, PermissionRule};

/// An agent with everything that counts for it: the defaults, its workspace, the variables that the file names.
///
/// `${NAME}` is filled in everywhere but in names, modes and patterns. An environment variable or a header that names a
/// variable which is not set is left out; anything else keeps the text as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// What goes before that. A path that began with `~` begins with the home.
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
    /// The agent of this name, with everything that counts for it.
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
            (None, Some(workspace)) => self.workspaces.get(workspace).map(|workspace| &workspace.path),
            (None, None) => None,
        };
        let mut variables: Entries<&str> = defaults.env.iter().collect();
        variables.extend(agent.env.iter());
        let variables = set(variables.iter().map(|(name, value)| (name, *value)), &expander);
        let servers = agent.mcp_servers.iter().filter_map(|name| Some((name, self.mcp_servers.get(name)?)));
        let mut effective = EffectiveAgent {
            name: name.to_owned(),
            display_name: agent.display_name.clone().unwrap_or_else(|| name.to_owned()),
            enabled: agent.enabled,
            command: expander.program(&expander.text(&agent.command).0),
            args: texts(&agent.args, &expander),
            env_remove: agent.env_remove.iter().filter(|name| variables.get(name).is_none()).cloned().collect(),
            env: variables,
            cwd: folder.map(|folder| expander.path(&expander.text(folder).0)),
            workspace: agent.workspace.clone(),
            model: agent.model.clone(),
            mode: agent.mode.clone(),
            permission: agent.permission.or(defaults.permission).unwrap_or_default(),
            permission_rules: rules(agent, &expander),
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
        find_program(&self.command, &self.search_path(env), self.cwd.as_deref())
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
                let command = expander.program(&expander.text(command).0);
                let found = find_program(&command, env.get("PATH").map_or(path, OsStr::new), None);
                let found =
                    found.filter(|file| file.is_absolute()).and_then(|file| file.into_os_string().into_string().ok());
                Self::Stdio { command: found.unwrap_or(command), args: texts(args, expander), env }
            }
            Self::Http { url, headers } => {
                Self::Http { url: expander.text(url).0, headers: set(headers.iter(), expander) }
            }
            Self::Sse { url, headers } => {
                Self::Sse { url: expander.text(url).0, headers: set(headers.iter(), expander) }
            }
        }
    }
}

fn texts(texts: &[String], expander: &Expander<'_>) -> Vec<String> {
    texts.iter().map(|text| expander.text(text).0).collect()
}

/// The variables whose values are known.
fn set<'a>(variables: impl Iterator<Item = (&'a str, &'a str)>, expander: &Expander<'_>) -> Variables {
    let known = variables.filter_map(|(name, value)| {
        let (value, unset) = expander.text(value);
        unset.is_empty().then_some((name, value))
    });
    known.collect()
}

/// The rules, where a path below `~` is one below the home: agents name whole paths. What forbids or asks stays as it is
/// written too, for what an agent says of `~`.
fn rules(agent: &Agent, expander: &Expander<'_>) -> Vec<PermissionRule> {
    let mut rules = Vec::new();
    for rule in &agent.permission_rules {
        let home = rule.path.as_deref().and_then(|path| expander.home_of(path));
        if let Some(path) = home.and_then(|path| path.into_os_string().into_string().ok()) {
            rules.push(PermissionRule { path: Some(path), ..rule.clone() });
            if rule.decide == Decide::Allow {
                continue;
            }
        }
        rules.push(rule.clone());
    }
    rules
}
