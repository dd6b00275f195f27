//! What went by on a connection that was no message.

/// What was counted on a connection, for a report to a person who looks for the reason of trouble.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Lines that were no message, blank ones too.
    pub noise: u64,
    /// The first of them that are not blank, each cut to 200 bytes. The agent's text, control characters and all.
    pub noise_lines: Vec<String>,
    /// Lines longer than the limit, passed over.
    pub too_long: u64,
    /// Replies to no call of ours, and second replies.
    pub stray_replies: u64,
    /// Updates and questions of sessions that are not open, or that nobody reads.
    pub dropped: u64,
    /// Notifications and requests that this version does not know.
    pub unknown: u64,
}

/// How many lines of noise are kept, and how much of each.
const LINES: usize = 8;
const BYTES: usize = 200;

impl Traffic {
    pub(crate) fn noise(&mut self, line: &[u8]) {
        self.noise += 1;
        let cut = String::from_utf8_lossy(&line[..line.len().min(BYTES)]);
        if self.noise_lines.len() < LINES && !cut.trim().is_empty() {
            self.noise_lines.push(cut.trim().to_owned());
        }
    }
}
