//! Writing without ever being stuck in it.

use std::io;

use tokio::io::{AsyncWriteExt, stderr, stdout};
use tokio::sync::{mpsc, oneshot};

use super::screen::Stream;

/// Writes to stdout and stderr in a task, one thing after the other, so that a reader that does not read holds up
/// nothing but the writing.
pub(super) struct Output {
    work: mpsc::UnboundedSender<Work>,
    /// The one that is being written.
    writing: Option<oneshot::Receiver<io::Result<()>>>,
}

struct Work {
    pieces: Vec<(Stream, String)>,
    done: oneshot::Sender<io::Result<()>>,
}

impl Output {
    pub(super) fn start() -> Self {
        let (work, mut queue) = mpsc::unbounded_channel::<Work>();
        tokio::spawn(async move {
            while let Some(Work { pieces, done }) = queue.recv().await {
                let _ = done.send(write(pieces).await); // Nobody waits for it any more.
            }
        });
        Self { work, writing: None }
    }

    /// Whether something is being written.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Writes `pieces` after what is being written. Nothing to write is written at once.
    pub(super) fn write(&mut self, pieces: Vec<(Stream, String)>) {
        if !pieces.is_empty() {
            let (done, writing) = oneshot::channel();
            self.writing = self.work.send(Work { pieces, done }).is_ok().then_some(writing);
        }
    }

    /// Waits until what is being written is written; for ever where that is nothing. Cancel-safe.
    ///
    /// # Errors
    /// When stdout takes nothing more. Whether stderr does is nobody's business.
    pub(super) async fn written(&mut self) -> io::Result<()> {
        let Some(writing) = &mut self.writing else { return std::future::pending().await };
        let written = writing.await.unwrap_or(Ok(()));
        self.writing = None;
        written
    }
}

async fn write(pieces: Vec<(Stream, String)>) -> io::Result<()> {
    for (stream, text) in pieces {
        match stream {
            Stream::Stdout => {
                let mut out = stdout();
                out.write_all(text.as_bytes()).await?;
                out.flush().await?;
            }
            Stream::Stderr => {
                let mut out = stderr();
                if out.write_all(text.as_bytes()).await.is_ok() {
                    let _ = out.flush().await;
                }
            }
        }
    }
    Ok(())
}
