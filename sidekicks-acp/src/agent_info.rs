//! What an agent says of itself.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::AgentError;
use crate::raw::{RawJson, listed};
use crate::schema::{AgentCapabilities, AuthMethod, Implementation};

/// What the agent said of itself in the handshake. What it left out or got wrong has its default.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct AgentInfo {
    /// The agent's own name and version, where it tells them.
    pub implementation: Option<Implementation>,
    /// What it can do.
    pub capabilities: AgentCapabilities,
    /// How one can log in; may be empty although a login is needed. What the types of the protocol have no field for, as
    /// the variables of a method of type `env_var`, is in its `_meta`.
    pub auth_methods: Vec<AuthMethod>,
    /// The whole answer.
    pub raw: RawJson,
}

/// The only version of the protocol that we offer and take: offered more, some agents switch to a draft.
pub(crate) const PROTOCOL_VERSION: u16 = 1;

/// What is wrong with an answer to `initialize`.
#[derive(Debug, PartialEq)]
pub(crate) enum BadHandshake {
    Version(String),
    Malformed(String),
}

impl AgentInfo {
    pub(crate) fn read(raw: RawJson) -> Result<Self, BadHandshake> {
        let answer = raw.to_value();
        match &answer["protocolVersion"] {
            Value::Number(version) if version.as_f64() == Some(f64::from(PROTOCOL_VERSION)) => {}
            Value::Null => return Err(BadHandshake::Malformed("it names no protocol version".to_owned())),
            other => return Err(BadHandshake::Version(other.to_string())),
        }
        Ok(Self {
            implementation: field(&answer, "agentInfo"),
            capabilities: field(&answer, "agentCapabilities").unwrap_or_default(),
            auth_methods: auth_methods(&answer["authMethods"]),
            raw,
        })
    }

    /// Reads the `error` of a reply, with the login methods of this agent.
    pub(crate) fn error(&self, error: &str) -> AgentError {
        AgentError::read(error, &self.auth_methods)
    }
}

fn field<T: DeserializeOwned>(answer: &Value, key: &str) -> Option<T> {
    answer.get(key).and_then(|value| serde_json::from_value(value.clone()).ok())
}

/// The login methods that can be read, with all that is said of them.
pub(crate) fn auth_methods(list: &Value) -> Vec<AuthMethod> {
    let mut list = list.clone();
    for method in list.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        if method.get("type").is_some_and(|kind| kind == "terminal") {
            continue; // That has fields of its own.
        }
        let known = |key: &str| matches!(key, "id" | "name" | "description" | "_meta");
        let unknown: Vec<String> = method.keys().filter(|key| !known(key)).cloned().collect();
        for key in unknown {
            let value = method.remove(&key).unwrap_or_default();
            let meta = method.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
            if let Some(meta) = meta.as_object_mut() {
                meta.entry(key).or_insert(value);
            }
        }
    }
    listed(&list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<AgentInfo, BadHandshake> {
        AgentInfo::read(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn what_is_missing_has_its_default() {
        let info = read(r#"{"protocolVersion":1}"#).unwrap();
        assert_eq!((info.implementation, info.auth_methods.len()), (None, 0));
        let info = read(
            r#"{"protocolVersion":1.0,"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{},"authMethods":[{"id":"l","name":"L"},3]}"#,
        )
        .unwrap();
        assert_eq!(info.implementation.unwrap().name, "a");
        assert_eq!(info.auth_methods.len(), 1);
        assert!(read(r#"{"protocolVersion":1,"agentInfo":7,"agentCapabilities":[],"authMethods":null}"#).is_ok());
    }

    #[test]
    fn another_version_is_refused() {
        assert_eq!(read(r#"{"protocolVersion":2}"#), Err(BadHandshake::Version("2".to_owned())));
        assert_eq!(
            read(r#"{"protocolVersion":"2025-06-18"}"#),
            Err(BadHandshake::Version("\"2025-06-18\"".to_owned()))
        );
        assert!(matches!(read("null"), Err(BadHandshake::Malformed(_))));
    }
}
