//! Finds everything that a test starts, by a mark that is in its environment.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A mark of which there is no other.
pub(crate) struct Mark(String);

impl Mark {
    const NAME: &str = "EXAMPLES_MARK";

    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Marks what the command starts, and all that stems from it.
    pub(crate) fn set(&self, command: &mut Command) {
        command.env(Self::NAME, &self.0);
    }

    /// The environments of the processes that have it.
    pub(crate) fn processes(&self) -> Vec<Vec<String>> {
        let mark = format!("{}={}", Self::NAME, self.0);
        let environments = fs::read_dir("/proc").unwrap().flatten().map(|entry| environment(&entry.path()));
        environments.filter(|environment| environment.contains(&mark)).collect()
    }

    /// Waits until this is so.
    pub(crate) fn until(&self, what: &str, is: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}: {:?}", self.processes());
            thread::yield_now();
        }
    }

    /// Waits until nothing is left but what the test itself has to reap.
    pub(crate) fn nothing_is_left(&self) {
        self.until("left behind", || self.processes().is_empty());
    }
}

fn environment(process: &Path) -> Vec<String> {
    let bytes = fs::read(process.join("environ")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).split('\0').map(str::to_owned).collect()
}
