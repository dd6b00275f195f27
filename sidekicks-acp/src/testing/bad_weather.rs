//! What an agent should not do, and does.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use super::Peer;
use super::peer::parsed;

/// How a message is written that is not simply one line of JSON. Agents do all of these, and each must be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// After a byte order mark.
    ByteOrderMark,
    /// Between escape sequences: after a progress line that was wiped away, and before colours are reset.
    Escapes,
    /// After an escape sequence that sets the title of the terminal.
    Title,
    /// Between carriage returns.
    CarriageReturns,
    /// Between spaces and tabs.
    Spaces,
    /// With CRLF at the end of its line.
    Crlf,
    /// Pretty-printed over many lines.
    ManyLines,
    /// The only one of a batch.
    Batch,
    /// Each byte by itself, as a slow pipe may deliver it.
    Bytes,
    /// Without `jsonrpc`.
    NoVersion,
}

impl Form {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::ByteOrderMark,
        Self::Escapes,
        Self::Title,
        Self::CarriageReturns,
        Self::Spaces,
        Self::Crlf,
        Self::ManyLines,
        Self::Batch,
        Self::Bytes,
        Self::NoVersion,
    ];

    fn written(self, message: &Value) -> String {
        match self {
            Self::ByteOrderMark => format!("\u{FEFF}{message}\n"),
            Self::Escapes => format!("\x1b[2K\x1b[1G\x1b[32m{message}\x1b[0m\x1b[K\n"),
            Self::Title => format!("\x1b]0;agent\x07\x1b]2;agent\x1b\\{message}\n"),
            Self::CarriageReturns => format!("\r{message}\r\r\n"),
            Self::Spaces => format!(" \t {message} \t\n"),
            Self::Crlf => format!("{message}\r\n"),
            Self::ManyLines => format!("{message:#}\n"),
            Self::Batch => format!("[{message}]\n"),
            Self::Bytes => format!("{message}\n"),
            Self::NoVersion => {
                let mut message = message.clone();
                if let Some(fields) = message.as_object_mut() {
                    fields.remove("jsonrpc");
                }
                format!("{message}\n")
            }
        }
    }
}

/// Bad weather: what an agent should not do, and does.
///
/// Some of it needs no step of its own. An agent that never reads awaits `std::future::pending`; one that crashes
/// returns, after [`send_half`](Self::send_half) in the middle of a line; a reply to no call is sent by
/// [`send`](Self::send).
impl Peer {
    /// Writes a line that is no message: a banner, a line of a log.
    pub async fn noise(&mut self, line: &str) {
        self.write(format!("{line}\n")).await;
    }

    /// Writes a message in this form.
    pub async fn send_as(&mut self, form: Form, message: &Value) {
        let written = form.written(message);
        match form {
            Form::Bytes => self.write_in_pieces(written, 1).await,
            _ => self.write(written).await,
        }
    }

    /// Writes all these messages on one line, with nothing between them.
    pub async fn send_on_one_line(&mut self, messages: &[Value]) {
        let line: String = messages.iter().map(Value::to_string).collect();
        self.noise(&line).await;
    }

    /// Writes these messages as a batch, which ACP does not have.
    pub async fn send_batch(&mut self, messages: &[Value]) {
        self.send(messages.into()).await;
    }

    /// Writes bytes in pieces of this size, and lets the client read between them.
    ///
    /// # Panics
    /// For pieces of nothing.
    pub async fn write_in_pieces(&mut self, bytes: impl AsRef<[u8]>, size: usize) {
        for piece in bytes.as_ref().chunks(size) {
            self.write(piece).await;
            tokio::task::yield_now().await;
        }
    }

    /// Writes the first half of a message and no line end. What is sent after it belongs to the same line.
    pub async fn send_half(&mut self, message: &Value) {
        let line = message.to_string();
        self.write(&line.as_bytes()[..line.len() / 2]).await;
    }

    /// Sends a fragment of the answer whose text is these bytes, as they are: broken UTF-8, or half of an escaped
    /// character.
    pub async fn say_bytes(&mut self, session: &str, bytes: impl AsRef<[u8]>) {
        let id = json!(session);
        let before = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":{id},"update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":""#
        );
        self.write([before.as_bytes(), bytes.as_ref(), b"\"}}}}\n"].concat()).await;
    }

    /// Writes a line of `length` bytes that begins with `head`; more than the client's limit, it is read by nobody.
    /// It is never whole in memory.
    pub async fn write_long(&mut self, head: &str, length: usize) {
        self.write(head).await;
        let filling = vec![b'x'; 64 * 1024];
        let mut missing = length.saturating_sub(head.len());
        while missing > 0 {
            let next = missing.min(filling.len());
            self.write(&filling[..next]).await;
            missing -= next;
        }
        self.write("\n").await;
    }

    /// Replies to `request` on a line of `length` bytes.
    pub async fn reply_long(&mut self, request: &Value, length: usize) {
        self.write_long(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":""#, request["id"]), length).await;
    }

    /// Sends a request on a line of `length` bytes.
    pub async fn request_long(&mut self, id: &Value, method: &str, length: usize) {
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"content":""#);
        self.write_long(&head, length).await;
    }

    /// Replies with the id as a string: `"3"` for `3`.
    pub async fn reply_to_text_id(&mut self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"].to_string(), "result": result })).await;
    }

    /// Replies twice.
    pub async fn reply_twice(&mut self, request: &Value, result: Value) {
        self.reply(request, result.clone()).await;
        self.reply(request, result).await;
    }

    /// Sends `count` fragments of the answer, each of `length` bytes of text, as fast as the client takes them.
    pub async fn say_often(&mut self, session: &str, count: usize, length: usize) {
        let text = "x".repeat(length);
        for _ in 0..count {
            self.say(session, &text).await;
        }
    }

    /// Writes `message` over and over, as fast as it is taken, until the client says something; gives that.
    pub async fn flood(&mut self, message: &Value) -> Option<Value> {
        let line = format!("{message}\n").into_bytes();
        let mut written = 0;
        let Self { reader, writer, line: heard } = self;
        let write = async {
            // A single write is cancel-safe, so it is known how much of the last line is out.
            while let Ok(length @ 1..) = writer.write(&line[written..]).await {
                written = (written + length) % line.len();
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            read = reader.read_until(b'\n', heard) => drop(read), // What was read is heard below, the end too.
            () = write => unreachable!("it is pending for ever"),
        }
        if written > 0 {
            self.write(&line[written..]).await;
        }
        self.heard().map(|line| parsed(&line))
    }
}
