//! Sessions before they are known, the end of a connection, and agents that do not read.

use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{AgentConnection, CallError, End, OpenSession};
use tokio::time::Instant;

use crate::stage::{connect, count, next, opened, options, rest, s1, take, text};

/// "updates for a session before the reply to `session/new`"
#[tokio::test(start_paused = true)]
async fn early_updates_are_kept_up_to_a_bound() {
    // (updates, bytes of each, delivered); the rest is counted.
    for (sent, length, kept) in [(10, 10, 10), (1_500, 10, 1_000), (300, 10_240, 49)] {
        let connection = connect(async move |mut peer: Peer| {
            peer.shake_hands().await;
            let open = peer.expect("session/new").await;
            peer.say_often("s1", sent, length).await;
            peer.reply(&open, json!({"sessionId": "s1"})).await;
            peer.say("s1", "alive").await;
        })
        .await;
        let mut events = connection.open(OpenSession::new("/")).unwrap();
        let words = rest(&mut events).await;
        assert_eq!(words[0], "opened s1");
        assert_eq!(words[words.len() - 2..], ["alive (late)", "ended: connection-lost"]);
        assert_eq!(words.len() - 3, kept, "{sent} of {length}");
        assert_eq!(connection.traffic().dropped, (sent - kept) as u64);
    }
}

/// "EOF in mid-request", at every byte of a turn.
#[tokio::test(start_paused = true)]
async fn wherever_the_stream_ends_everything_ends_with_it() {
    let reply = r#"{"jsonrpc":"2.0","id":ID,"result":{"stopReason":"end_turn"}}"#;
    for cut in 0..=reply.len() {
        let connection = connect(async move |mut peer: Peer| {
            peer.shake_hands().await;
            peer.open("s1").await;
            let prompt = peer.prompted().await;
            peer.expect("vendor/call").await;
            let reply = reply.replace("ID", &prompt["id"].to_string());
            peer.write(&reply.as_bytes()[..cut.min(reply.len())]).await;
        })
        .await;
        let mut events = opened(&connection).await;
        connection.prompt(&s1(), text("go")).unwrap();
        let begun = Instant::now();
        let call = connection.call_raw("vendor/call", Value::Null).await;
        assert_eq!(call, Err(CallError::Ended { end: End::OutputClosed, sent: true }));
        assert!(begun.elapsed().as_millis() <= 50, "{:?}", begun.elapsed());
        // A last line without its end is a line.
        let whole = cut + 1 >= reply.len();
        let (turn, noise) = match cut {
            _ if whole => ("end_turn", ""),
            0 => ("failed: connection-lost", ""),
            _ => ("failed: connection-lost", "noise 1"),
        };
        assert_eq!(rest(&mut events).await, [turn, "ended: connection-lost"], "cut at {cut}");
        assert_eq!(count(&connection.traffic()), noise, "cut at {cut}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_output_that_is_closed_ends_the_connection_although_the_agent_listens() {
    let (told, heard) = tokio::sync::oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        peer.say("s1", "bye").await;
        peer.close_output().await;
        peer.say("s1", "nobody hears this").await;
        peer.farewell().await;
        told.send(()).unwrap();
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    assert_eq!(rest(&mut events).await, ["bye", "failed: connection-lost", "ended: connection-lost"]);
    assert_eq!(connection.end(), Some(End::OutputClosed));
    heard.await.expect("its input is closed too");
}

/// "the agent never reads its stdin"
#[tokio::test(start_paused = true)]
async fn an_agent_that_never_reads_is_still_read_and_calls_are_refused_at_the_bound() {
    let mut options = options();
    options.limits.outbox = 100_000;
    let script = async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        // Deaf from here on. What it asks and what is refused it must not grow our memory, nor hold up what it says.
        for n in 0..3_000 {
            peer.request(&json!(n), "vendor/unknown", json!({})).await;
            peer.ask(&json!(n), "elsewhere", json!({}), &[]).await;
            peer.ask(&json!(n), "s1", json!({}), &[("y", "allow_once")]).await;
        }
        peer.say("s1", "alive").await;
        std::future::pending::<()>().await;
    };
    let connection = testing::connect(script, &options).await.unwrap();
    let mut events = opened(&connection).await;
    let mut questions = 0;
    loop {
        match take(next(&mut events).await.unwrap()).as_str() {
            "alive (late)" => break,
            question => assert!(question.starts_with("asks about"), "{question}"),
        }
        questions += 1;
    }
    assert_eq!(questions, 3_000);
    let traffic = connection.traffic();
    assert_eq!((traffic.unknown, traffic.dropped), (3_000, 3_000));
    assert_eq!(connection.call_raw("vendor/call", json!({})).await, Err(CallError::Backpressure));
    assert_eq!(connection.prompt(&s1(), text("go")), Err(CallError::Backpressure));
    assert_eq!(connection.open(OpenSession::new("/")).unwrap_err(), CallError::Backpressure);
    assert_eq!(connection.end(), None);
}
