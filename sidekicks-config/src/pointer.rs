//! Where something stands in the tree.

use std::fmt;

use crate::problem::{cut, escaped};

/// One step from a map or a list to what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// The steps from the root to a value, or to its key.
///
/// Written as people write it: `agents.riker.args[0]`, and `agents["two words"]` where the key is not one plain word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Pointer(Vec<Step>);

impl Pointer {
    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    pub(crate) fn push_key(&mut self, key: impl Into<String>) {
        self.0.push(Step::Key(key.into()));
    }

    pub(crate) fn push_index(&mut self, index: usize) {
        self.0.push(Step::Index(index));
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// Up to the first name of a variable or a header that is none and may be a secret in the wrong place: it looks like
    /// one, or the text has a slip, after which keys and values may have changed places.
    pub(crate) fn public(&self, has_slip: bool) -> Self {
        let mut is_name: Option<fn(&str) -> bool> = None;
        let mut end = self.0.len();
        for (at, step) in self.0.iter().enumerate() {
            let Step::Key(key) = step else { continue };
            match is_name {
                Some(is_name) if !is_name(key) && (has_slip || !is_mere_mistake(key)) => {
                    end = at;
                    break;
                }
                None if !self.is_entry(at) => is_name = names_in(key),
                _ => {}
            }
        }
        Self(self.0[..end].to_vec())
    }

    /// Whether this step names an agent or the like: one of them may be called `env`.
    fn is_entry(&self, at: usize) -> bool {
        let is_section = |step: &Step| matches!(step, Step::Key(key) if matches!(&**key, "agents" | "workspaces" | "mcp_servers" | "channels"));
        at == 1 && is_section(&self.0[0])
    }

    /// The pointer of a member of what this one points at.
    pub(crate) fn key(&self, key: &str) -> Self {
        let mut pointer = self.clone();
        pointer.push_key(key);
        pointer
    }

    /// The pointer of an item of what this one points at.
    pub(crate) fn index(&self, index: usize) -> Self {
        let mut pointer = self.clone();
        pointer.push_index(index);
        pointer
    }
}

impl<const N: usize> From<[&str; N]> for Pointer {
    fn from(keys: [&str; N]) -> Self {
        Self(keys.into_iter().map(|key| Step::Key(key.to_owned())).collect())
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_word(key) => write!(f, "{}{}", if at == 0 { "" } else { "." }, cut(key))?,
                Step::Key(key) => write!(f, "[{}]", escaped(&serde_json::Value::from(cut(key)).to_string()))?,
            }
        }
        Ok(())
    }
}

fn is_word(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'))
}

/// What is a name in a map that is called so, if it holds variables or headers. Others may call it otherwise.
fn names_in(key: &str) -> Option<fn(&str) -> bool> {
    /// A name that nobody has; it is more likely a token, which a header could be called as well.
    const LONG: usize = 64;
    let variable = |name: &str| {
        let word = name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        word && name.len() <= LONG && name.starts_with(|c: char| !c.is_ascii_digit())
    };
    let header = |name: &str| {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+.^_`|~-".contains(c);
        !name.is_empty() && name.len() <= LONG && name.chars().all(token)
    };
    match key.to_ascii_lowercase().as_str() {
        "env" | "environment" => Some(variable),
        "headers" => Some(header),
        _ => None,
    }
}

/// Whether nobody would take this for a secret, though it is no name: `MY-KEY`, `1A`, nothing at all. Keys of many services
/// begin with `sk-`.
fn is_mere_mistake(name: &str) -> bool {
    name.len() <= 32
        && !name.starts_with("sk-")
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_people_write_it() {
        let agent = Pointer::from(["agents", "riker"]);
        let cases = [
            (Pointer::default(), ""),
            (Pointer::from(["version"]), "version"),
            (agent.key("args").index(0), "agents.riker.args[0]"),
            (Pointer::from(["agents", "1", "command"]), "agents.1.command"),
            (Pointer::from(["agents", "two words"]), "agents[\"two words\"]"),
            (Pointer::from(["agents", "a.b", "x"]), "agents[\"a.b\"].x"),
            (Pointer::from(["a\"b\n"]), "[\"a\\\"b\\n\"]"),
            (Pointer::from(["", "$schema"]), "[\"\"].$schema"),
            (Pointer::from(["a\u{7f}\u{9b}\u{202e}"]), "[\"a\\u007f\\u009b\\u202e\"]"),
            (Pointer::from(["a", &"x".repeat(81)]), &format!("a.{}…", "x".repeat(80))),
            (Pointer::from(["a", &"é".repeat(81)]), &format!("a[\"{}…\"]", "é".repeat(80))),
        ];
        for (pointer, expected) in cases {
            assert_eq!(pointer.to_string(), *expected);
        }
    }

    #[test]
    fn what_may_be_a_secret_is_not_in_it() {
        let long = "x".repeat(65);
        let cases: [(Pointer, &str); 11] = [
            (["agents", "a", "env", "API_KEY"].into(), "agents.a.env.API_KEY"),
            (["agents", "a", "env", "KEY=sk-x"].into(), "agents.a.env"),
            (["agents", "a", "env", "sk-x", "y"].into(), "agents.a.env"),
            (["agents", "a", "env", ""].into(), "agents.a.env"),
            (["agents", "a", "env", &long].into(), "agents.a.env"),
            (Pointer::from(["agents", "a", "env"]).index(0).key("KEY=sk-x"), "agents.a.env[0]"),
            (["defaults", "env", "1"].into(), "defaults.env"),
            (["mcpServers", "a", "environment", "sk-x"].into(), "mcpServers.a.environment"),
            (["mcp_servers", "a", "headers", "X-Api.Key"].into(), "mcp_servers.a.headers[\"X-Api.Key\"]"),
            (["mcp_servers", "a", "headers", "Bearer x"].into(), "mcp_servers.a.headers"),
            // An agent may be called so.
            (["agents", "env", "two words"].into(), "agents.env[\"two words\"]"),
        ];
        for (pointer, expected) in cases {
            assert_eq!(pointer.public(true).to_string(), expected);
        }
        let cases: [(Pointer, &str); 6] = [
            (["agents", "a", "env", "MY-KEY"].into(), "agents.a.env.MY-KEY"),
            (["agents", "a", "env", "1A"].into(), "agents.a.env.1A"),
            (["agents", "a", "env", ""].into(), "agents.a.env[\"\"]"),
            (["agents", "a", "env", "KEY=x"].into(), "agents.a.env"),
            (["agents", "a", "env", &"x-".repeat(17)].into(), "agents.a.env"),
            (["mcp_servers", "a", "headers", "Bearer x"].into(), "mcp_servers.a.headers"),
        ];
        for (pointer, expected) in cases {
            assert_eq!(pointer.public(false).to_string(), expected);
        }
    }
}
