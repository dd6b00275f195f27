//! Calls and their ends.

use serde_json::{Value, json};
use sidekicks_acp::schema::ImageContent;
use sidekicks_acp::{AnswerError, CallError, ConnectionEvent, End};
use tokio::sync::oneshot;

use super::*;

#[tokio::test]
async fn what_is_not_in_the_protocol_disturbs_nobody() {
    let connection = connect(async |mut peer: Peer| {
        peer.send(json!({"jsonrpc": "2.0", "method": "_auth/status_update", "params": {}})).await;
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.send(json!({"method": "vendor/notify/session/mode-update", "params": {"sessionId": "s1"}})).await;
        peer.send(json!({"method": "session/update", "params": {"update": {}}})).await;
        peer.send(json!({"method": "session/update", "params": {"sessionId": "elsewhere", "update": {}}})).await;
        peer.send(json!({"method": "$/cancel_request", "params": {"requestId": prompt["id"]}})).await;
        peer.send(json!({"id": null, "error": {"code": -32700, "message": "Parse error"}})).await;
        peer.send(json!({"error": {"code": -32700, "message": "Parse error", "data": {"line": "x"}}})).await;
        peer.send(json!({"id": prompt["id"], "method": "vendor/ask", "params": {}, "result": null})).await;
        let refused = peer.hear().await.unwrap();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&prompt["id"], &json!(-32601)));
        peer.end_turn(&prompt, "end_turn").await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let vendors = "notification vendor/notify/session/mode-update";
    assert_eq!(rest(&mut events).await, [vendors, "end_turn sent=true", "ended: connection-lost"]);
    let asides = [connection.event().await, connection.event().await];
    assert!(
        matches!(&asides, [Some(ConnectionEvent::Notification(aside)), None] if aside.method == "_auth/status_update"),
        "{asides:?}"
    );
    let traffic = connection.traffic();
    assert_eq!((traffic.unknown, traffic.stray_replies, traffic.dropped, traffic.noise), (3, 2, 2, 0));
}

#[tokio::test(start_paused = true)]
async fn an_opening_that_failed_is_not_sent_after_all() {
    let (read_on, wait) = oneshot::channel();
    let (done, heard) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        wait.await.unwrap();
        let mut methods = Vec::new();
        while let Some(message) = peer.hear().await {
            methods.push(message["method"].clone());
        }
        done.send(methods).unwrap();
    })
    .await;
    // It fills the pipe, so that the opening stays in the outbox.
    let large = tokio::spawn({
        let connection = connection.clone();
        async move { connection.call_raw("vendor/large", json!(["x".repeat(1 << 20)])).await }
    });
    tokio::task::yield_now().await;
    let mut events = connection.open(OpenSession::new("/tmp")).unwrap();
    assert_eq!(rest(&mut events).await, ["not opened: timeout"]);
    assert_eq!(large.await.unwrap().unwrap_err().code(), "timeout");
    read_on.send(()).unwrap();
    connection.call_raw("vendor/last", Value::Null).await.unwrap_err();
    connection.close();
    drop(connection);
    // What the agent has is taken back by word.
    assert_eq!(heard.await.unwrap(), ["vendor/large", "$/cancel_request", "vendor/last"]);
}

#[tokio::test]
async fn a_reply_is_recognised_in_every_form() {
    let replies = [
        (r#"{"jsonrpc":"2.0","id":"ID","result":{"stopReason":"end_turn"}}"#, "end_turn sent=true"),
        (r#"{"id":ID.0,"result":{"stopReason":"end_turn"}}"#, "end_turn sent=true"),
        (r#"{"id":ID,"result":{"stopReason":"max_tokens"},"error":null}"#, "max_tokens sent=true"),
        (r#"{"id":ID,"method":"session/prompt","result":{"stopReason":"pondering"}}"#, "pondering sent=true"),
        (r#"{"id":ID,"result":{}}"#, "unknown sent=true"),
        (r#"{"id":ID,"result":null}"#, "unknown sent=true"),
        (r#"{"id":ID,"error":null}"#, "unknown sent=true"),
        (r#"{"id":ID,"result":7}"#, "unknown sent=true"),
        (r#"{"id":ID,"error":{"code":"-32603","message":"m"}}"#, "failed: agent-error sent=true"),
        (r#"{"id":ID,"error":{"code":-32000,"message":"m"}}"#, "failed: login-required sent=true"),
        (r#"{"id":ID,"error":"boom"}"#, "failed: agent-error sent=true"),
        (r#"[{"id":ID,"result":{"stopReason":"refusal"}}]"#, "refusal sent=true"),
    ];
    for (reply, expected) in replies {
        let connection = connect(async move |mut peer: Peer| {
            peer.shake_hands().await;
            peer.open("s1").await;
            let prompt = peer.prompted().await;
            let reply = reply.replace("ID", &prompt["id"].to_string());
            // Noise, a reply to no call, and a second reply change nothing.
            peer.write(format!("thinking…\n{{\"id\":99,\"result\":1}}\n{reply}\n{reply}\n")).await;
            peer.farewell().await;
        })
        .await;
        let mut events = opened(&connection).await;
        connection.prompt(&s1(), text("go")).unwrap();
        let end = next(&mut events).await.unwrap();
        assert_eq!(word(&end), expected, "{reply}");
        while connection.traffic().stray_replies < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(connection.traffic().noise_lines, ["thinking…"]);
        connection.close();
        assert_eq!(rest(&mut events).await, ["ended: closed"]);
    }
}

#[tokio::test]
async fn bad_calls_are_refused_before_anything_is_sent() {
    let (done, heard) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        let request = peer.expect("initialize").await;
        peer.reply(&request, json!({"protocolVersion": 1})).await;
        peer.open("s1").await;
        done.send(peer.prompted().await).unwrap();
        peer.farewell().await;
    })
    .await;
    assert_eq!(connection.open(OpenSession::new("project")).unwrap_err().code(), "relative-workspace");
    let odd = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"/tmp/\xff");
    assert_eq!(connection.open(OpenSession::new(odd)).unwrap_err().code(), "not-unicode");
    let _events = opened(&connection).await;
    assert_eq!(connection.prompt(&s1(), Vec::new()), Err(CallError::EmptyPrompt));
    assert_eq!(connection.prompt(&s1(), text("")), Err(CallError::EmptyPrompt));
    let image = vec![ContentBlock::Image(ImageContent::new("", "image/png"))];
    assert_eq!(connection.prompt(&s1(), image), Err(CallError::UnsupportedContent("images")));
    let nowhere = SessionId::new("nowhere");
    assert_eq!(connection.prompt(&nowhere, text("go")), Err(CallError::UnknownSession(nowhere.clone())));
    assert_eq!(connection.cancel(&nowhere), Err(CallError::UnknownSession(nowhere.clone())));
    connection.prompt(&s1(), text("go")).unwrap();
    assert_eq!(connection.prompt(&s1(), text("two")), Err(CallError::PromptPending));
    assert_eq!(heard.await.unwrap()["params"]["prompt"][0]["text"], "go");
    connection.close();
    let closed = CallError::Ended { end: End::Closed, sent: false };
    assert_eq!(connection.prompt(&s1(), text("three")), Err(closed.clone()));
    assert_eq!(connection.open(OpenSession::new("/")).unwrap_err(), closed);
    assert_eq!(connection.closed().await, End::Closed);
}

#[tokio::test]
async fn an_end_in_mid_turn_settles_everything() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        peer.say("s1", "half a sen").await;
        peer.ask(&json!(0), "s1", json!({}), &[("y", "allow_once")]).await;
        peer.expect("vendor/call").await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let call = tokio::spawn({
        let connection = connection.clone();
        async move { connection.call_raw("vendor/call", json!({})).await }
    });
    assert_eq!(word(&next(&mut events).await.unwrap()), "half a sen");
    let request = question(&mut events).await;
    assert_eq!(rest(&mut events).await, ["failed: connection-lost sent=true", "ended: connection-lost"]);
    assert_eq!(request.select("y"), Err(AnswerError::AlreadySettled));
    assert_eq!(call.await.unwrap().unwrap_err(), CallError::Ended { end: End::OutputClosed, sent: true });
    assert_eq!(connection.closed().await, End::OutputClosed);
}

#[tokio::test(start_paused = true)]
async fn every_call_but_a_prompt_times_out() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        let opening = peer.expect("session/new").await;
        assert_eq!(peer.expect("$/cancel_request").await["params"]["requestId"], opening["id"]);
        let late = peer.expect("vendor/call").await;
        assert_eq!(peer.expect("$/cancel_request").await["params"]["requestId"], late["id"]);
        peer.open("s1").await;
        peer.prompted().await;
        peer.reply(&late, json!({})).await;
        peer.farewell().await;
    })
    .await;
    let mut never = connection.open(OpenSession::new("/")).unwrap();
    assert_eq!(rest(&mut never).await, ["not opened: timeout"]);
    let call = connection.call_raw("vendor/call", json!({})).await;
    assert_eq!(call, Err(CallError::TimedOut(Duration::from_secs(60))));
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let day = tokio::time::timeout(Duration::from_secs(86_400), events.next()).await;
    assert!(day.is_err(), "a prompt has no timeout: {day:?}");
    assert_eq!(connection.traffic().stray_replies, 1);
}

#[tokio::test]
async fn a_tool_result_of_megabytes_comes_on_one_line() {
    let large = "é".repeat(1 << 20);
    let connection = connect({
        let large = large.clone();
        async move |mut peer: Peer| {
            peer.shake_hands().await;
            peer.open("s1").await;
            let prompt = peer.prompted().await;
            peer.say("s1", &large).await;
            peer.end_turn(&prompt, "end_turn").await;
        }
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    assert!(word(&next(&mut events).await.unwrap()) == large);
    assert_eq!(rest(&mut events).await, ["end_turn sent=true", "ended: connection-lost"]);
    assert_eq!(connection.traffic(), Default::default());
}
