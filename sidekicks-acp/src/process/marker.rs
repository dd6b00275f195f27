//! The variable in the environment of an agent and of everything it starts, by which they are found again.

use std::sync::atomic::{AtomicU64, Ordering};

use super::family::Member;

/// Its name. Whoever clears the environment of a process of theirs is not found by it.
pub(super) const NAME: &str = "SIDEKICKS_AGENT";

/// Tells one start of one agent from every other: `OWNER/RUN/LABEL`, where the owner is this process, see [`Member`],
/// and the run counts its starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    run: String,
    label: String,
}

impl Marker {
    /// The marker of the next start.
    pub(super) fn next(label: &str) -> Self {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let owner = Member::ourselves();
        let run = format!("{owner}/{}/", RUNS.fetch_add(1, Ordering::Relaxed));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        Self { run, label: label.chars().map(|c| if plain(c) { c } else { '_' }).collect() }
    }

    /// What the variable is set to.
    pub(super) fn value(&self) -> String {
        format!("{}{}", self.run, self.label)
    }

    /// How the variable begins in the environment of each process of this start, and of no other.
    pub(super) fn entry(&self) -> String {
        format!("{NAME}={}", self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_start_has_its_own() {
        let own = Member::ourselves();
        let (one, two) = (Marker::next("Riker 2.0-b_c"), Marker::next("a/b=\u{e9}\0\n"));
        let label = |marker: &Marker| marker.value().rsplit_once('/').unwrap().1.to_owned();
        assert_eq!([label(&one), label(&two), label(&Marker::next(""))], ["Riker_2.0-b_c", "a_b____", ""]);
        assert!(one.entry().starts_with(&format!("SIDEKICKS_AGENT={}.", std::process::id())), "{one:?}");
        assert!(one.value().starts_with(&format!("{own}/")), "{one:?}");
        assert_eq!(format!("{NAME}={}", one.value()), format!("{}Riker_2.0-b_c", one.entry()));
        assert_ne!(one.entry(), two.entry());
        assert!(one.entry().ends_with('/'), "the eleventh run is not taken for the first");
    }
}
