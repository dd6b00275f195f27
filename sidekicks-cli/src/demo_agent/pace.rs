//! How far the agent may speak ahead of its reader.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Semaphore;

/// How many updates may wait for the pipe, over all sessions.
const ROOM: usize = 64;

/// The head of a line, in which its method stands.
const HEAD: usize = 64;

/// Keeps the queue of outgoing updates short.
///
/// The SDK takes any number of notifications and offers no way to wait for them: behind a slow reader its queue
/// would hold all of `long: 10000000`. It does show each line to the transport's debug callback just before
/// writing it, and it writes a line only once the one before was flushed. So a line seen there has left the queue:
/// each update takes a permit before it is sent, and [`wrote`](Pace::wrote) gives the permit back.
#[derive(Debug)]
pub(super) struct Pace {
    room: Semaphore,
    sent: AtomicU64,
    written: AtomicU64,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { room: Semaphore::new(ROOM), sent: AtomicU64::new(0), written: AtomicU64::new(0) }
    }

    /// Waits for room for one update, which must then be sent before the next await. Returns its number.
    pub(super) async fn admit(&self) -> u64 {
        // The semaphore is never closed, so there is always a permit in the end.
        if let Ok(permit) = self.room.acquire().await {
            permit.forget();
        }
        self.sent.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether the update of this number has left the queue.
    pub(super) fn has_written(&self, number: u64) -> bool {
        self.written.load(Ordering::Relaxed) >= number
    }

    /// Takes note of a line on its way to the pipe.
    pub(super) fn wrote(&self, line: &str) {
        if is_update(line) {
            self.written.fetch_add(1, Ordering::Relaxed);
            self.room.add_permits(1);
        }
    }
}

/// Whether a line is a `session/update`. Only those are counted: answers and questions are few.
fn is_update(line: &str) -> bool {
    line.get(..HEAD).unwrap_or(line).contains(r#""method":"session/update""#)
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::{RawJsonRpcMessage, TransportFrame};
    use serde_json::json;

    use super::*;

    /// The line that the SDK writes for a notification.
    fn line(method: &str) -> String {
        let message = RawJsonRpcMessage::notification(method.to_owned(), json!({"sessionId": "é".repeat(99)}));
        TransportFrame::Single(message.unwrap()).to_json().unwrap()
    }

    #[test]
    fn updates_are_told_from_other_lines() {
        assert!(is_update(&line("session/update")));
        assert!(!is_update(&line("session/other")));
        assert!(!is_update(r#"{"jsonrpc":"2.0","id":"\"method\":\"session/update\"","result":{}}"#));
        assert!(!is_update("{}"));
    }

    #[tokio::test]
    async fn a_full_queue_waits_for_the_pipe() {
        let pace = Pace::new();
        for number in 1..=ROOM as u64 {
            assert_eq!(pace.admit().await, number);
        }
        let mut next = Box::pin(pace.admit());
        let waiting = tokio::select! {
            biased;
            _ = &mut next => false,
            () = std::future::ready(()) => true,
        };
        assert!(waiting);
        assert!(!pace.has_written(1));
        pace.wrote(&line("session/update"));
        assert!(pace.has_written(1) && !pace.has_written(2));
        assert_eq!(next.await, ROOM as u64 + 1);
    }
}
