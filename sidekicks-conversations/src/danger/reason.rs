//! Why something is dangerous.

use crate::permission::{Danger, DangerLevel};

use super::text::{Span, Text};
use super::tree::Word;

/// One of [`DANGER_CODES`](crate::DANGER_CODES), for what commands do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    ChangesRights,
    ClearsCrontab,
    DeletesBranch,
    DeletesFiles,
    DeletesResources,
    DiscardsChanges,
    DropsData,
    DropsStash,
    HiddenCommand,
    MovesFiles,
    OverwritesFile,
    RemovesContainers,
    ResetsIndex,
    RewritesHistory,
    RewritesRemote,
    RunsUnseenInput,
    TooComplex,
    Unreadable,
    WritesDisk,
}

impl Reason {
    fn code(self) -> &'static str {
        match self {
            Self::ChangesRights => "changes-rights",
            Self::ClearsCrontab => "clears-crontab",
            Self::DeletesBranch => "deletes-branch",
            Self::DeletesFiles => "deletes-files",
            Self::DeletesResources => "deletes-resources",
            Self::DiscardsChanges => "discards-changes",
            Self::DropsData => "drops-data",
            Self::DropsStash => "drops-stash",
            Self::HiddenCommand => "hidden-command",
            Self::MovesFiles => "moves-files",
            Self::OverwritesFile => "overwrites-file",
            Self::RemovesContainers => "removes-containers",
            Self::ResetsIndex => "resets-index",
            Self::RewritesHistory => "rewrites-history",
            Self::RewritesRemote => "rewrites-remote",
            Self::RunsUnseenInput => "runs-unseen-input",
            Self::TooComplex => "too-complex",
            Self::Unreadable => "unreadable",
            Self::WritesDisk => "writes-disk",
        }
    }

    fn level(self) -> DangerLevel {
        match self {
            Self::HiddenCommand | Self::ResetsIndex | Self::RunsUnseenInput | Self::TooComplex | Self::Unreadable => {
                DangerLevel::Unclear
            }
            _ => DangerLevel::Destructive,
        }
    }

    /// Whether it leaves open which commands are run.
    pub(super) fn hides_commands(self) -> bool {
        matches!(self, Self::HiddenCommand | Self::RunsUnseenInput | Self::TooComplex | Self::Unreadable)
    }
}

/// What one command comes to.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) dangers: Vec<(Reason, Span)>,
    /// Texts that it has a shell run.
    pub(super) code: Vec<Text>,
    /// Commands that it runs with its own input.
    pub(super) run: Vec<Vec<Word>>,
}

impl Found {
    pub(super) fn flag(&mut self, reason: Reason, span: Span) {
        self.dangers.push((reason, span));
    }

    /// From the first of the words to the one at `last`.
    pub(super) fn flag_to(&mut self, reason: Reason, words: &[Word], last: usize) {
        if let (Some(first), Some(last)) = (words.first(), words.get(last)) {
            self.flag(reason, (first.span.0, last.span.1.max(first.span.1)));
        }
    }

    pub(super) fn run(&mut self, words: &[Word]) {
        if !words.is_empty() {
            self.run.push(words.to_vec());
        }
    }
}

/// A danger as it is told.
pub(super) fn told(reason: Reason, (start, end): Span) -> Danger {
    let mut danger = Danger::new(reason.code(), reason.level());
    (danger.start, danger.end) = (start, end);
    danger
}
