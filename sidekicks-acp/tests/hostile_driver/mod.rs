//! One connection with an agent that writes anything at all, and the laws that hold whatever it is.
//!
//! Shared by the property tests and the fuzz target, which knows this file by its path.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use sidekicks_acp::schema::{ContentBlock, SessionId, SessionUpdate, TextContent};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{AgentConnection, ConnectOptions, Connection, OpenSession, SessionEvent, SessionEvents, Traffic};

/// The longest line that is read.
pub(crate) const LINE: usize = 8 * 1024;
/// What may wait to be written.
pub(crate) const OUTBOX: usize = 16 * 1024;
/// What a session may have said without being read.
pub(crate) const QUEUE: usize = 32 * 1024;

/// What the agent says after all else, on a line of its own.
const STILL_HERE: &str = "still here";

/// More than all timeouts together. The time is paused: it passes at once where nothing can happen any more.
const PATIENCE: Duration = Duration::from_secs(10_000);

/// What came of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The events of the session before "still here", as they are shown by `Debug`.
    pub(crate) events: Vec<String>,
    /// The end of the call that was pending meanwhile.
    pub(crate) call: Result<Value, &'static str>,
    pub(crate) traffic: Traffic,
}

/// Lets an agent write `bytes` in pieces of these sizes, taken in turn, while a prompt, a call and an opening are
/// pending, and checks what must hold for all bytes. `ID0` in `bytes` is the id of the prompt, `ID1` of the call, and
/// `ID2` of the opening.
///
/// # Panics
/// Where a law is broken.
pub(crate) fn survive(bytes: &[u8], sizes: &[usize]) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(within(outlive(bytes.to_vec(), sizes.to_vec())))
}

async fn outlive(bytes: Vec<u8>, sizes: Vec<usize>) -> Outcome {
    let written = bytes.len();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        // In the order in which they are asked for below, so the ids are the same each time.
        let prompt = peer.prompted().await;
        let call = peer.expect("vendor/call").await;
        let open = peer.expect("session/new").await;
        let bytes = with_ids(bytes, &[&prompt["id"], &call["id"], &open["id"]]);
        let mut rest = &bytes[..];
        for size in sizes.iter().map(|size| (*size).max(1)).cycle().take(MAX_PIECES) {
            let piece = rest.split_off(..size.min(rest.len())).unwrap_or_default();
            peer.write(piece).await;
            tokio::task::yield_now().await;
        }
        peer.write(rest).await;
        // Whatever line was begun is over; this one is whole.
        peer.write("\n").await;
        peer.say("s1", STILL_HERE).await;
        // It leaves when the call has ended, by a timeout at the latest.
        let last = until_leave(&mut peer).await;
        if let Some(last) = last {
            peer.reply(&last, Value::Null).await;
        }
    })
    .await;
    let mut events = opened(&connection).await;
    let hello = vec![ContentBlock::Text(TextContent::new("go"))];
    connection.prompt(&SessionId::new("s1"), hello).unwrap();
    let call = tokio::spawn({
        let connection = connection.clone();
        async move { connection.call_raw("vendor/call", Value::Null).await.map_err(|error| error.code()) }
    });
    tokio::task::yield_now().await; // The call is made before the opening.
    let mut second = connection.open(OpenSession::new("/")).unwrap();

    // A valid message after the garbage, on its own line, is delivered.
    // The questions are kept: whether one that was dropped can still be withdrawn would depend on the cutting.
    let mut seen = Vec::new();
    loop {
        let event = within(events.next()).await.expect("the connection goes on");
        if is_still_here(&event) {
            break;
        }
        seen.push(event);
    }
    // Every call but a prompt ends: by its reply, an error, or a timeout.
    let call = within(call).await.unwrap();
    let opening = within(second.next()).await;
    assert!(matches!(opening, Some(SessionEvent::Opened(_))), "{opening:?}");
    assert_eq!(connection.end(), None, "nothing that is written ends a connection");
    let traffic = connection.traffic();
    let _ = connection.call_raw("test/leave", Value::Null).await;
    // The end of the connection ends everything else, once.
    let mut last = Vec::new();
    while let Some(event) = within(events.next()).await {
        last.push(event);
    }
    let turns = seen.iter().chain(&last).filter(|event| matches!(event, SessionEvent::TurnEnded { .. })).count();
    assert_eq!(turns, 1, "each prompt has exactly one end");
    assert!(matches!(last.pop(), Some(SessionEvent::Ended(_))), "the end of the connection comes last");
    while within(second.next()).await.is_some() {}

    assert!(seen.len() <= written, "no event comes from nothing");
    assert!(traffic.noise <= written as u64 + 1, "our own line end may make a blank line: {traffic:?}");
    bounded(&traffic);
    Outcome { events: seen.iter().map(|event| format!("{event:?}")).collect(), call, traffic }
}

/// At most so many pieces; what is left is written at once.
const MAX_PIECES: usize = 200;

fn bounded(traffic: &Traffic) {
    // 200 bytes that are no UTF-8 are at most 200 replacement characters of three bytes.
    assert!(traffic.noise_lines.len() <= 8 && traffic.noise_lines.iter().all(|line| line.len() <= 600), "{traffic:?}");
}

/// Hears the client out. Everything it says is one JSON message a line, also with an id that the agent made up.
async fn until_leave(peer: &mut Peer) -> Option<Value> {
    while let Some(line) = peer.hear_line().await {
        if let Err(error) = serde_json::from_str::<&RawValue>(&line) {
            panic!("the client wrote {line:?}: {error}");
        }
        // An id may be JSON that cannot be a tree: deeply nested, or with half a character.
        match serde_json::from_str::<Value>(&line) {
            Ok(message) if message["method"] == "test/leave" => return Some(message),
            _ => {}
        }
    }
    None
}

/// Lets an agent write `bytes` again and again until they are `total`, while nobody reads what session `s1` says: checks
/// that what is held of it then is bounded, and gives how much that is, in bytes of raw JSON.
///
/// # Panics
/// Where it is more.
pub(crate) fn flood(bytes: &[u8], total: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let bytes = [bytes, b"\n"].concat();
    runtime.block_on(within(async move {
        let connection = connect(async move |mut peer: Peer| {
            peer.shake_hands().await;
            peer.open("s1").await;
            for _ in 0..=total / bytes.len() {
                peer.write(&bytes).await;
            }
            peer.say("s1", STILL_HERE).await;
            peer.farewell().await;
        })
        .await;
        let mut events = opened(&connection).await;
        // The time goes on only when nobody can do anything any more.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (mut count, mut held) = (0, 0);
        let mut done = false;
        // Nobody else runs meanwhile, so this is what was there.
        while let Some(event) = at_once(&mut events) {
            done |= is_still_here(&event);
            count += 1;
            held += match event {
                SessionEvent::Update(update) => update.raw.as_str().len(),
                SessionEvent::Permission(request) => request.raw.as_str().len(),
                _ => 0,
            };
        }
        // A read of 64 KiB may come on top of the limit, which counts each byte twice and the event besides.
        assert!(held <= QUEUE / 2 + 64 * 1024 && count <= QUEUE / 64 + 64 * 1024 / 64, "{count} events, {held} bytes");
        while !done {
            done = is_still_here(&within(events.next()).await.expect("the connection goes on"));
        }
        bounded(&connection.traffic());
        held
    }))
}

/// The next event if it is there.
fn at_once(events: &mut SessionEvents) -> Option<SessionEvent> {
    let mut next = pin!(tokio::task::unconstrained(events.next()));
    match next.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(event) => event,
        Poll::Pending => None,
    }
}

async fn connect<S: Future<Output = ()> + Send + 'static>(script: impl FnOnce(Peer) -> S) -> Connection {
    let mut options = ConnectOptions::default();
    options.limits.line = LINE;
    options.limits.outbox = OUTBOX;
    options.limits.session_queue = QUEUE;
    testing::connect(script, &options).await.unwrap()
}

async fn opened(connection: &Connection) -> SessionEvents {
    let mut events = connection.open(OpenSession::new("/")).unwrap();
    let first = within(events.next()).await;
    assert!(matches!(first, Some(SessionEvent::Opened(Ok(_)))), "{first:?}");
    events
}

async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing hangs")
}

fn is_still_here(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::Update(update) if matches!(&update.typed, Ok(SessionUpdate::AgentMessageChunk(chunk))
        if matches!(&chunk.content, ContentBlock::Text(text) if text.text == STILL_HERE)))
}

/// `bytes` with the number of each `ID` replaced by that id.
fn with_ids(bytes: Vec<u8>, ids: &[&Value]) -> Vec<u8> {
    let mut filled = Vec::with_capacity(bytes.len());
    let mut rest = &bytes[..];
    while let Some((first, after)) = rest.split_first() {
        let id = rest
            .strip_prefix(b"ID")
            .and_then(|number| number.first())
            .and_then(|n| ids.get(usize::from(n.wrapping_sub(b'0'))));
        match id {
            Some(id) => {
                filled.extend_from_slice(id.to_string().as_bytes());
                rest = &rest[3..];
            }
            None => {
                filled.push(*first);
                rest = after;
            }
        }
    }
    filled
}
