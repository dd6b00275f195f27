//! Work that blocks, beside the runtime.

use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// Does `work` on a thread of its own, and waits for it for `patience` at most; `None` after that, or where no thread can
/// be had.
///
/// Not on the runtime's threads for blocking work: they may all be busy with somebody else's for as long as that takes,
/// and a stop has its bound.
pub(super) async fn aside<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = oneshot::channel();
    let work = move || drop(done.send(work()));
    thread::Builder::new().name("sidekicks-look".to_owned()).spawn(work).ok()?;
    timeout(patience, result).await.ok()?.ok()
}
