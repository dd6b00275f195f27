//! What only tests of the guard and of the marker need.

use crate::real::until;

/// Does nothing until its stdin is closed.
pub(crate) const OBEY: &str = "while read line; do :; done";

/// Whether processes are found by what is in their environment; else those that left their agent's group survive it.
pub(crate) const BY_MARKER: bool = cfg!(all(target_os = "linux", not(sidekicks_posix)));

/// Whether a test that is about that can run; says so where it cannot.
pub(crate) fn by_marker() -> bool {
    if !BY_MARKER {
        eprintln!("skipped: nobody is found by a marker here");
    }
    BY_MARKER
}

/// Waits until a `sleep` of each of `count` processes with this mark runs: a shell needs a moment to start them.
pub(crate) async fn asleep(mark: &str, count: usize) {
    until(mark, |lines| lines.iter().filter(|line| *line == &format!("sleep {mark}")).count() == count).await;
}
