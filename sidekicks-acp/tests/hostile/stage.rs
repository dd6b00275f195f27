//! Where a hostile agent meets a connection.

pub(crate) use crate::common::{next, opened, s1, text};
use serde_json::Value;
use sidekicks_acp::schema::{ContentBlock, SessionUpdate};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{
    AgentConnection, CallError, ConnectOptions, Connection, PermissionRequest, SessionEvent, SessionEvents, Traffic,
};
use tokio::sync::mpsc;

/// The longest line.
pub(crate) const LINE: usize = 16 * 1024;

/// What an agent writes in a turn, and all that comes of it.
pub(crate) struct Entry {
    pub(crate) row: &'static str,
    /// `ID` stands for the id of the prompt.
    pub(crate) writes: Vec<u8>,
    pub(crate) events: Vec<&'static str>,
    pub(crate) counted: &'static str,
    pub(crate) answers: Vec<&'static str>,
}

/// Something that is passed over: the turn goes on as if it had not been there.
pub(crate) fn skipped(row: &'static str, writes: impl AsRef<[u8]>, counted: &'static str) -> Entry {
    Entry { row, writes: writes.as_ref().to_vec(), events: vec!["alive", "end_turn"], counted, answers: Vec::new() }
}

/// Something that is delivered as these events, before the turn goes on; nothing is counted.
pub(crate) fn delivered(row: &'static str, writes: impl AsRef<[u8]>, events: &[&'static str]) -> Entry {
    let events = [events, &["alive", "end_turn"]].concat();
    Entry { events, ..skipped(row, writes, "") }
}

/// Something that is answered with this line, and not delivered.
pub(crate) fn answered(row: &'static str, writes: impl AsRef<[u8]>, answer: &'static str) -> Entry {
    Entry { answers: vec![answer], ..skipped(row, writes, "unknown 1") }
}

impl Entry {
    /// The same, with this counted.
    pub(crate) fn counting(self, counted: &'static str) -> Self {
        Self { counted, ..self }
    }
}

/// Plays all entries and compares.
pub(crate) async fn play(entries: Vec<Entry>) {
    for Entry { row, writes, events, counted, answers } in entries {
        let shown = String::from_utf8_lossy(&writes[..writes.len().min(300)]).into_owned();
        let (seen, traffic, heard) = turn(writes).await;
        assert_eq!(seen, events, "events of \"{row}\": {shown}");
        assert_eq!(count(&traffic), counted, "counted of \"{row}\": {shown}");
        assert_eq!(heard, answers, "answers to \"{row}\": {shown}");
    }
}

/// A turn in which the agent writes these bytes: the events up to the end of the connection, which we close when all is
/// said, what was counted, and what the agent heard after the prompt.
pub(crate) async fn turn(writes: Vec<u8>) -> (Vec<String>, Traffic, Vec<String>) {
    let (told, mut heard) = mpsc::unbounded_channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.write(with_id(&writes, &prompt["id"])).await;
        peer.say("s1", "alive").await;
        peer.end_turn(&prompt, "end_turn").await;
        while let Some(line) = peer.hear_line().await {
            // Its reply shows that everything before it was read.
            match serde_json::from_str::<Value>(&line) {
                Ok(last) if last["method"] == "test/last" => peer.reply(&last, Value::Null).await,
                _ => drop(told.send(line)),
            }
        }
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let mut words = Vec::new();
    while !words.last().is_some_and(|word: &String| word.starts_with("alive")) {
        words.push(take(next(&mut events).await.expect("alive is said")));
    }
    let last = connection.call_raw("test/last", Value::Null).await;
    assert_eq!(last, Ok(Value::Null));
    let traffic = connection.traffic();
    connection.close();
    words.extend(rest(&mut events).await);
    assert_eq!(words.pop().as_deref(), Some("ended: closed"));
    let mut answers = Vec::new();
    while let Some(line) = heard.recv().await {
        answers.push(line);
    }
    (words, traffic, answers)
}

pub(crate) fn options() -> ConnectOptions {
    let mut options = ConnectOptions::default();
    options.limits.line = LINE;
    options
}

pub(crate) async fn connect<S: Future<Output = ()> + Send + 'static>(script: impl FnOnce(Peer) -> S) -> Connection {
    testing::connect(script, &options()).await.expect("the script shakes hands")
}

/// All events up to the end of the connection or of the queue.
pub(crate) async fn rest(events: &mut SessionEvents) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(event) = next(events).await {
        words.push(take(event));
    }
    words
}

/// An event in a word or two; a question is answered with its first option.
pub(crate) fn take(event: SessionEvent) -> String {
    match event {
        SessionEvent::Opened(Ok(session)) => format!("opened {}", session.id),
        SessionEvent::Opened(Err(error)) => format!("not opened: {}", failure(&error)),
        SessionEvent::Update(update) => {
            let late = if update.late { " (late)" } else { "" };
            let word = match &update.typed {
                Ok(SessionUpdate::AgentMessageChunk(chunk)) => match &chunk.content {
                    ContentBlock::Text(text) => text.text.clone(),
                    other => format!("chunk {}", serde_json::to_string(other).unwrap()),
                },
                // What the schema made of it.
                Ok(typed) => serde_json::to_string(typed).unwrap(),
                Err(unrecognised) => {
                    assert!(!unrecognised.why.is_empty());
                    format!("other {}: {}", unrecognised.word, update.raw)
                }
            };
            word + late
        }
        SessionEvent::Permission(request) => asked(&request),
        SessionEvent::Withdrawn(_) => "withdrawn".to_owned(),
        SessionEvent::TurnEnded { end: Ok(end), .. } => end.stop_reason.to_string(),
        SessionEvent::TurnEnded { end: Err(error), .. } => format!("failed: {}", failure(&error)),
        SessionEvent::Ended(end) => format!("ended: {}", end.code()),
        other => format!("{other:?}"),
    }
}

fn asked(request: &PermissionRequest) -> String {
    let tool = request.tool_call.as_ref().map_or("nothing".to_owned(), |call| call.tool_call_id.to_string());
    let options: Vec<_> = request.options.iter().map(|o| format!("{} {} {:?}", o.id, o.name, o.kind)).collect();
    if let Some(first) = request.options.first() {
        request.select(&first.id).unwrap();
    }
    format!("asks about {tool}: {}", options.join(", "))
}

pub(crate) fn failure(error: &CallError) -> String {
    match error {
        CallError::Agent(agent) => format!("{} {}: {agent}", error.code(), agent.code),
        CallError::TooLong(length) => format!("{} {length}", error.code()),
        other => other.code().to_owned(),
    }
}

/// What was counted, in words; empty for nothing.
pub(crate) fn count(traffic: &Traffic) -> String {
    let counters = [
        ("noise", traffic.noise),
        ("too long", traffic.too_long),
        ("stray", traffic.stray_replies),
        ("dropped", traffic.dropped),
        ("unknown", traffic.unknown),
    ];
    let words: Vec<_> = counters.iter().filter(|(_, n)| *n > 0).map(|(counter, n)| format!("{counter} {n}")).collect();
    words.join(", ")
}

/// `bytes` with `ID` replaced.
pub(crate) fn with_id(bytes: &[u8], id: &Value) -> Vec<u8> {
    let id = id.to_string();
    let mut filled = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(2).position(|two| two == b"ID") {
        filled.extend_from_slice(&rest[..at]);
        filled.extend_from_slice(id.as_bytes());
        rest = &rest[at + 2..];
    }
    filled.extend_from_slice(rest);
    filled
}
