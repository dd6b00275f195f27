//! Waking the thread of a watch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Wakes the thread. Any number of hints that it has not heard yet are one.
#[derive(Debug, Clone)]
pub(super) struct Signal {
    stopped: Arc<AtomicBool>,
    wakes: SyncSender<()>,
}

/// What the thread waits on.
#[derive(Debug)]
pub(super) struct Wakes {
    stopped: Arc<AtomicBool>,
    wakes: Receiver<()>,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Woken {
    ByHint,
    ByTime,
}

impl Signal {
    pub(super) fn new() -> (Self, Wakes) {
        let (sender, receiver) = sync_channel(1);
        let stopped = Arc::new(AtomicBool::new(false));
        (Self { stopped: stopped.clone(), wakes: sender }, Wakes { stopped, wakes: receiver })
    }

    /// Something may have changed.
    pub(super) fn hint(&self) {
        let _ = self.wakes.try_send(()); // When it is full, the thread is about to look anyway.
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.hint();
    }
}

impl Wakes {
    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Waits for a hint, or to be stopped, but not longer than this.
    pub(super) fn wait(&self, longest: Duration) -> Woken {
        match self.wakes.recv_timeout(longest) {
            Ok(()) => Woken::ByHint,
            Err(_) => Woken::ByTime, // The other end is never gone: the thread has one too.
        }
    }

    /// Waits until no hint comes for `quiet`, but not longer than `busy`.
    pub(super) fn settle(&self, quiet: Duration, busy: Duration) {
        let end = Instant::now() + busy;
        while !self.stopped() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.wait(quiet.min(left)) == Woken::ByTime {
                return;
            }
        }
    }
}
