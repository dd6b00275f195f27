//! The name of an agent.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a person calls an agent; one name is one agent throughout a program.
///
/// Cheap to clone. Any text is taken: which names a configuration file allows is that file's business.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct AgentName(Arc<str>);

impl AgentName {
    /// Wraps `name` as it is.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for AgentName {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for AgentName {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}
