//! In whose name an agent is borrowed.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use sidekicks_acp::AgentName;

/// The name that a conversation borrows in until it is forgotten; after that it may hold a lease still, so the next has
/// another.
///
/// No two are called the same, in the whole program: who waits while they hold a lease of the same owner waits for
/// themselves.
pub(crate) struct Owner(String);

impl Owner {
    pub(super) fn new(agent: &AgentName) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self(format!("{agent}#{}", NUMBERS.fetch_add(1, Ordering::Relaxed)))
    }

    /// Who borrows beside a turn, which may hold a lease of its own.
    pub(crate) fn of(&self, what: &str) -> String {
        format!("{self}.{what}")
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Those who are waited for, as an interface shows them: of a conversation the agent that it is with.
pub(super) fn shown(owners: &[String]) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for owner in owners {
        let agent = match owner.rsplit_once('#') {
            Some((agent, number)) if number.starts_with(|first: char| first.is_ascii_digit()) => agent,
            _ => owner,
        };
        if !shown.iter().any(|known| known == agent) {
            shown.push(agent.to_owned());
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_shows_agents() {
        let owner = Owner::new(&"a#b".into());
        let owners = [owner.to_string(), owner.of("question"), "build".to_owned(), "#".to_owned(), "x#y".to_owned()];
        assert_eq!(shown(&owners), ["a#b", "build", "#", "x#y"]);
        assert_ne!(owner.to_string(), Owner::new(&"a#b".into()).to_string());
    }
}
