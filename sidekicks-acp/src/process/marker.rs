//! The variable in the environment of an agent and of everything it starts, by which they are found again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::family::Member;

/// Its name. Whoever clears the environment of a process of theirs is not found by it.
pub(super) const NAME: &str = "SIDEKICKS_AGENT";

/// Tells one start of one agent from every other: `OWNER/PROGRAM.RUN/LABEL`.
///
/// The owner is this process, see [`Member`]. It may execute another program and be the same process still, or hold two
/// versions of this crate, so the program is a random number; it counts its runs. Where we run under an agent ourselves,
/// its marker follows after a space: what we start is of that one too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    run: String,
    label: String,
}

impl Marker {
    /// The marker of the next start.
    pub(super) fn next(label: &str) -> Self {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let run = format!("{}{}/", program(), RUNS.fetch_add(1, Ordering::Relaxed));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        Self { run, label: label.chars().map(|c| if plain(c) { c } else { '_' }).collect() }
    }

    /// What the variable is set to, where it is `outer` for us.
    pub(super) fn value(&self, outer: Option<&str>) -> String {
        let outer = outer.map(|outer| format!(" {outer}")).unwrap_or_default();
        format!("{}{}{outer}", self.run, self.label)
    }

    /// How one word of the variable begins for each process of this start, and of no other.
    pub(super) fn beginning(&self) -> &str {
        &self.run
    }
}

/// How one word of the variable begins for each process that stems from the agents of this program.
pub(super) fn program() -> String {
    static PROGRAM: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    format!("{}/{:x}.", Member::ourselves(), *PROGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_start_has_its_own() {
        let (one, other) = (Marker::next("my agent/1 \u{E9}"), Marker::next(""));
        assert!(one.value(None).starts_with(&program()) && one.value(None).ends_with("/my_agent_1__"), "{one:?}");
        assert!(program().starts_with(&format!("{}/", Member::ourselves())));
        assert_ne!(one.beginning(), other.beginning());
    }
}
