//! A scripted agent, for tests of programs that embed this crate (feature `testing`).
//!
//! The script is an async function that holds the agent's end of an in-memory connection, and so can do everything an
//! agent does, and everything it should not. An embedder's first test:
//!
//! ```
//! use sidekicks_acp::testing::{self, Peer};
//! use sidekicks_acp::{Borrow, Connector, OpenSession, SessionEvent};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = testing::agent(async |mut peer: Peer| {
//!     peer.shake_hands().await;
//!     peer.open("s1").await;
//! });
//! let lease = agent.borrow(Borrow::by("a test")).await?;
//! let mut events = lease.connection().open(OpenSession::new("/"))?;
//! assert!(matches!(events.next().await, Some(SessionEvent::Opened(Ok(_)))));
//! # Ok(())
//! # }
//! ```

use std::future::Future;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split};

use crate::{ConnectOptions, Connection, SingleAgent, StartError};

/// An agent whose every start runs `script`. When the script returns, the connection is closed, as in a crash.
pub fn agent<F, S>(script: F) -> SingleAgent
where
    F: Fn(Peer) -> S + Send + Sync + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let script = Arc::new(script);
    SingleAgent::connecting(move || {
        let script = Arc::clone(&script);
        async move { connect(move |peer| script(peer), &ConnectOptions::default()).await }
    })
}

/// Connects to `script` once.
///
/// # Errors
/// When the script does not shake hands.
pub async fn connect<F, S>(script: F, options: &ConnectOptions) -> Result<Connection, StartError>
where
    F: FnOnce(Peer) -> S,
    S: Future<Output = ()> + Send + 'static,
{
    let (ours, theirs) = duplex(64 * 1024);
    tokio::spawn(script(Peer::over(theirs)));
    let (reader, writer) = split(ours);
    Connection::over(reader, writer, options).await
}

/// The agent's end of a connection: what it hears and what it writes, down to the byte.
///
/// Its methods panic when the client does something else than the script expects, with what it did.
pub struct Peer {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Peer {
    fn over(stream: DuplexStream) -> Self {
        let (reader, writer) = split(stream);
        Self { reader: BufReader::new(reader), writer }
    }

    /// The next message of the client; `None` when it has closed the connection.
    pub async fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(parsed(&line)),
        }
    }

    /// The next message, which must be of this method.
    pub async fn expect(&mut self, method: &str) -> Value {
        let message = self.hear().await.unwrap_or_else(|| panic!("the client left; expected {method}"));
        assert_eq!(message["method"], method, "the client sent {message}");
        message
    }

    /// The next message, which must be the reply to the agent's request `id`: its result.
    pub async fn answer(&mut self, id: &Value) -> Value {
        let message = self.hear().await.unwrap_or_else(|| panic!("the client left; expected a reply to {id}"));
        assert_eq!(&message["id"], id, "the client sent {message}");
        message.get("result").unwrap_or_else(|| panic!("the client refused: {message}")).clone()
    }

    /// Writes bytes as they are. Does nothing when the client is gone.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.writer.write_all(bytes.as_ref()).await;
    }

    /// Writes one message on its line.
    pub async fn send(&mut self, message: Value) {
        self.write(format!("{message}\n")).await;
    }

    /// Writes `message` over and over, as fast as it is taken, until the client says something; gives that.
    pub async fn flood(&mut self, message: &Value) -> Option<Value> {
        let line = format!("{message}\n").into_bytes();
        let mut written = 0;
        let mut heard = String::new();
        let Self { reader, writer } = self;
        let write = async {
            // A single write is cancel-safe, so it is known how much of the last line is out.
            while let Ok(length @ 1..) = writer.write(&line[written..]).await {
                written = (written + length) % line.len();
            }
            std::future::pending::<()>().await;
        };
        let read = tokio::select! {
            read = reader.read_line(&mut heard) => read,
            () = write => unreachable!("it is pending for ever"),
        };
        if written > 0 {
            self.write(&line[written..]).await;
        }
        read.ok().filter(|&length| length > 0).map(|_| parsed(&heard))
    }

    /// Replies to `request` with a result.
    pub async fn reply(&mut self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    /// Replies to `request` with an error.
    pub async fn refuse(&mut self, request: &Value, error: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    }

    /// Sends a `session/update`.
    pub async fn update(&mut self, session: &str, update: Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.send(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
    }

    /// Sends a fragment of the answer.
    pub async fn say(&mut self, session: &str, text: &str) {
        let content = json!({ "type": "text", "text": text });
        self.update(session, json!({ "sessionUpdate": "agent_message_chunk", "content": content })).await;
    }

    /// Asks for permission with request id `id`, and does not wait for the answer. `options` are pairs of id and kind.
    pub async fn ask(&mut self, id: &Value, session: &str, tool_call: Value, options: &[(&str, &str)]) {
        let options: Vec<_> =
            options.iter().map(|(id, kind)| json!({ "optionId": id, "name": id, "kind": kind })).collect();
        let params = json!({ "sessionId": session, "toolCall": tool_call, "options": options });
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params }))
            .await;
    }

    /// Asks the user for something with request id `id`, and does not wait for the answer. `params` are those of
    /// `elicitation/create`.
    pub async fn elicit(&mut self, id: &Value, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params })).await;
    }

    /// Expects `initialize` and answers it, with every kind of prompt content taken.
    pub async fn shake_hands(&mut self) {
        let content = json!({ "image": true, "audio": true, "embeddedContext": true });
        self.shake_hands_with(json!({ "promptCapabilities": content })).await;
    }

    /// Expects `initialize` and answers it with these `agentCapabilities`.
    pub async fn shake_hands_with(&mut self, capabilities: Value) {
        let request = self.expect("initialize").await;
        let info = json!({ "name": "scripted", "version": "1" });
        let result =
            json!({ "protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": info, "authMethods": [] });
        self.reply(&request, result).await;
    }

    /// Expects `session/new` and answers it with this id.
    pub async fn open(&mut self, session: &str) {
        let request = self.expect("session/new").await;
        self.reply(&request, json!({ "sessionId": session })).await;
    }

    /// Expects `session/prompt`.
    pub async fn prompted(&mut self) -> Value {
        self.expect("session/prompt").await
    }

    /// Ends the turn of the prompt `request`.
    pub async fn end_turn(&mut self, request: &Value, stop_reason: &str) {
        self.reply(request, json!({ "stopReason": stop_reason })).await;
    }

    /// Waits until the client has closed the connection; what it still says is passed over.
    pub async fn farewell(&mut self) {
        while self.hear().await.is_some() {}
    }
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).expect("the client writes one JSON message a line")
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").finish_non_exhaustive()
    }
}
