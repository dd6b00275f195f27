//! How often an agent failed lately, and when it is tried again.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::specs::Backoff;

/// The failures of one agent that still count.
#[derive(Debug, Default)]
pub(super) struct Failures {
    /// The newest, as many as [`Backoff::failures`] at most.
    times: VecDeque<Instant>,
    /// How long one counts now; nothing yet where it has not grown.
    window: Option<Duration>,
    until: Option<Instant>,
}

/// For a time that cannot be told: about a century.
const FAR: Duration = Duration::from_secs(100 * 365 * 86_400);

impl Failures {
    pub(super) fn record(&mut self, policy: &Backoff, now: Instant) {
        self.times.push_back(now);
        let window = self.window.unwrap_or(policy.window);
        while self.times.len() > policy.failures || self.times.front().is_some_and(|&time| now - time >= window) {
            self.times.pop_front();
        }
        if let Some(&oldest) = self.times.front().filter(|_| self.times.len() == policy.failures) {
            self.until = oldest.checked_add(window).or_else(|| now.checked_add(FAR));
            self.window = Some(window.saturating_mul(2).min(policy.longest.max(window)));
        }
    }

    /// When the agent is tried again, if not now.
    pub(super) fn backoff(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|&until| now < until)
    }

    /// When it is tried again, or was.
    pub(super) fn until(&self) -> Option<Instant> {
        self.until
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records failures at these seconds; tells after each how many seconds later it is tried again.
    fn waits(policy: &Backoff, seconds: &[u64]) -> Vec<u64> {
        let (begin, mut failures) = (Instant::now(), Failures::default());
        let wait = |&second: &u64| {
            let now = begin + Duration::from_secs(second);
            failures.record(policy, now);
            failures.backoff(now).map_or(0, |until| (until - now).as_secs())
        };
        seconds.iter().map(wait).collect()
    }

    #[test]
    fn the_third_failure_in_the_window_makes_it_wait_and_the_window_grows() {
        let policy = Backoff::default();
        assert_eq!(waits(&policy, &[0, 1, 2]), [0, 0, 58]);
        assert_eq!(waits(&policy, &[0, 30, 60]), [0, 0, 0], "the first no longer counts");
        // As it goes on where each start is tried as soon as it may be.
        assert_eq!(waits(&policy, &[0, 0, 0, 60, 120, 240, 540, 720]), [0, 0, 60, 60, 120, 300, 180, 120]);
        assert_eq!(waits(&policy, &[0, 0, 0, 700]), [0, 0, 60, 0], "it was quiet for long");
    }

    #[test]
    fn nothing_is_ever_waited_for_where_no_number_is_given() {
        assert_eq!(waits(&Backoff { failures: 0, ..Backoff::default() }, &[0, 0, 0, 0]), [0, 0, 0, 0]);
        let for_ever = Backoff { failures: 1, window: Duration::MAX, ..Backoff::default() };
        assert!(waits(&for_ever, &[0, 60]).into_iter().all(|wait| wait > 1_000_000_000));
        assert_eq!(waits(&Backoff { failures: 1, ..Backoff::default() }, &[0, 60]), [60, 120]);
    }
}
