//! Lines longer than the limit.

use std::time::Duration;

use serde_json::{Value, json};
use sidekicks_acp::testing::Peer;
use sidekicks_acp::{AgentConnection, CallError};

use crate::stage::{LINE, connect, count, opened, rest, s1, text};

/// `length` bytes that begin with `head`, as one line.
fn long(head: &str, length: usize) -> Vec<u8> {
    let mut line = head.as_bytes().to_vec();
    line.resize(length, b'x');
    line.push(b'\n');
    line
}

#[tokio::test(start_paused = true)]
async fn a_line_too_long_is_skipped_and_whoever_waits_for_it_is_told() {
    use crate::stage::{Entry, play, skipped};
    let row = "a line longer than `max_line`";
    let reply = |head: &str, length| Entry {
        events: vec!["failed: too-long 20000", "alive (late)"],
        ..skipped(row, long(head, length), "too long 1, stray 1")
    };
    let nothing = |head: &str| skipped(row, long(head, LINE + 100), "too long 1");
    play(vec![
        reply(r#"{"jsonrpc":"2.0","id":ID,"result":{"a":""#, 20_001),
        reply(r#"{"id":"ID","error":{"message":""#, 20_001),
        reply("\x1b[0m\u{FEFF}{\"id\":ID,\"method\":\"session/prompt\",\"result\":[1,", 20_001),
        nothing("log "),
        nothing(r#"{"jsonrpc":"2.0","method":"session/update","params":{"id":ID,"x":""#),
        nothing(r#"{"result":{"id":ID,"x":""#),
        nothing(r#"[{"id":ID,"result":{}},"#),
        nothing(""),
        skipped(row, long(r#"{"id":99,"result":""#, LINE + 1), "too long 1, stray 1"),
        // Exactly as long as is allowed, and one more.
        skipped(row, [long("x", LINE), long("x", LINE + 1)].concat(), "noise 1, too long 1"),
        // Inside a message over several lines: that is given up.
        skipped(row, [b"{\n".to_vec(), long("\"a\": \"", LINE + 1), b"}\n".to_vec()].concat(), "noise 2, too long 1"),
        Entry {
            answers: vec![
                r#"{"jsonrpc":"2.0","id":"w","error":{"code":-32600,"message":"Request too long: 20001 bytes on one line"}}"#,
            ],
            ..skipped(row, long(r#"{"id":"w","method":"fs/write_text_file","params":{"content":""#, 20_001), "too long 1")
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_call_ends_when_its_reply_is_too_long() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        let call = peer.expect("vendor/call").await;
        peer.reply_long(&call, 100_000).await;
        let open = peer.expect("session/new").await;
        peer.reply_long(&open, 100_000).await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.request_long(&json!(4.50), "fs/write_text_file", 100_000).await;
        assert_eq!(peer.hear().await.unwrap()["error"]["code"], -32600);
        peer.reply_long(&prompt, 300_000).await;
    })
    .await;
    let call = connection.call_raw("vendor/call", Value::Null).await;
    assert_eq!(call, Err(CallError::TooLong(100_000)));
    let mut events = connection.open(sidekicks_acp::OpenSession::new("/")).unwrap();
    assert_eq!(rest(&mut events).await, ["not opened: too-long 100000"]);
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    assert_eq!(rest(&mut events).await, ["failed: too-long 300000", "ended: connection-lost"]);
    assert_eq!(count(&connection.traffic()), "too long 4");
}

#[tokio::test(start_paused = true)]
async fn a_line_that_never_ends_leaves_the_calls_to_their_timeouts() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        let call = peer.expect("vendor/call").await;
        peer.write(format!(r#"{{"id":{},"result":"#, call["id"])).await;
        for _ in 0..100 {
            peer.write("[".repeat(LINE)).await;
        }
        peer.farewell().await;
    })
    .await;
    let call = connection.call_raw("vendor/call", Value::Null).await;
    assert_eq!(call, Err(CallError::TimedOut(Duration::from_secs(60))));
    assert_eq!((count(&connection.traffic()), connection.end()), (String::new(), None));
}
