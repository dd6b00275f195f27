//! Hearing of changes to a file, however it is saved.

mod disk;
mod hint;
mod look;
mod signal;
mod timing;
mod watcher;

use std::io;
use std::path::Path;
use std::thread::{self, JoinHandle};

use crate::load::{LoadError, Loaded};
use crate::syntax;
use look::Change;
use signal::Signal;
use watcher::Watcher;

/// What happened to a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// It holds another text, or it is back after it was missing or unreadable. What that means is told by the rules of
    /// [`reload`](crate::reload): what works is not taken away by a mistake.
    Changed(Loaded),
    /// It is gone; what was loaded last still counts. Told when it has been so for a quarter of a second.
    Missing,
    /// It cannot be read, or is no file, or has more than 1 MiB; what was loaded last still counts. Told once for each
    /// cause, after a quarter of a second.
    Unreadable(LoadError),
    /// From now on changes may be told a second late. Told once.
    Degraded(WatchWarning),
}

/// Watches the file that was loaded, and calls `on` with each change from that moment on, mostly within 50 ms.
///
/// It does not matter how the file is saved, whether it is replaced, removed and made again, or reached through links
/// that are pointed elsewhere. A text that is the same again is not told, and of several changes in quick succession the
/// last one is. A text with errors in its syntax may be half of one, so it is told only when it has been so for a
/// quarter of a second.
///
/// `on` is called in a thread of its own, one call after another: a slow one delays what follows, and what has changed
/// again by then is not told. It may save the file: if that changes the text, it is called with it once. If it panics,
/// that call is over, and the next change is told.
///
/// The system's events are taken as hints only, since they get lost, and network disks have none: every two seconds the
/// file's size and times are looked at, and on network disks it is read every 30 seconds, whatever they are.
///
/// # Panics
///
/// If no thread can be started, as [`std::thread::spawn`] does.
///
/// ```no_run
/// use sidekicks_config::{Event, load, watch};
///
/// let watch = watch(load("sidekicks.jsonc".as_ref())?, |event| match event {
///     Event::Changed(loaded) => println!("{} agents", loaded.config.agents.len()),
///     other => println!("{other:?}"),
/// });
/// # watch.stop();
/// # Ok::<_, sidekicks_config::LoadError>(())
/// ```
pub fn watch(last: Loaded, on: impl FnMut(Event) + Send + 'static) -> Watch {
    let path = last.path.clone();
    start(&path, Some(last), on)
}

/// Watches a file that is not there yet, or could not be loaded: the first text that it has is told as
/// [`load`](crate::load) would have it. The rest is as with [`watch`].
///
/// # Panics
///
/// If no thread can be started.
pub fn watch_unloaded(path: &Path, on: impl FnMut(Event) + Send + 'static) -> Watch {
    start(path, None, on)
}

fn start(path: &Path, mut last: Option<Loaded>, mut on: impl FnMut(Event) + Send + 'static) -> Watch {
    let digest = last.as_ref().map(|last| last.digest);
    let given = path.to_owned();
    Watcher::new(path, digest, is_partial).start(move |change| {
        on(match change {
            Change::Contents(bytes, _) => {
                let loaded = Loaded::of(&given, &bytes, last.as_ref());
                last = Some(loaded.clone());
                Event::Changed(loaded)
            }
            Change::Missing => Event::Missing,
            Change::Unreadable(error) => Event::Unreadable(LoadError::new(&given, error)),
            Change::Degraded(warning) => Event::Degraded(warning),
        });
    })
}

/// Whether this may be a text that is still being written.
fn is_partial(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or(true, |text| syntax::read(text).found.iter().any(|found| found.code.is_syntax()))
}

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
