//! Hearing of changes to a file, however it is saved.

mod disk;
mod hint;
mod look;
mod signal;
mod timing;
mod watcher;

use std::io;
use std::thread::{self, JoinHandle};

use signal::Signal;

/// Why changes are heard of later than they could be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchWarning {
    /// Other programs use all the watches that this user may have. On Linux the limits are
    /// `fs.inotify.max_user_instances` and `fs.inotify.max_user_watches`.
    #[error("no more files can be watched; changes are looked for once a second")]
    LimitReached,
    /// The system refused to watch a directory, for another reason.
    #[error("a directory cannot be watched; changes are looked for once a second")]
    Refused(#[source] io::Error),
}

/// A thread that watches a file, until this is dropped.
///
/// Dropping it waits for nothing: a call of the function that was passed may be under way, and ends as it does.
/// [`stop`](Self::stop) waits for it.
#[derive(Debug)]
#[must_use = "the file is watched until this is dropped"]
pub struct Watch {
    signal: Signal,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Stops watching: once this returns, the function that was passed is not called again, and is dropped.
    ///
    /// Called from that function, it does not wait for the call to end.
    pub fn stop(mut self) {
        self.signal.stop();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // The thread panics only by a fault of ours, and has told so by then.
            let _ = thread.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.signal.stop();
    }
}

#[cfg(test)]
mod tests;
