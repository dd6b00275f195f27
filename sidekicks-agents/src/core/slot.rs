//! What is known of one agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use sidekicks_acp::{AgentCommand, End, Generation, StartError, StartFailure, StopCause, StopReport};
use tokio::time::Instant;

use super::LeaseId;
use super::failures::Failures;
use crate::specs::{AgentSpec, Backoff};
use crate::state::{Activity, AgentState};

/// One agent: what it should be, and what it is.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Nothing where the agent was removed.
    pub(super) spec: Option<AgentSpec>,
    /// Whether it is to be kept whatever its spec says.
    pub(super) pinned: bool,
    pub(super) phase: Phase,
    /// The last start, counted from 1.
    pub(super) generation: Generation,
    /// What the last start ran.
    pub(super) command: Option<AgentCommand>,
    /// Whether that is something else than it should be.
    pub(super) outdated: bool,
    pub(super) failures: Failures,
    /// Why it could not be started, or left too soon; until it is ready again.
    pub(super) failure: Option<Arc<StartError>>,
    /// How the last connection ended.
    pub(super) end: Option<End>,
    pub(super) report: Option<Arc<StopReport>>,
    /// In bytes: the last measurement of this generation, and the highest.
    pub(super) memory: Option<u64>,
    pub(super) peak: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) enum Phase {
    #[default]
    Stopped,
    Starting,
    Running(Running),
    /// Until its process is reaped. The cause is missing where it left by itself.
    Stopping {
        cause: Option<StopCause>,
    },
}

#[derive(Debug)]
pub(super) struct Running {
    /// When it was ready.
    pub(super) since: Instant,
    /// Who borrows it.
    pub(super) leases: BTreeMap<LeaseId, Option<Arc<str>>>,
    /// When the last lease came back.
    pub(super) idle_since: Instant,
    /// The same as a number: the smallest is the least recently used.
    pub(super) used: u64,
}

impl Running {
    pub(super) fn new(uses: u64, now: Instant) -> Self {
        Self { since: now, leases: BTreeMap::new(), idle_since: now, used: uses }
    }

    /// A lease came back.
    pub(super) fn rest(&mut self, uses: u64, now: Instant) {
        self.idle_since = now;
        self.used = uses;
    }
}

/// What is reserved for an agent of which nothing is known.
const ESTIMATE: u64 = 512 << 20;

impl Slot {
    /// It is to be what this spec says.
    pub(super) fn give(&mut self, spec: AgentSpec) {
        if self.spec.as_ref().is_none_or(|before| before.command != spec.command) {
            self.failures.clear();
            self.failure = None;
        }
        self.outdated = self.command.as_ref() != Some(&spec.command);
        self.spec = Some(spec);
    }

    /// It is to be no more.
    pub(super) fn remove(&mut self) {
        self.spec = None;
        self.outdated = true;
        self.pinned = false;
        self.failures.clear();
        self.failure = None;
    }

    pub(super) fn failed(&mut self, error: Arc<StartError>, backoff: &Backoff, now: Instant) {
        // It cost nothing, and may have been put right a moment ago: a program just installed, say.
        let is_missing = matches!(
            &*error.failure,
            StartFailure::NotFound { .. }
                | StartFailure::NoSuchFile
                | StartFailure::NotExecutable(_)
                | StartFailure::NotAProgram
                | StartFailure::BadInterpreter { .. }
                | StartFailure::BadCwd { .. }
        );
        if !is_missing {
            self.failures.record(backoff, now);
        }
        self.failure = Some(error);
    }

    /// When it is tried again, if not now, and why.
    pub(super) fn backoff(&self, now: Instant) -> Option<(Instant, &Arc<StartError>)> {
        self.failures.backoff(now).zip(self.failure.as_ref())
    }

    /// An exit soon after the start is a failure of it.
    pub(super) fn left_too_soon(&self, end: End) -> StartError {
        let mut error = StartError::from(StartFailure::Left(end.clone()));
        error.program = self.command.as_ref().map(|command| command.program.clone());
        if let Some(exit) = end.exit() {
            error.exit = Some(exit.status);
            error.stderr = exit.stderr.clone();
        }
        error
    }

    /// Begins the next generation, if there is a spec for it.
    pub(super) fn begin(&mut self) -> Option<(Generation, AgentSpec)> {
        let spec = self.spec.clone()?;
        self.generation.0 += 1;
        self.phase = Phase::Starting;
        self.command = Some(spec.command.clone());
        self.outdated = false;
        self.end = None;
        self.report = None;
        self.memory = None;
        self.peak = None;
        Some((self.generation, spec))
    }

    pub(super) fn is_pinned(&self) -> bool {
        self.pinned || self.spec.as_ref().is_some_and(|spec| spec.pinned)
    }

    pub(super) fn running(&self) -> Option<&Running> {
        match &self.phase {
            Phase::Running(running) => Some(running),
            _ => None,
        }
    }

    /// The same, if nobody borrows it.
    pub(super) fn idle(&self) -> Option<&Running> {
        self.running().filter(|running| running.leases.is_empty())
    }

    /// Whether it keeps its room until somebody stops it.
    pub(super) fn stays(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Running(_))
    }

    /// Whether one more may borrow it as it is now.
    pub(super) fn has_turn(&self) -> bool {
        match (&self.phase, &self.spec) {
            (Phase::Running(running), Some(spec)) => {
                let to_be_stopped = self.outdated || (running.leases.is_empty() && self.is_above_limit());
                !to_be_stopped && running.leases.len() < spec.turns.get() as usize
            }
            _ => false,
        }
    }

    /// When its idle time is over, if it has one.
    pub(super) fn idle_until(&self) -> Option<Instant> {
        let running = self.idle().filter(|_| !self.is_pinned())?;
        running.idle_since.checked_add(self.spec.as_ref()?.idle_timeout?)
    }

    pub(super) fn is_above_limit(&self) -> bool {
        let limit = self.spec.as_ref().and_then(|spec| spec.memory_limit);
        self.memory.zip(limit).is_some_and(|(memory, limit)| memory > limit)
    }

    /// Why it should be stopped now, if it should. An agent that is busy may end its turns.
    pub(super) fn unwanted(&self, now: Instant) -> Option<StopCause> {
        let idle = self.idle().is_some();
        if (idle || matches!(self.phase, Phase::Starting)) && self.outdated {
            Some(StopCause::Reload)
        } else if idle && self.is_above_limit() {
            Some(StopCause::Memory)
        } else {
            self.idle_until().filter(|&until| until <= now).map(|_| StopCause::Idle)
        }
    }

    /// How many bytes are counted for it.
    pub(super) fn reserved(&self) -> u64 {
        let estimate = self.spec.as_ref().and_then(|spec| spec.memory_estimate);
        match self.peak {
            Some(peak) => peak.max(estimate.unwrap_or(0)),
            None => estimate.unwrap_or(ESTIMATE),
        }
    }

    /// How many bytes will be counted for it when it starts.
    pub(super) fn need(&self) -> u64 {
        self.spec.as_ref().and_then(|spec| spec.memory_estimate).unwrap_or(ESTIMATE)
    }

    /// What an observer sees; nothing once it was removed and is gone.
    pub(super) fn state(&self, waiting: usize) -> Option<AgentState> {
        let activity = match &self.phase {
            Phase::Stopped if self.spec.is_none() => return None,
            Phase::Stopped => Activity::Stopped,
            Phase::Starting => Activity::Starting,
            Phase::Running(running) if running.leases.is_empty() => Activity::Idle,
            Phase::Running(running) => Activity::Busy {
                leases: running.leases.len(),
                owners: running.leases.values().flatten().cloned().collect(),
            },
            Phase::Stopping { .. } => Activity::Stopping,
        };
        Some(AgentState {
            activity,
            generation: self.generation,
            waiting,
            pinned: self.is_pinned(),
            memory: self.memory,
            above_limit: self.is_above_limit(),
            failure: self.failure.clone(),
            retry_at: self.failures.until(),
            end: self.end.clone(),
            report: self.report.clone(),
        })
    }
}
