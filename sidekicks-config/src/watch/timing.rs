//! How long to wait for what.

use std::time::Duration;

/// The times of a watch; tests have others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    /// Without a hint for so long, whoever writes is done.
    pub(super) quiet: Duration,
    /// So long at most is waited for that.
    pub(super) busy: Duration,
    /// So long a file that is gone, empty or broken has to become whole.
    pub(super) doubt: Duration,
    /// The time between two looks when no hint comes.
    pub(super) timer: Duration,
    /// The same where no hint can come.
    pub(super) blind_timer: Duration,
    /// The time between two readings where the time of a file cannot be trusted.
    pub(super) contents: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(30),
            busy: Duration::from_millis(500),
            doubt: Duration::from_millis(250),
            timer: Duration::from_secs(2),
            blind_timer: Duration::from_secs(1),
            contents: Duration::from_secs(30),
        }
    }
}
