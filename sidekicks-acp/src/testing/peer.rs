//! The agent's end of a connection.

use std::fmt;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// The agent's end of a connection: what it hears and what it writes, down to the byte.
///
/// Its methods panic when the client does something else than the script expects, with what it did.
pub struct Peer {
    pub(super) reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    pub(super) writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// What was read of a line so far.
    pub(super) line: Vec<u8>,
}

/// Bytes and lines.
impl Peer {
    /// `writer` closes the stream when it is shut down.
    pub(super) fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let reader: Box<dyn AsyncRead + Send + Unpin> = Box::new(reader);
        Self { reader: BufReader::new(reader), writer: Box::new(writer), line: Vec::new() }
    }

    /// The next message of the client; `None` when it has closed the connection. Cancel-safe.
    pub async fn hear(&mut self) -> Option<Value> {
        self.hear_line().await.map(|line| parsed(&line))
    }

    /// The next message as it stands on its line, where numbers must not be read: an id may be larger than they hold.
    /// Cancel-safe.
    pub async fn hear_line(&mut self) -> Option<String> {
        let _ = self.reader.read_until(b'\n', &mut self.line).await; // Without a whole line it is over.
        self.heard()
    }

    /// The line that was read, if it is whole.
    pub(super) fn heard(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let whole = line.strip_suffix(b"\n")?;
        Some(str::from_utf8(whole).expect("the client writes UTF-8").to_owned())
    }

    /// Writes bytes as they are. Does nothing when the client is gone.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        if self.writer.write_all(bytes.as_ref()).await.is_ok() {
            let _ = self.writer.flush().await;
        }
    }

    /// Writes one message on its line.
    pub async fn send(&mut self, message: Value) {
        self.write(format!("{message}\n")).await;
    }

    /// Closes the output and goes on: nothing can be written any more, the client can still be heard.
    ///
    /// When the script returns, both directions are closed.
    pub async fn close_output(&mut self) {
        let _ = self.writer.shutdown().await;
    }
}

pub(super) fn parsed(line: &str) -> Value {
    serde_json::from_str(line).expect("the client writes one JSON message a line")
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").finish_non_exhaustive()
    }
}
