//! The end of what an agent writes to stderr.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

use crate::options::OnLine;
use crate::recorder::Recorder;
use crate::wire::{Line, Lines};

/// Reads stderr for as long as it is open, and keeps its end.
#[derive(Clone)]
pub(super) struct Stderr {
    tail: Arc<Mutex<Tail>>,
    closed: watch::Receiver<bool>,
}

impl Stderr {
    /// Follows `pipe` in a task of its own: an agent whose stderr is not read stops at the first 64 KiB. Each line is
    /// handed to `listeners`.
    pub(super) fn follow(
        pipe: Option<impl AsyncRead + Send + Unpin + 'static>,
        limit: usize,
        mut listeners: Listeners,
    ) -> Self {
        let tail = Arc::new(Mutex::new(Tail { limit, bytes: VecDeque::new(), cut: false }));
        let (close, closed) = watch::channel(false);
        if let Some(mut pipe) = pipe {
            let kept = Arc::clone(&tail);
            tokio::spawn(async move {
                let mut buffer = vec![0; 8 * 1024];
                let mut lines = Lines::new(limit);
                loop {
                    let read = tokio::select! {
                        read = pipe.read(&mut buffer) => read,
                        // Nobody looks any more; what the agent left behind may hold the pipe for ever.
                        () = close.closed() => return,
                    };
                    let Ok(length @ 1..) = read else { break };
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..length]);
                    lines.push(&buffer[..length], &mut |line| listeners.hear(&line));
                }
                lines.finish(&mut |line| listeners.hear(&line));
                let _ = close.send(true);
            });
        }
        Self { tail, closed }
    }

    /// The end so far, from the start of a line.
    pub(super) fn tail(&self) -> String {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).text()
    }

    /// Waits until stderr is closed, for `grace` at most.
    pub(super) async fn drained(&mut self, grace: Duration) {
        let _ = tokio::time::timeout(grace, self.closed.wait_for(|closed| *closed)).await;
    }
}

/// Who is told of each line.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    pub(super) recorder: Option<Recorder>,
    pub(super) embedder: Option<OnLine>,
}

impl Listeners {
    fn hear(&mut self, line: &Line<'_>) {
        if let Some(recorder) = &self.recorder {
            recorder.stderr(line);
        }
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong { head, .. } => head,
        };
        let line = String::from_utf8_lossy(bytes.strip_suffix(b"\r").unwrap_or(bytes));
        if let Some(OnLine(heard)) = &self.embedder {
            // A panic must not end the draining, or the agent would be stuck at its next line.
            if catch_unwind(AssertUnwindSafe(|| heard(&line))).is_err() {
                self.embedder = None;
            }
        }
    }
}

struct Tail {
    limit: usize,
    bytes: VecDeque<u8>,
    /// Whether something before `bytes` was dropped.
    cut: bool,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(self.limit);
        self.cut |= excess > 0;
        self.bytes.drain(..excess.min(self.bytes.len()));
        self.bytes.extend(&bytes[bytes.len().saturating_sub(self.limit)..]);
    }

    fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let start = match self.cut {
            true => bytes.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1),
            false => 0,
        };
        String::from_utf8_lossy(&bytes[start..]).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_from_the_start_of_a_line() {
        let mut tail = Tail { limit: 10, bytes: VecDeque::new(), cut: false };
        tail.push(b"one\n");
        assert_eq!(tail.text(), "one");
        tail.push(b"two\nthree\n");
        assert_eq!(tail.text(), "three");
        tail.push(b"\xFF-a-very-long-line-without-end");
        assert_eq!(tail.text(), "ithout-end");
    }

    #[tokio::test]
    async fn each_line_is_handed_on_and_a_panic_ends_only_that() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&heard);
        let embedder = OnLine(Arc::new(move |line: &str| {
            lines.lock().unwrap().push(line.to_owned());
            assert_ne!(line, "panic");
        }));
        let listeners = Listeners { recorder: None, embedder: Some(embedder) };
        let text: &[u8] = b"one\r\n\xFFtwo\nthis line is far too long\n\npanic\nafter\nend";
        let mut stderr = Stderr::follow(Some(text), 12, listeners);
        stderr.drained(Duration::from_secs(60)).await;
        assert_eq!(*heard.lock().unwrap(), ["one", "\u{FFFD}two", "this line is far too long", "", "panic"]);
        assert_eq!(stderr.tail(), "after\nend");
    }
}
