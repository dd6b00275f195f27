//! Where something stands in the tree.

use std::fmt;

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
                Step::Key(key) if is_word(key) => write!(f, "{}{key}", if at == 0 { "" } else { "." })?,
                Step::Key(key) => write!(f, "[{}]", serde_json::Value::from(key.as_str()))?,
            }
        }
        Ok(())
    }
}

fn is_word(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'))
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
        ];
        for (pointer, expected) in cases {
            assert_eq!(pointer.to_string(), expected);
        }
    }
}
