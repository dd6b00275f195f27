//! Agents of a configuration file.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;

use sidekicks_acp::AgentCommand;
use sidekicks_config::{Config, EffectiveAgent, IdleTimeout};

use crate::specs::{AgentSpec, Specs};

/// How an agent of a configuration file is started and how long it is kept; with the feature `config`.
///
/// It is started in its folder, where the file names one, and else in the current one.
impl From<&EffectiveAgent> for AgentSpec {
    fn from(agent: &EffectiveAgent) -> Self {
        let mut command = AgentCommand::new(&agent.command).args(&agent.args);
        for (name, value) in agent.env.iter() {
            command = command.env(name, value);
        }
        for name in &agent.env_remove {
            command = command.env_remove(name);
        }
        if let Some(cwd) = &agent.cwd {
            command = command.cwd(cwd);
        }
        let mut spec = Self::new(command);
        spec.connect.start_timeout = agent.start_timeout;
        spec.idle_timeout = match agent.idle_timeout {
            IdleTimeout::After(time) => Some(time),
            _ => None,
        };
        spec.memory_estimate = agent.memory_estimate;
        spec.memory_limit = agent.memory_limit;
        spec
    }
}

impl Specs {
    /// All agents of a configuration that are enabled, and its limits; with the feature `config`.
    ///
    /// `file` is where it was read from, and `env` the environment that agents will have, mostly
    /// `&|name| std::env::var_os(name)`.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use sidekicks_agents::Specs;
    /// use sidekicks_config::{Loaded, reload};
    ///
    /// fn specs(loaded: &Loaded) -> Specs {
    ///     Specs::from_config(&loaded.config, &loaded.path, &|name| std::env::var_os(name))
    /// }
    /// ```
    pub fn from_config(config: &Config, file: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let mut specs = Self::new();
        for name in config.agents.names() {
            if let Some(agent) = config.effective(name, file, env).filter(|agent| agent.enabled) {
                specs = specs.agent(name, AgentSpec::from(&agent));
            }
        }
        specs.max_running = Some(NonZeroUsize::from(config.limits.max_running()));
        specs.max_memory = config.limits.max_memory;
        specs
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn specs(text: &str) -> Specs {
        assert_eq!(sidekicks_config::validate(text).len(), 0, "{text}");
        let config: Config = serde_json::from_str(text).expect("a configuration");
        let env = |name: &str| match name {
            "MY_KEY" => Some("secret".into()),
            "HOME" => Some("/home/will".into()),
            _ => None,
        };
        Specs::from_config(&config, Path::new("/etc/sidekicks/sidekicks.jsonc"), &env)
    }

    #[test]
    fn everything_that_an_entry_says_is_in_force() {
        let specs = specs(
            r#"{
              "version": 1,
              "limits": { "max_running": 2, "max_memory": "8GiB" },
              "defaults": { "memory_estimate": "1GiB", "env": { "MODE": "quiet", "LEVEL": "1" } },
              "workspaces": { "api": { "path": "~/src/api" } },
              "agents": {
                "riker": {
                  "command": "./bin/agent", "args": ["--acp", "${HOME}/x"], "workspace": "api",
                  "env": { "KEY": "${MY_KEY}", "MODE": "loud", "OTHER": "${NOT_SET}" }, "env_remove": ["TOKEN", "KEY"],
                  "start_timeout": "90s", "idle_timeout": "never", "memory_limit": "2GiB"
                },
                "data": { "command": "codex-acp", "cwd": "../data", "idle_timeout": "0s" },
                "troi": { "command": "x", "enabled": false }
              }
            }"#,
        );
        assert_eq!(specs.max_running, NonZeroUsize::new(2));
        assert_eq!(specs.max_memory, Some(8 << 30));
        assert_eq!(specs.agents.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["data", "riker"]);

        let riker = &specs.agents[&"riker".into()];
        let texts =
            |texts: &[OsString]| texts.iter().map(|text| text.to_string_lossy().into_owned()).collect::<Vec<_>>();
        let env: Vec<_> = riker.command.env.iter().map(|(name, value)| [name.clone(), value.clone()]).collect();
        assert_eq!(riker.command.program, "/etc/sidekicks/bin/agent");
        assert_eq!(texts(&riker.command.args), ["--acp", "/home/will/x"]);
        assert_eq!(texts(&env.concat()), ["MODE", "loud", "LEVEL", "1", "KEY", "secret"]);
        // What names a variable that is not set is not inherited either.
        assert_eq!(texts(&riker.command.env_remove), ["TOKEN", "OTHER"]);
        assert_eq!(riker.command.cwd.as_deref(), Some(Path::new("/home/will/src/api")));
        assert_eq!(riker.connect.start_timeout, Duration::from_secs(90));
        assert_eq!(
            (riker.idle_timeout, riker.memory_estimate, riker.memory_limit),
            (None, Some(1 << 30), Some(2 << 30))
        );

        let data = &specs.agents[&"data".into()];
        assert_eq!(data.command.program, "codex-acp");
        assert_eq!(data.command.cwd.as_deref(), Some(Path::new("/etc/sidekicks/../data")));
        assert_eq!((data.idle_timeout, data.connect.start_timeout), (Some(Duration::ZERO), Duration::from_secs(60)));
    }
}
