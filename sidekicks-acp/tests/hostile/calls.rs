//! Replies in every shape: whoever waits for one always gets an end.

use serde_json::Value;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{AgentConnection, CallError, Connection, OpenSession, StartFailure};

use crate::stage::{Entry, connect, failure, opened, options, play, rest, s1, skipped, text, with_id};

/// A reply, and what each kind of call makes of it.
struct Reply {
    row: &'static str,
    written: &'static str,
    call: &'static str,
    open: &'static str,
    turn: &'static str,
    start: &'static str,
}

#[tokio::test(start_paused = true)]
async fn every_reply_ends_every_kind_of_call() {
    let odd = "a reply with a string error code, `error: null`, no `jsonrpc`, an extra `method`, a number where an object is due";
    let text_id = "a reply whose id is ours but as a string";
    let empty = "unknown `stopReason`; `{}` or `null` as prompt result";
    let reply = |row, written, call, open, turn, start| Reply { row, written, call, open, turn, start };
    let fails = |row, written, how| reply(row, written, how, how, how, how);
    let replies = [
        fails(odd, r#"{"id":ID,"error":{"code":"-32603","message":"m"}}"#, "agent-error -32603: m"),
        fails(
            odd,
            r#"{"id":ID,"error":{"code":4.5,"message":7}}"#,
            "agent-error 4: the agent gave no reason (error 4)",
        ),
        fails(odd, r#"{"id":ID,"error":"boom"}"#, "agent-error 0: boom"),
        fails(odd, r#"{"id":ID,"error":{}}"#, "agent-error 0: the agent gave no reason (error 0)"),
        fails(odd, r#"{"id":ID,"error":false,"result":null}"#, "agent-error 0: the agent gave no reason (error 0)"),
        fails(odd, r#"{"id":ID,"result":{},"error":{"code":1,"message":"m"}}"#, "agent-error 1: m"),
        fails(odd, r#"{"id":ID,"error":{"code":-32000,"message":"m"}}"#, "login-required -32000: m"),
        reply(odd, r#"{"id":ID,"error":null}"#, "null", "malformed-reply", "unknown", "malformed-reply"),
        reply(odd, r#"{"id":ID,"result":7}"#, "7", "malformed-reply", "unknown", "malformed-reply"),
        reply(odd, r#"{"id":ID,"result":[]}"#, "[]", "malformed-reply", "unknown", "malformed-reply"),
        reply(
            odd,
            r#"{"id":ID,"result":{"sessionId":7,"stopReason":7,"protocolVersion":"1"}}"#,
            r#"{"sessionId":7,"stopReason":7,"protocolVersion":"1"}"#,
            "malformed-reply",
            "unknown",
            "unsupported-version",
        ),
        reply(empty, r#"{"id":ID,"result":{}}"#, "{}", "malformed-reply", "unknown", "malformed-reply"),
        reply(empty, r#"{"id":ID,"result":null}"#, "null", "malformed-reply", "unknown", "malformed-reply"),
        reply(
            empty,
            r#"{"id":ID,"result":{"stopReason":"pondering"}}"#,
            r#"{"stopReason":"pondering"}"#,
            "malformed-reply",
            "pondering",
            "malformed-reply",
        ),
        reply(odd, FULL_WITH_METHOD, FULL, "opened s1", "refusal", "started"),
        reply(
            odd,
            r#"{"id":ID,"error":null,"result":{"sessionId":"s1","stopReason":"refusal","protocolVersion":1}}"#,
            FULL,
            "opened s1",
            "refusal",
            "started",
        ),
        reply(
            text_id,
            r#"{"id":"ID","result":{"sessionId":"s1","stopReason":"refusal","protocolVersion":1}}"#,
            FULL,
            "opened s1",
            "refusal",
            "started",
        ),
        reply(
            text_id,
            r#"{"id":ID.0,"result":{"sessionId":"s1","stopReason":"refusal","protocolVersion":1}}"#,
            FULL,
            "opened s1",
            "refusal",
            "started",
        ),
    ];
    for Reply { row, written, call, open, turn, start } in replies {
        let about = format!("\"{row}\": {written}");
        assert_eq!(called(written).await, call, "call of {about}");
        assert_eq!(opening(written).await, open, "opening of {about}");
        assert_eq!(prompted(written).await, turn, "turn of {about}");
        assert_eq!(started(written).await, start, "start of {about}");
    }
}

const FULL: &str = r#"{"sessionId":"s1","stopReason":"refusal","protocolVersion":1}"#;
const FULL_WITH_METHOD: &str =
    r#"{"id":ID,"method":"x","result":{"sessionId":"s1","stopReason":"refusal","protocolVersion":1}}"#;

/// Replies to the next request with this line, and stays.
async fn reply(peer: &mut Peer, written: &str) {
    let request = peer.hear().await.unwrap();
    peer.write(with_id(format!("{written}\n").as_bytes(), &request["id"])).await;
    peer.farewell().await;
}

async fn ready(written: &'static str, session: bool) -> Connection {
    connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        if session {
            peer.open("s1").await;
        }
        reply(&mut peer, written).await;
    })
    .await
}

async fn called(written: &'static str) -> String {
    match ready(written, false).await.call_raw("vendor/call", Value::Null).await {
        Ok(result) => result.to_string(),
        Err(error) => failure(&error),
    }
}

async fn opening(written: &'static str) -> String {
    let connection = ready(written, false).await;
    let mut events = connection.open(OpenSession::new("/")).unwrap();
    let first = crate::stage::take(crate::stage::next(&mut events).await.unwrap());
    first.replace("not opened: ", "")
}

async fn prompted(written: &'static str) -> String {
    let connection = ready(written, true).await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let first = crate::stage::take(crate::stage::next(&mut events).await.unwrap());
    first.replace("failed: ", "")
}

async fn started(written: &'static str) -> String {
    let script = async move |mut peer: Peer| reply(&mut peer, written).await;
    match testing::connect(script, &options()).await.map_err(|error| *error.failure) {
        Ok(_) => "started".to_owned(),
        Err(StartFailure::Handshake(error)) => failure(&error),
        Err(StartFailure::UnsupportedVersion { .. }) => "unsupported-version".to_owned(),
        Err(other) => other.to_string(),
    }
}

#[tokio::test(start_paused = true)]
async fn replies_to_nothing_are_counted() {
    let row = "a reply to an unknown id, or a second reply";
    let end = r#"{"id":ID,"result":{"stopReason":"refusal"}}"#;
    play(vec![
        skipped(row, "{\"id\":99,\"result\":1}\n{\"id\":-1,\"error\":{}}\n{\"id\":\"x\",\"result\":{}}\n", "stray 3"),
        skipped(row, "{\"id\":null,\"error\":{\"code\":-32700}}\n{\"error\":{\"code\":-32700}}\n", "stray 2"),
        skipped(row, "{\"id\":ID.5,\"result\":1}\n{\"id\":[ID],\"result\":1}\n{\"id\":1,\"result\":{}}\n", "stray 3"),
        // The second one, and the usual end of the turn.
        Entry { events: vec!["refusal", "alive (late)"], ..skipped(row, format!("{end}\n{end}\n"), "stray 2") },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_not_ours_names_both() {
    for (version, theirs) in [("2", "2"), ("\"1\"", "\"1\""), ("65536", "65536")] {
        let script = async move |mut peer: Peer| {
            let request = peer.expect("initialize").await;
            peer.write(format!(r#"{{"id":{},"result":{{"protocolVersion":{version}}}}}"#, request["id"]) + "\n").await;
            peer.farewell().await;
        };
        let error = testing::connect(script, &options()).await.unwrap_err();
        let StartFailure::UnsupportedVersion { theirs: told } = &*error.failure else { panic!("{error:?}") };
        assert_eq!(told, theirs);
        assert!(error.to_string().contains("version 1"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_answered_ends_by_its_timeout_and_a_turn_by_the_end() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        for method in ["vendor/call", "session/new"] {
            let call = peer.expect(method).await;
            let given_up = peer.expect("$/cancel_request").await;
            assert_eq!(given_up["params"]["requestId"], call["id"]);
        }
        peer.expect("vendor/leave").await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let call = connection.call_raw("vendor/call", Value::Null).await;
    assert!(matches!(call, Err(CallError::TimedOut(_))), "{call:?}");
    let mut second = connection.open(OpenSession::new("/")).unwrap();
    assert_eq!(rest(&mut second).await, ["not opened: timeout"]);
    let last = connection.call_raw("vendor/leave", Value::Null).await;
    assert_eq!(last.unwrap_err().code(), "connection-lost");
    assert_eq!(rest(&mut events).await, ["failed: connection-lost", "ended: connection-lost"]);
}
