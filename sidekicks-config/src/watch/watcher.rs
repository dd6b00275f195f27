//! The thread of a watch: waits, looks, tells.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::hint::Hints;
use super::look::{Change, Key, Stamp};
use super::signal::{Signal, Wakes, Woken};
use super::timing::Timing;
use super::{Watch, disk};
use crate::contents;
use crate::digest::Digest;

type Read = Box<dyn Fn(&Path) -> io::Result<Vec<u8>> + Send>;

/// What to watch, and how.
pub(super) struct Watcher {
    path: PathBuf,
    pub(super) timing: Timing,
    /// Whether these bytes may be a text that is still being written, as none at all may be.
    is_partial: fn(&[u8]) -> bool,
    pub(super) read: Read,
    told: Key,
}

impl Watcher {
    /// A watch on what this path leads to, which held `last` when it was read, if it could be.
    pub(super) fn new(path: &Path, last: Option<Digest>, is_partial: fn(&[u8]) -> bool) -> Self {
        Self {
            // Another current directory must not lead to another file.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            timing: Timing::default(),
            is_partial,
            read: Box::new(contents::read),
            told: last.map_or(Key::Missing, Key::Contents),
        }
    }

    /// Tells `on` of every change from the moment `last` was read. A panic in it ends that call only.
    pub(super) fn start(self, on: impl FnMut(Change) + Send + 'static) -> Watch {
        let (signal, wakes) = Signal::new();
        let hints = Hints::new(signal.clone());
        let stamp = Stamp::None(io::ErrorKind::Other);
        let watching = Watching {
            what: self,
            wakes,
            hints,
            stamp,
            read_at: Instant::now(),
            is_blind: false,
            has_warned: false,
            on,
        };
        let thread = thread::Builder::new().name("config watch".to_owned()).spawn(move || watching.run());
        Watch { signal, thread: Some(thread.expect("a thread can be started")) }
    }
}

struct Watching<F> {
    what: Watcher,
    wakes: Wakes,
    hints: Hints,
    stamp: Stamp,
    read_at: Instant,
    /// Whether hints may not come.
    is_blind: bool,
    has_warned: bool,
    on: F,
}

impl<F: FnMut(Change)> Watching<F> {
    fn run(mut self) {
        let mut woken = Woken::ByHint; // The file may have changed since it was loaded.
        while !self.wakes.stopped() {
            self.arm();
            if woken == Woken::ByHint || self.may_have_changed() {
                let seen = self.look();
                if seen.key() != self.what.told {
                    self.what.told = seen.key();
                    self.tell(seen);
                }
            }
            woken = self.wait(if self.is_blind { self.what.timing.blind_timer } else { self.what.timing.timer });
        }
    }

    /// Waits for a hint and until its cause is over.
    fn wait(&self, longest: Duration) -> Woken {
        let woken = self.wakes.wait(longest);
        if woken == Woken::ByHint {
            self.wakes.settle(self.what.timing.quiet, self.what.timing.busy);
        }
        woken
    }

    fn arm(&mut self) {
        let armed = self.hints.arm(&self.what.path);
        self.is_blind = armed.is_err();
        if let Err(warning) = armed
            && !self.has_warned
        {
            self.has_warned = true;
            self.tell(Change::Degraded(warning));
        }
    }

    /// Whether the file is not as it was when it was read last, as far as that shows without reading it.
    fn may_have_changed(&self) -> bool {
        Stamp::of(&self.what.path) != self.stamp
            || (self.read_at.elapsed() >= self.what.timing.contents && disk::is_remote(&self.what.path))
    }

    /// Reads the file; again while it is news that it is gone or broken, since it may be only half written.
    fn look(&mut self) -> Change {
        let end = Instant::now() + self.what.timing.doubt;
        loop {
            let seen = self.read();
            let left = end.saturating_duration_since(Instant::now());
            if seen.key() == self.what.told || self.is_whole(&seen) || left.is_zero() || self.wakes.stopped() {
                return seen;
            }
            self.wait(left);
            self.arm();
        }
    }

    fn read(&mut self) -> Change {
        // Before the reading: what is written during it moves the stamp.
        self.stamp = Stamp::of(&self.what.path);
        self.read_at = Instant::now();
        Change::of((self.what.read)(&self.what.path))
    }

    fn is_whole(&self, seen: &Change) -> bool {
        matches!(seen, Change::Contents(bytes, _) if !(self.what.is_partial)(bytes))
    }

    fn tell(&mut self, change: Change) {
        if !self.wakes.stopped() {
            // The panic is told by the hook of all panics; the next change is told as if nothing had been.
            let _ = catch_unwind(AssertUnwindSafe(|| (self.on)(change)));
        }
    }
}
