//! What comes when, and what a slow reader does.

use serde_json::{Value, json};
use sidekicks_acp::End;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_update_written_before_the_reply_is_delivered_before_the_end_of_the_turn() {
    for round in 0..200 {
        let connection = connect(async |mut peer: Peer| {
            peer.shake_hands().await;
            peer.open("s1").await;
            let prompt = peer.prompted().await;
            let update = |text: String| {
                let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
                json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}})
            };
            let mut lines: Vec<Value> = (0..20).map(|n| update(format!("{n}"))).collect();
            lines.push(json!({"jsonrpc": "2.0", "id": prompt["id"], "result": {"stopReason": "end_turn"}}));
            lines.extend((20..40).map(|n| update(format!("{n}"))));
            let all: String = lines.iter().map(|line| format!("{line}\n")).collect();
            peer.write(all).await;
        })
        .await;
        let mut events = opened(&connection).await;
        connection.prompt(&s1(), text("go")).unwrap();
        let words = rest(&mut events).await;
        let mut expected: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        expected.push("end_turn sent=true".to_owned());
        expected.extend((20..40).map(|n| format!("{n} (late)")));
        expected.push("ended: connection-lost".to_owned());
        assert_eq!(words, expected, "round {round}");
    }
}

#[tokio::test]
async fn what_comes_before_its_session_is_known_follows_the_opening() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        assert_eq!(open["params"]["mcpServers"], json!([]));
        peer.update("s1", json!({"sessionUpdate": "available_commands_update", "availableCommands": []})).await;
        peer.say("another", "for nobody").await;
        peer.say("s1", "early").await;
        peer.reply(&open, json!({"sessionId": "s1"})).await;
    })
    .await;
    let mut events = connection.open(OpenSession::new("/tmp")).unwrap();
    assert_eq!(rest(&mut events).await, ["opened s1", "an update (late)", "early (late)", "ended: connection-lost"]);
}

#[tokio::test]
async fn a_session_that_is_not_read_makes_the_agent_wait_and_loses_nothing() {
    let mut options = ConnectOptions::default();
    options.limits.session_queue = 100_000;
    let (written, mut writing) = tokio::sync::watch::channel(0);
    let script = async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.open("s2").await;
        let prompt = peer.prompted().await;
        for n in 0..20_000 {
            peer.say("s1", &format!("{n}")).await;
            written.send_replace(n);
        }
        peer.end_turn(&prompt, "end_turn").await;
    };
    let connection = testing::connect(script, &options).await.unwrap();
    let mut events = opened(&connection).await;
    let mut other = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    // The agent comes to a halt: what it wrote is in the queue, the pipe and the buffers between, a few thousand lines.
    let mut before = 0;
    while tokio::time::timeout(Duration::from_millis(300), writing.wait_for(|&now| now > before)).await.is_ok() {
        before = *writing.borrow();
    }
    assert!(before < 10_000, "{before}");
    for n in 0..20_000 {
        assert_eq!(word(&next(&mut events).await.unwrap()), n.to_string());
    }
    assert_eq!(rest(&mut events).await, ["end_turn sent=true", "ended: connection-lost"]);
    assert_eq!(rest(&mut other).await, ["ended: connection-lost"]);
}

#[tokio::test]
async fn events_that_nobody_reads_hold_nothing_up() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        peer.ask(&json!(0), "s1", json!({}), &[("y", "allow_once")]).await;
        assert_eq!(peer.answer(&json!(0)).await["outcome"]["outcome"], "cancelled");
        for _ in 0..10_000 {
            peer.say("s1", &"x".repeat(2_000)).await;
        }
    })
    .await;
    let events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    drop(events);
    assert_eq!(tokio::time::timeout(PATIENCE, connection.closed()).await, Ok(End::OutputClosed));
    assert_eq!(connection.traffic().dropped, 10_001);
}
