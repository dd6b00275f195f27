//! The thread of a watch: waits, looks, tells.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::hint::Hints;
use super::look::{Sight, Stamp};
use super::signal::{Signal, Wakes, Woken};
use super::timing::Timing;
use super::{Watch, WatchWarning, disk};
use crate::contents;
use crate::digest::Digest;

/// What there is to tell of a file.
#[derive(Debug)]
pub(super) enum Change {
    /// It holds something else than what was told last.
    Contents(Vec<u8>, Digest),
    /// It is gone.
    Missing,
    /// It is there, and cannot be read.
    Unreadable(io::Error),
    /// Changes are heard of later from now on.
    Degraded(WatchWarning),
}

/// What to watch, and how.
pub(super) struct Watcher {
    path: PathBuf,
    timing: Timing,
    /// Whether these bytes look like a text that is still being written.
    is_partial: fn(&[u8]) -> bool,
    read: Box<dyn Fn(&Path) -> io::Result<Vec<u8>> + Send>,
    told: Sight,
}

impl Watcher {
    /// A watch on what this path leads to, which held `last` when it was read.
    pub(super) fn new(path: &Path, last: Digest, is_partial: fn(&[u8]) -> bool) -> Self {
        Self {
            // Another current directory must not lead to another file.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            timing: Timing::default(),
            is_partial,
            read: Box::new(contents::read),
            told: Sight::Contents(last),
        }
    }

    /// Tells `on` of every change from the moment `last` was read. A panic in it ends that call only.
    pub(super) fn start(self, on: impl FnMut(Change) + Send + 'static) -> Watch {
        let (signal, wakes) = Signal::new();
        let hints = Hints::new(signal.clone());
        let stamp = Stamp::None(io::ErrorKind::Other);
        let watching =
            Watching { what: self, wakes, hints, stamp, read_at: Instant::now(), is_blind: false, has_warned: false, on };
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
                let read = self.read_whole();
                self.tell_if_new(read);
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

    /// Reads the file, again while it is news that it is gone or broken, since it may be only half written.
    fn read_whole(&mut self) -> io::Result<Vec<u8>> {
        let end = Instant::now() + self.what.timing.doubt;
        loop {
            let read = self.read();
            let is_whole = read.as_ref().is_ok_and(|bytes| !bytes.is_empty() && !(self.what.is_partial)(bytes));
            let left = end.saturating_duration_since(Instant::now());
            if is_whole || left.is_zero() || Sight::of(&read) == self.what.told || self.wakes.stopped() {
                return read;
            }
            self.wait(left);
            self.arm();
        }
    }

    fn read(&mut self) -> io::Result<Vec<u8>> {
        // Before the reading: what is written during it moves the stamp.
        self.stamp = Stamp::of(&self.what.path);
        self.read_at = Instant::now();
        (self.what.read)(&self.what.path)
    }

    fn tell_if_new(&mut self, read: io::Result<Vec<u8>>) {
        let sight = Sight::of(&read);
        if sight == self.what.told {
            return;
        }
        self.what.told = sight;
        self.tell(match (read, sight) {
            (Ok(bytes), Sight::Contents(digest)) => Change::Contents(bytes, digest),
            (Ok(bytes), _) => {
                let digest = Digest::of(&bytes);
                Change::Contents(bytes, digest)
            }
            (Err(_), Sight::Missing) => Change::Missing,
            (Err(error), _) => Change::Unreadable(error),
        });
    }

    fn tell(&mut self, change: Change) {
        if !self.wakes.stopped() {
            // The panic is told by the hook of all panics; the next change is told as if nothing had been.
            let _ = catch_unwind(AssertUnwindSafe(|| (self.on)(change)));
        }
    }
}
