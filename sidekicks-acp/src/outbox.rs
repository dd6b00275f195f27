//! What waits to be written to the agent.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::raw::RawJson;
use crate::schema::SessionId;

/// An ordered queue of whole lines with one writer, bounded in bytes.
#[derive(Debug)]
pub(crate) struct Outbox {
    limit: usize,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Waiting>,
    bytes: usize,
    closed: bool,
}

#[derive(Debug)]
struct Waiting {
    line: Vec<u8>,
    kind: Kind,
}

/// What a line is, for those who may take it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call(u64),
    /// The cancel of this prompt.
    Cancel(u64),
    Other,
}

/// Why a line was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    Closed,
}

impl Outbox {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, state: Mutex::default(), changed: Notify::new() }
    }

    /// Queues a call; until the writer has it, [`take_back`](Self::take_back) finds it.
    pub(crate) fn call(&self, request: Request) -> Result<(), Refused> {
        self.push(request.line, Kind::Call(request.call), Entry::IfRoom)
    }

    /// Queues the cancel of a prompt before everything else, whatever the outbox holds: it must not wait its turn.
    pub(crate) fn cancel(&self, prompt: u64, session: &SessionId) {
        let message = notification("session/cancel", &json!({ "sessionId": session }));
        let _ = self.push(message, Kind::Cancel(prompt), Entry::First);
    }

    /// Takes the cancel of a prompt that is over out again: some agents would cancel their next one.
    pub(crate) fn take_back_cancel(&self, prompt: u64) {
        self.take(Kind::Cancel(prompt));
    }

    /// Takes a call out again, or tells an agent that has it that nobody waits any more; gives whether the agent has it.
    pub(crate) fn withdraw(&self, call: u64) -> bool {
        let written = !self.take_back(call);
        if written {
            // Where there is no room the agent reads nothing, and would not see it either.
            let message = notification("$/cancel_request", &json!({ "requestId": call }));
            let _ = self.push(message, Kind::Other, Entry::IfRoom);
        }
        written
    }

    /// Queues the answer to a question, also where calls are refused: somebody was told that it was given. Only an agent
    /// that reads none of its answers gets no more of them.
    pub(crate) fn answer(&self, request: &RawJson, result: &Value) {
        if self.push(reply(request, Ok(result)), Kind::Other, Entry::Answer) == Err(Refused::Full) {
            tracing::warn!(request = request.as_str(), "the agent does not read its input; an answer was dropped");
        }
    }

    /// Queues a refusal that nobody asked for. An agent that reads nothing gets none once the outbox is full: its
    /// requests must not grow our memory.
    pub(crate) fn refuse(&self, request: &RawJson, error: &Value) {
        self.unasked(request, Err(error));
    }

    /// Queues a result that nobody was asked for, by the same rule.
    pub(crate) fn decline(&self, request: &RawJson, result: &Value) {
        self.unasked(request, Ok(result));
    }

    fn unasked(&self, request: &RawJson, outcome: Result<&Value, &Value>) {
        if self.push(reply(request, outcome), Kind::Other, Entry::IfRoom) == Err(Refused::Full) {
            tracing::warn!(request = request.as_str(), "the agent does not read its input; a reply was dropped");
        }
    }

    /// Takes a call out again; `false` if the writer has it already.
    pub(crate) fn take_back(&self, call: u64) -> bool {
        self.take(Kind::Call(call))
    }

    fn take(&self, kind: Kind) -> bool {
        let mut state = self.lock();
        let at = state.lines.iter().position(|waiting| waiting.kind == kind);
        let taken = at.and_then(|at| state.lines.remove(at));
        state.bytes -= taken.as_ref().map_or(0, |waiting| waiting.line.len());
        taken.is_some()
    }

    /// Nothing is taken or handed out any more. Gives the calls that the writer did not get.
    pub(crate) fn close(&self) -> HashSet<u64> {
        let mut state = self.lock();
        state.closed = true;
        let unwritten = state.lines.drain(..).filter_map(|waiting| match waiting.kind {
            Kind::Call(call) => Some(call),
            _ => None,
        });
        let unwritten = unwritten.collect();
        state.bytes = 0;
        drop(state);
        self.changed.notify_waiters();
        self.changed.notify_one();
        unwritten
    }

    /// The next line for the writer; `None` once closed. Cancel-safe.
    pub(crate) async fn next(&self) -> Option<Vec<u8>> {
        loop {
            {
                let mut state = self.lock();
                if state.closed {
                    return None;
                }
                if let Some(entry) = state.lines.pop_front() {
                    state.bytes -= entry.line.len();
                    return Some(entry.line);
                }
            }
            self.changed.notified().await;
        }
    }

    fn push(&self, line: Vec<u8>, kind: Kind, entry: Entry) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        let limit = match entry {
            Entry::First => usize::MAX,
            Entry::Answer => self.limit.saturating_mul(2),
            Entry::IfRoom => self.limit,
        };
        // A message larger than the whole outbox is taken when it is alone.
        if state.bytes > 0 && state.bytes + line.len() > limit {
            return Err(Refused::Full);
        }
        state.bytes += line.len();
        match entry {
            Entry::First => state.lines.push_front(Waiting { line, kind }),
            Entry::Answer | Entry::IfRoom => state.lines.push_back(Waiting { line, kind }),
        }
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call, written out; that takes long where it holds images, so it is done before anything is locked.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) call: u64,
    line: Vec<u8>,
}

impl Request {
    /// Call number `call`.
    ///
    /// # Errors
    /// Where the parameters hold what JSON cannot, such as a path that is not Unicode.
    pub(crate) fn new(call: u64, method: &str, params: Option<&impl Serialize>) -> serde_json::Result<Self> {
        #[derive(Serialize)]
        struct Message<'a, P> {
            jsonrpc: &'static str,
            id: u64,
            method: &'a str,
            /// JSON-RPC 2.0 (4.2) has a list or an object here, or nothing.
            #[serde(skip_serializing_if = "Option::is_none")]
            params: Option<&'a P>,
        }
        let mut line = serde_json::to_vec(&Message { jsonrpc: "2.0", id: call, method, params })?;
        line.push(b'\n');
        Ok(Self { call, line })
    }
}

/// How a line gets in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// Before everything else; there is one for each prompt at most.
    First,
    /// Up to twice the limit, so that calls alone leave no answer out.
    Answer,
    IfRoom,
}

fn notification(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// A reply, with the request's id exactly as the agent wrote it.
fn reply(request: &RawJson, outcome: Result<&Value, &Value>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Reply<'a> {
        jsonrpc: &'static str,
        id: &'a RawJson,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a Value>,
    }
    let mut line = line(&Reply { jsonrpc: "2.0", id: request, result: outcome.ok(), error: outcome.err() });
    // An agent that writes over several lines may have some in its id, between the tokens of a list: a space is as good.
    let end = line.len() - 1;
    line[..end].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
    line
}

fn line(message: &impl Serialize) -> Vec<u8> {
    // Our own messages are maps with string keys, which serde_json can always write.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(call: u64, params: Value) -> Request {
        Request::new(call, "a", Some(&params)).unwrap()
    }

    async fn drained(outbox: &Outbox) -> Vec<String> {
        let mut lines = Vec::new();
        while outbox.lock().bytes > 0 {
            lines.push(String::from_utf8(outbox.next().await.unwrap()).unwrap().trim_end().to_owned());
        }
        lines
    }

    #[tokio::test]
    async fn a_cancel_passes_everything_and_an_unwritten_call_can_be_taken_back() {
        let outbox = Outbox::new(1000);
        outbox.call(request(1, json!({}))).unwrap();
        outbox.call(request(2, json!({}))).unwrap();
        outbox.cancel(1, &SessionId::new("s"));
        assert!(outbox.take_back(1));
        assert!(!outbox.take_back(1));
        let lines = drained(&outbox).await;
        assert_eq!(lines.len(), 2);
        assert!(lines[0].contains("session/cancel"));
        outbox.cancel(1, &SessionId::new("s"));
        outbox.cancel(2, &SessionId::new("s"));
        outbox.take_back_cancel(1);
        assert_eq!(drained(&outbox).await.len(), 1, "one prompt is over");
        assert_eq!(lines[1], r#"{"jsonrpc":"2.0","id":2,"method":"a","params":{}}"#);
        outbox.call(request(3, json!({}))).unwrap();
        assert_eq!(outbox.close(), HashSet::from([3]), "the writer has the other one");
    }

    #[tokio::test]
    async fn it_is_bounded_but_takes_one_line_of_any_size() {
        let outbox = Outbox::new(100);
        let large = "x".repeat(500);
        outbox.call(request(1, json!([large]))).unwrap();
        assert_eq!(outbox.call(request(2, json!([]))), Err(Refused::Full));
        outbox.cancel(1, &SessionId::new("s"));
        outbox.refuse(&RawJson::default(), &json!({}));
        outbox.answer(&RawJson::default(), &json!({}));
        assert_eq!(drained(&outbox).await.len(), 2, "the agent reads nothing; a cancel always gets in");
        outbox.call(request(2, json!(["x".repeat(50)]))).unwrap();
        for _ in 0..1_000 {
            outbox.answer(&RawJson::default(), &json!({}));
        }
        assert_eq!(drained(&outbox).await.len(), 3, "an answer gets in where a call does not, but not without end");
        outbox.call(request(3, json!([]))).unwrap();
        outbox.close();
        assert_eq!(outbox.call(request(4, json!([]))), Err(Refused::Closed));
        assert_eq!(outbox.next().await, None);
    }

    #[tokio::test]
    async fn ids_are_echoed_as_they_were_written() {
        let outbox = Outbox::new(1000);
        for id in ["0", "null", r#""5b-uuid""#, "12345678901234567890.50"] {
            let id: RawJson = serde_json::from_str(id).unwrap();
            outbox.answer(&id, &json!({}));
        }
        let lines = drained(&outbox).await;
        let ids: Vec<&str> =
            lines.iter().map(|l| l.split("\"id\":").nth(1).unwrap().split(",\"result\"").next().unwrap()).collect();
        assert_eq!(ids, ["0", "null", r#""5b-uuid""#, "12345678901234567890.50"]);
    }
}
