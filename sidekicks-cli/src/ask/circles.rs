//! Noticing that an agent goes in circles.

use sidekicks_conversations::LOOP_THRESHOLD;

/// Whether the run of failures that is going on was told already.
#[derive(Debug, Default)]
pub(super) struct Circles {
    told: bool,
}

impl Circles {
    /// How many tools failed in a row, where that is to be told now: once for each run of failures.
    pub(super) fn seen(&mut self, failed: u32) -> Option<u32> {
        let before = std::mem::replace(&mut self.told, failed >= LOOP_THRESHOLD);
        (self.told && !before).then_some(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_of_failures_is_told_once() {
        let mut circles = Circles::default();
        let told = [0, 1, 2, 3, 3, 4, 5, 0, 1, 2, 0, 1, 2, 4, 0].map(|failed| circles.seen(failed));
        assert_eq!(told.iter().flatten().collect::<Vec<_>>(), [&3, &4]);
        assert_eq!(told.iter().position(Option::is_some), Some(3));
    }
}
