//! A connection against a scripted agent: order, ids, errors, cancel and questions.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sidekicks_acp::schema::{ContentBlock, ImageContent, SessionId, SessionUpdate, TextContent};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{
    AgentConnection, AnswerError, CallError, ConnectOptions, Connection, End, OpenSession, PermissionRequest,
    SessionEvent, SessionEvents, StartFailure,
};
use tokio::sync::oneshot;

const PATIENCE: Duration = Duration::from_secs(200);

async fn connect<S: Future<Output = ()> + Send + 'static>(script: impl FnOnce(Peer) -> S) -> Connection {
    testing::connect(script, &ConnectOptions::default()).await.expect("the script shakes hands")
}

fn text(text: &str) -> Vec<ContentBlock> {
    vec![ContentBlock::Text(TextContent::new(text))]
}

fn s1() -> SessionId {
    SessionId::new("s1")
}

async fn next(events: &mut SessionEvents) -> Option<SessionEvent> {
    tokio::time::timeout(PATIENCE, events.next()).await.expect("the next event comes")
}

async fn opened(connection: &Connection) -> SessionEvents {
    let mut events = connection.open(OpenSession::new("/tmp")).unwrap();
    let first = next(&mut events).await;
    assert!(matches!(first, Some(SessionEvent::Opened(Ok(_)))), "{first:?}");
    events
}

async fn question(events: &mut SessionEvents) -> PermissionRequest {
    match next(events).await {
        Some(SessionEvent::Permission(request)) => request,
        other => panic!("expected a question, not {other:?}"),
    }
}

/// One event in a word or two.
fn word(event: &SessionEvent) -> String {
    match event {
        SessionEvent::Opened(Ok(session)) => format!("opened {}", session.id),
        SessionEvent::Opened(Err(error)) => format!("not opened: {}", error.code()),
        SessionEvent::Update(update) => {
            let late = if update.late { " (late)" } else { "" };
            match &update.typed {
                Ok(SessionUpdate::AgentMessageChunk(chunk)) => match &chunk.content {
                    ContentBlock::Text(text) => format!("{}{late}", text.text),
                    _ => format!("a chunk{late}"),
                },
                Ok(_) => format!("an update{late}"),
                Err(unrecognised) => format!("other {}{late}", unrecognised.word),
            }
        }
        SessionEvent::Permission(request) => format!("asks {}", request.raw.to_value()["toolCall"]),
        SessionEvent::Withdrawn(_) => "withdrawn".to_owned(),
        SessionEvent::TurnEnded { end: Ok(end), .. } => format!("{} sent={}", end.stop_reason, end.prompt_sent),
        SessionEvent::TurnEnded { end: Err(error), .. } => format!("failed: {} sent={}", error.code(), error.sent()),
        SessionEvent::Ended(end) => format!("ended: {}", end.code()),
        other => format!("{other:?}"),
    }
}

/// All events up to the end of the connection or of the queue.
async fn rest(events: &mut SessionEvents) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(event) = next(events).await {
        words.push(word(&event));
    }
    words
}

#[tokio::test]
async fn the_handshake_offers_version_one_and_nothing_that_is_not_there() {
    let (heard, request) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        let initialize = peer.expect("initialize").await;
        peer.reply(&initialize, json!({"protocolVersion": 1, "agentInfo": {"name": "a", "version": "2"}})).await;
        heard.send(initialize).unwrap();
        peer.farewell().await;
    })
    .await;
    let params = request.await.unwrap()["params"].clone();
    assert_eq!(params["protocolVersion"], 1);
    assert_eq!(params["clientInfo"]["name"], "sidekicks");
    assert_eq!(params["clientCapabilities"]["terminal"], false);
    assert_eq!(connection.agent().implementation.as_ref().unwrap().version, "2");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_says_how() {
    async fn failed<S: Future<Output = ()> + Send + 'static>(script: impl FnOnce(Peer) -> S) -> (&'static str, String) {
        let error = testing::connect(script, &ConnectOptions::default()).await.unwrap_err();
        (error.code(), error.to_string())
    }
    let (code, text) = failed(async |mut peer: Peer| {
        let request = peer.expect("initialize").await;
        peer.reply(&request, json!({"protocolVersion": 2})).await;
        peer.farewell().await;
    })
    .await;
    assert_eq!((code, text.contains("version 2")), ("unsupported-version", true), "{text}");
    let (code, text) = failed(async |mut peer: Peer| {
        peer.hear().await;
        peer.write("this agent is no longer maintained\n").await;
    })
    .await;
    assert_eq!(
        (code, text.as_str()),
        ("connection-lost", "it left before it was ready: the agent closed the connection")
    );
    let (code, text) = failed(async |mut peer: Peer| {
        let request = peer.expect("initialize").await;
        peer.refuse(&request, json!({"code": -32000, "message": "Log in first"})).await;
        peer.farewell().await;
    })
    .await;
    assert_eq!((code, text.as_str()), ("login-required", "the handshake failed"));
    let (code, text) = failed(async |mut peer: Peer| peer.farewell().await).await;
    assert_eq!((code, text.as_str()), ("start-timeout", "it was not ready within 60 seconds"));
}

#[tokio::test]
async fn a_lost_handshake_carries_the_noise() {
    let script = async |mut peer: Peer| {
        peer.hear().await;
        peer.write("this agent is no longer maintained\nuse the other one").await;
    };
    let error = testing::connect(script, &ConnectOptions::default()).await.unwrap_err();
    assert!(matches!(error.failure, StartFailure::Left(End::OutputClosed)), "{error:?}");
    assert_eq!(error.noise, ["this agent is no longer maintained", "use the other one"]);
}

#[tokio::test]
async fn an_id_that_is_open_already_is_given_to_nobody_else() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.end_turn(&prompt, "end_turn").await;
    })
    .await;
    let mut first = opened(&connection).await;
    let mut second = connection.open(OpenSession::new("/tmp")).unwrap();
    assert_eq!(rest(&mut second).await, ["not opened: malformed-reply"]);
    connection.prompt(&s1(), text("go")).unwrap();
    assert_eq!(rest(&mut first).await, ["end_turn sent=true", "ended: connection-lost"]);
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
    assert_eq!(rest(&mut events).await, ["end_turn sent=true", "ended: connection-lost"]);
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
    assert_eq!(heard.await.unwrap(), ["vendor/large", "vendor/last"]);
}

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
async fn questions_are_answered_with_the_id_as_it_was_written() {
    let (done, answers) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        let mut answers = Vec::new();
        for id in [json!(0), json!("a8098c1a-f86e"), Value::Null, json!(9007199254740993_i64), json!(1.5)] {
            let options = [("always", "allow_always"), ("once", "allow_once"), ("odd", "allow_somehow")];
            peer.ask(&id, "s1", json!({"toolCallId": "t"}), &options).await;
            answers.push(peer.answer(&id).await);
        }
        peer.send(json!({"id": 1, "method": "craft/drain", "params": {}})).await;
        answers.push(peer.hear().await.unwrap());
        peer.send(json!({"id": "x", "method": "session/request_permission", "params": {}})).await;
        answers.push(peer.hear().await.unwrap());
        done.send(answers).unwrap();
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    for choice in ["once", "always", "odd"] {
        let request = question(&mut events).await;
        assert_eq!(request.select("twice"), Err(AnswerError::UnknownOption("twice".to_owned())));
        assert_eq!(request.select(choice), Ok(()));
        assert_eq!(request.select(choice), Err(AnswerError::AlreadySettled));
        assert_eq!(request.cancel(), Err(AnswerError::AlreadySettled));
    }
    question(&mut events).await.cancel().unwrap();
    drop(question(&mut events).await);
    let answers = answers.await.unwrap();
    let outcome = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    assert_eq!(answers[..5], [outcome("once"), outcome("always"), outcome("odd"), cancelled.clone(), cancelled]);
    assert_eq!((&answers[5]["id"], &answers[5]["error"]["code"]), (&json!(1), &json!(-32601)));
    assert_eq!((&answers[6]["id"], &answers[6]["error"]["code"]), (&json!("x"), &json!(-32602)));
}

#[tokio::test]
async fn a_question_with_a_broken_tool_call_is_still_asked() {
    let calls = [json!(null), json!(7), json!({}), json!({"toolCallId": "t", "kind": "teleport", "status": 3})];
    let count = calls.len();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        for (id, call) in calls.into_iter().enumerate() {
            peer.ask(&json!(id), "s1", call, &[("yes", "allow_once")]).await;
            peer.answer(&json!(id)).await;
        }
        peer.send(json!({"id": 9, "method": "session/request_permission", "params": {"sessionId": "s1", "options": [
            {"optionId": 5, "name": "", "kind": 7}, {"name": "no id"}, "nothing"]}}))
            .await;
        peer.answer(&json!(9)).await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    for _ in 0..count {
        question(&mut events).await.select("yes").unwrap();
    }
    let odd = question(&mut events).await;
    let options: Vec<_> = odd.options.iter().map(|o| (o.id.as_str(), o.name.as_str(), o.kind.as_str())).collect();
    assert_eq!(options, [("5", "5", "")]);
}

#[tokio::test]
async fn cancel_comes_first_and_settles_what_is_open() {
    let (done, heard) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.ask(&json!(0), "s1", json!({"toolCallId": "a"}), &[("y", "allow_once")]).await;
        peer.ask(&json!(1), "s1", json!({"toolCallId": "b"}), &[("y", "allow_once")]).await;
        let mut heard = vec![peer.hear().await.unwrap(), peer.hear().await.unwrap(), peer.hear().await.unwrap()];
        // A question that crosses the cancel is answered without anybody being asked.
        peer.ask(&json!(2), "s1", json!({"toolCallId": "c"}), &[("y", "allow_once")]).await;
        heard.push(peer.hear().await.unwrap());
        peer.end_turn(&prompt, "cancelled").await;
        // The next prompt is sent, and nothing before it.
        heard.push(peer.hear().await.unwrap());
        done.send(heard).unwrap();
    })
    .await;
    let mut events = opened(&connection).await;
    assert_eq!(connection.cancel(&s1()), Ok(()), "nothing to cancel");
    connection.prompt(&s1(), text("go")).unwrap();
    let questions = [question(&mut events).await, question(&mut events).await];
    connection.cancel(&s1()).unwrap();
    connection.cancel(&s1()).unwrap();
    assert_eq!(questions[0].select("y"), Err(AnswerError::AlreadySettled));
    let mut words = Vec::new();
    for _ in 0..3 {
        words.push(word(&next(&mut events).await.unwrap()));
    }
    assert_eq!(words, ["withdrawn", "withdrawn", "cancelled sent=true"]);
    connection.cancel(&s1()).unwrap();
    connection.prompt(&s1(), text("again")).unwrap();
    let heard = heard.await.unwrap();
    assert_eq!(heard[0]["method"], "session/cancel");
    assert_eq!(heard[0].get("id"), None);
    for (message, id) in heard[1..4].iter().zip(0..) {
        assert_eq!((&message["id"], &message["result"]["outcome"]["outcome"]), (&json!(id), &json!("cancelled")));
    }
    assert_eq!(heard[4]["params"]["prompt"][0]["text"], "again");
}

#[tokio::test]
async fn the_agent_can_take_its_question_back() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        peer.ask(&json!("q"), "s1", json!({}), &[("y", "allow_once")]).await;
        peer.send(json!({"method": "$/cancel_request", "params": {"requestId": "other"}})).await;
        peer.send(json!({"method": "$/cancel_request", "params": {"requestId": "q"}})).await;
        assert_eq!(peer.answer(&json!("q")).await["outcome"]["outcome"], "cancelled");
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let request = question(&mut events).await;
    let withdrawn = next(&mut events).await;
    assert!(matches!(withdrawn, Some(SessionEvent::Withdrawn(id)) if id == request.id()), "{withdrawn:?}");
    assert_eq!(request.select("y"), Err(AnswerError::AlreadySettled));
    assert_eq!(rest(&mut events).await, ["failed: connection-lost sent=true", "ended: connection-lost"]);
}

#[tokio::test]
async fn a_prompt_behind_a_full_pipe_is_taken_back() {
    // The agent reads nothing after the opening, so the large prompt stays in the pipe and the other in the outbox.
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.open("s2").await;
        std::future::pending::<()>().await;
    })
    .await;
    let _first = opened(&connection).await;
    let mut second = opened(&connection).await;
    connection.prompt(&s1(), text(&"x".repeat(1 << 20))).unwrap();
    let s2 = SessionId::new("s2");
    connection.prompt(&s2, text("small")).unwrap();
    connection.cancel(&s2).unwrap();
    assert_eq!(word(&next(&mut second).await.unwrap()), "cancelled sent=false");
    connection.cancel(&s1()).unwrap();
    for _ in 0..15 {
        assert_eq!(connection.prompt(&s2, text(&"y".repeat(1 << 20))).map(drop), Ok(()));
        connection.cancel(&s2).unwrap();
    }
    connection.prompt(&s2, text(&"z".repeat(15 << 20))).unwrap();
    assert_eq!(
        connection.open(OpenSession::new(format!("/{}", "w".repeat(2 << 20)))).unwrap_err(),
        CallError::Backpressure
    );
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
        peer.expect("session/new").await;
        let late = peer.expect("vendor/call").await;
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

#[tokio::test]
async fn handles_are_send_and_the_last_one_closes() {
    fn handle<T: Send + Sync + Clone + 'static>(_: &T) {}
    let (gone, left) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.farewell().await;
        gone.send(()).unwrap();
    })
    .await;
    handle(&connection);
    let shared: Arc<dyn AgentConnection> = Arc::new(connection.clone());
    drop(connection);
    assert!(tokio::time::timeout(Duration::from_millis(50), shared.closed()).await.is_err());
    drop(shared);
    tokio::time::timeout(PATIENCE, left).await.unwrap().unwrap();
}
