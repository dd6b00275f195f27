//! The end of what an agent writes to stderr.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

/// Reads stderr for as long as it is open, and keeps its end.
#[derive(Clone)]
pub(super) struct Stderr {
    tail: Arc<Mutex<Tail>>,
    closed: watch::Receiver<bool>,
}

impl Stderr {
    /// Follows `pipe` in a task of its own: an agent whose stderr is not read stops at the first 64 KiB.
    pub(super) fn follow(pipe: Option<impl AsyncRead + Send + Unpin + 'static>, limit: usize) -> Self {
        let tail = Arc::new(Mutex::new(Tail { limit, bytes: VecDeque::new(), cut: false }));
        let (close, closed) = watch::channel(false);
        if let Some(mut pipe) = pipe {
            let kept = Arc::clone(&tail);
            tokio::spawn(async move {
                let mut buffer = vec![0; 8 * 1024];
                loop {
                    let read = tokio::select! {
                        read = pipe.read(&mut buffer) => read,
                        // Nobody looks any more; what the agent left behind may hold the pipe for ever.
                        () = close.closed() => return,
                    };
                    let Ok(length @ 1..) = read else { break };
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..length]);
                }
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

struct Tail {
    limit: usize,
    bytes: VecDeque<u8>,
    /// Whether something before `bytes` was dropped.
    cut: bool,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.limit)..];
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(self.limit);
        self.cut |= excess > 0;
        self.bytes.drain(..excess);
        self.bytes.extend(bytes);
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
}
