//! The limits of a connection, as values.

use std::time::Duration;

use crate::schema::Implementation;

/// How a connection behaves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// What we call ourselves in the handshake.
    pub client: Implementation,
    /// How long starting may take, from the start of the program to the answer of the handshake. Default: 60 seconds;
    /// an agent behind `npx` downloads itself the first time.
    pub start_timeout: Duration,
    /// How long any call but a prompt may take. Default: 60 seconds.
    pub call_timeout: Duration,
    /// How much is kept.
    pub limits: Limits,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            client: Implementation::new("sidekicks", env!("CARGO_PKG_VERSION")),
            start_timeout: Duration::from_secs(60),
            call_timeout: Duration::from_secs(60),
            limits: Limits::default(),
        }
    }
}

/// How much a connection keeps in memory, in bytes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// The longest line that is read as a message; a longer one is passed over. Default: 64 MiB.
    pub line: usize,
    /// What may wait to be written before calls are refused with `Backpressure`. Default: 16 MiB. One message larger
    /// than that is taken when nothing else waits.
    pub outbox: usize,
    /// What a session may have said without being read; then the agent has to wait. Default: 8 MiB.
    pub session_queue: usize,
    /// How much of the end of stderr is kept. Default: 64 KiB.
    pub stderr: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 64 << 20, outbox: 16 << 20, session_queue: 8 << 20, stderr: 64 << 10 }
    }
}
