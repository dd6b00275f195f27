//! Agents of a configuration file.

use std::path::PathBuf;

use sidekicks_acp::Connector;
use sidekicks_acp::schema::{EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio};
use sidekicks_config::{self as config, EffectiveAgent, Variables};

use crate::directory::AgentProfile;
use crate::permission::Action;
use crate::policy::{Decide, Policy, Rule};

impl AgentProfile {
    /// How an agent of a configuration file is talked to; with the feature `config`.
    ///
    /// It works in its folder, where the file names one, and else in `cwd`, an absolute path: the folder in which the program
    /// is, mostly, where such an agent is started as well.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use sidekicks_acp::{AgentName, Connector};
    /// use sidekicks_config::Loaded;
    /// use sidekicks_conversations::AgentProfile;
    ///
    /// /// All agents of a file, where `connector` knows how to reach one: `Supervisor::agent` of `sidekicks-agents`, say.
    /// fn profiles<C: Connector>(loaded: &Loaded, connector: impl Fn(&str) -> C) -> HashMap<AgentName, AgentProfile> {
    ///     let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
    ///     let env = |name: &str| std::env::var_os(name);
    ///     let enabled = loaded.config.agents.names().filter_map(|name| loaded.effective(name, &env)).filter(|a| a.enabled);
    ///     enabled.map(|a| (AgentName::from(&*a.name), AgentProfile::from_config(connector(&a.name), &a, &here))).collect()
    /// }
    /// ```
    pub fn from_config(connector: impl Connector, agent: &EffectiveAgent, cwd: impl Into<PathBuf>) -> Self {
        let mut profile = Self::new(connector, agent.cwd.clone().unwrap_or_else(|| cwd.into()));
        profile.mcp_servers = agent.mcp_servers.iter().filter_map(|(name, server)| mcp_server(name, server)).collect();
        profile.mode = agent.mode.clone();
        profile.model = agent.model.clone();
        profile.policy = agent.permission.into();
        profile.rules = agent.permission_rules.iter().map(Rule::from).collect();
        profile
    }
}

/// The server in the protocol's words. Nothing of a kind that a later version of the configuration knows and we do not.
fn mcp_server(name: &str, server: &config::McpServer) -> Option<McpServer> {
    let headers = |headers: &Variables| headers.iter().map(|(name, value)| HttpHeader::new(name, value)).collect();
    Some(match server {
        config::McpServer::Stdio { command, args, env, .. } => {
            let env = env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
            McpServer::Stdio(McpServerStdio::new(name, command).args(args.clone()).env(env))
        }
        config::McpServer::Http { url, headers: list, .. } => {
            McpServer::Http(McpServerHttp::new(name, url).headers(headers(list)))
        }
        config::McpServer::Sse { url, headers: list, .. } => {
            McpServer::Sse(McpServerSse::new(name, url).headers(headers(list)))
        }
        _ => return None,
    })
}

/// With the feature `config`.
impl From<config::Permission> for Policy {
    fn from(permission: config::Permission) -> Self {
        match permission {
            config::Permission::AllowReads => Self::AllowReads,
            config::Permission::AllowAll => Self::AllowAll,
            config::Permission::DenyAll => Self::DenyAll,
            _ => Self::Ask, // What a later version knows, too: a person decides.
        }
    }
}

/// With the feature `config`.
impl From<&config::PermissionRule> for Rule {
    fn from(rule: &config::PermissionRule) -> Self {
        let action = rule.action.map(action);
        let decide = match rule.decide {
            // Of an action that we do not know a person is asked, and of every other one: it might be any of them.
            _ if action == Some(None) => Decide::Ask,
            config::Decide::Allow => Decide::Allow,
            config::Decide::Deny => Decide::Deny,
            _ => Decide::Ask,
        };
        let mut converted = Self::new(decide);
        converted.action = action.flatten();
        converted.command.clone_from(&rule.command);
        converted.path.clone_from(&rule.path);
        converted
    }
}

/// The action of the same name; nothing for one that a later version of the configuration knows and we do not.
fn action(action: config::Action) -> Option<Action> {
    Some(match action {
        config::Action::RunCommand => Action::RunCommand,
        config::Action::EditFile => Action::EditFile,
        config::Action::DeleteFile => Action::DeleteFile,
        config::Action::MoveFile => Action::MoveFile,
        config::Action::ReadFile => Action::ReadFile,
        config::Action::Fetch => Action::Fetch,
        config::Action::Search => Action::Search,
        config::Action::SwitchMode => Action::SwitchMode,
        config::Action::Other => Action::Other,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};
    use sidekicks_acp::{AgentCommand, SingleAgent};
    use sidekicks_config::{Config, Language, schema, validate};

    use super::*;

    fn profile(text: &str, name: &str) -> AgentProfile {
        assert_eq!(validate(text).len(), 0, "{text}");
        let config: Config = serde_json::from_str(text).expect("a configuration");
        let env = |name: &str| match name {
            "TOKEN" => Some("secret".into()),
            "HOME" => Some("/home/will".into()),
            "PATH" => Some("/nowhere".into()),
            _ => None,
        };
        let agent = config.effective(name, Path::new("/etc/sidekicks.jsonc"), &env).expect("the agent");
        AgentProfile::from_config(SingleAgent::new(AgentCommand::new("x")), &agent, "/home/will")
    }

    #[test]
    fn everything_that_an_entry_says_is_in_force() {
        let text = r#"{
          "version": 1,
          "defaults": { "permission": "allow_reads" },
          "mcp_servers": {
            "files": { "command": "./mcp-files", "args": ["-v"], "env": { "LEVEL": "1" } },
            "bugs": { "type": "http", "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } },
            "news": { "type": "sse", "url": "https://example.com/sse", "headers": { "X-None": "${NOT_SET}" } }
          },
          "agents": {
            "riker": {
              "command": "x", "cwd": "/srv/api", "model": "opus", "mode": "plan", "permission": "deny_all",
              "permission_rules": [
                { "decide": "allow", "command": "cargo *" },
                { "decide": "deny", "path": "~/.ssh/**" },
                { "decide": "allow", "action": "read_file", "path": "~/notes/*" }
              ],
              "mcp_servers": ["news", "files", "bugs"]
            },
            "data": { "command": "x" }
          }
        }"#;
        let riker = profile(text, "riker");
        assert_eq!(riker.cwd, Path::new("/srv/api"));
        assert_eq!((riker.mode.as_deref(), riker.model.as_deref()), (Some("plan"), Some("opus")));
        assert_eq!(riker.policy, Policy::DenyAll);
        let rules = json!([
            { "decide": "allow", "command": "cargo *" },
            { "decide": "deny", "path": "/home/will/.ssh/**" },
            { "decide": "deny", "path": "~/.ssh/**" },
            { "decide": "allow", "action": "read_file", "path": "/home/will/notes/*" },
        ]);
        assert_eq!(json!(riker.rules), rules);
        let servers = json!([
            { "type": "sse", "name": "news", "url": "https://example.com/sse", "headers": [] },
            { "name": "files", "command": "/etc/mcp-files", "args": ["-v"], "env": [{ "name": "LEVEL", "value": "1" }] },
            {
                "type": "http", "name": "bugs", "url": "https://example.com/mcp",
                "headers": [{ "name": "Authorization", "value": "Bearer secret" }],
            },
        ]);
        assert_eq!(json!(riker.mcp_servers), servers);

        let data = profile(text, "data");
        assert_eq!((data.cwd.as_path(), data.policy), (Path::new("/home/will"), Policy::AllowReads));
        assert!(data.mode.is_none() && data.model.is_none() && data.rules.is_empty() && data.mcp_servers.is_empty());
    }

    /// What the file may say, by its schema, is known here under the same name.
    #[test]
    fn the_words_of_the_file_are_ours() {
        let schema: Value = serde_json::from_str(schema(Language::En)).expect("the schema");
        let words = |place: &str| schema.pointer(place).and_then(Value::as_array).expect("words").clone();
        fn file<T: DeserializeOwned>(word: &Value) -> T {
            serde_json::from_value(word.clone()).expect("a word of the file")
        }
        for word in words("/$defs/permission/enum") {
            assert_eq!(json!(Policy::from(file::<config::Permission>(&word))), word);
        }
        for word in words("/$defs/permission_rule/properties/action/enum") {
            assert_eq!(json!(action(file::<config::Action>(&word))), word);
        }
        for word in words("/$defs/permission_rule/properties/decide/enum") {
            let rule: config::PermissionRule = file(&json!({ "decide": word, "command": "ls" }));
            assert_eq!(json!(Rule::from(&rule)), json!({ "decide": word, "command": "ls" }));
        }
    }
}
