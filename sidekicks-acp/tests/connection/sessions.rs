//! Opening, closing and setting sessions.

use std::sync::Arc;

use serde_json::{Value, json};
use sidekicks_acp::schema::{ListSessionsRequest, McpServer, McpServerHttp, SessionConfigOptionValue};
use sidekicks_acp::{AgentConnection, CallError, End};
use tokio::sync::oneshot;

use super::*;

/// Everything that a session can be asked for.
fn everything() -> Value {
    json!({
        "loadSession": true,
        "sessionCapabilities": {"resume": {}, "close": {}, "list": {}, "delete": {}, "additionalDirectories": {}},
        "auth": {"logout": {}},
    })
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
async fn a_loaded_session_tells_its_replay_before_it_is_opened() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        let load = peer.expect("session/load").await;
        assert_eq!(load["params"], json!({"cwd": "/tmp", "mcpServers": [], "sessionId": "s1"}));
        peer.say("s1", "it was so").await;
        peer.ask(&json!(0), "s1", json!({"toolCallId": "t"}), &[("y", "allow_once")]).await;
        assert_eq!(peer.answer(&json!(0)).await["outcome"]["outcome"], "cancelled");
        let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]});
        peer.reply(&load, json!({"modes": modes, "configOptions": [7, {"no": "id"}]})).await;
        peer.say("s1", "and after").await;
        let prompt = peer.prompted().await;
        peer.end_turn(&prompt, "end_turn").await;
    })
    .await;
    let mut events = connection.open(OpenSession::load(s1(), "/tmp")).unwrap();
    assert!(!connection.is_open(&s1()));
    assert_eq!(connection.prompt(&s1(), text("early")), Err(CallError::UnknownSession(s1())));
    assert_eq!(word(&next(&mut events).await.unwrap()), "it was so (late)");
    drop(question(&mut events).await);
    match next(&mut events).await {
        Some(SessionEvent::Opened(Ok(session))) => {
            assert_eq!((session.id, session.config_options.len()), (s1(), 0));
            assert_eq!(session.modes.unwrap().current_mode_id.to_string(), "ask");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(word(&next(&mut events).await.unwrap()), "and after (late)");
    assert_eq!(connection.open(OpenSession::load(s1(), "/tmp")).unwrap_err(), CallError::AlreadyOpen(s1()));
    connection.prompt(&s1(), text("go")).unwrap();
    assert_eq!(rest(&mut events).await, ["end_turn sent=true", "ended: connection-lost"]);
}

#[tokio::test]
async fn a_session_that_cannot_be_loaded_is_not_open() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        let load = peer.expect("session/load").await;
        peer.say("s1", "half of").await;
        peer.ask(&json!(0), "s1", json!({}), &[("y", "allow_once")]).await;
        peer.refuse(&load, json!({"code": -32002, "message": "Session not found"})).await;
        assert_eq!(peer.answer(&json!(0)).await["outcome"]["outcome"], "cancelled");
        let resume = peer.expect("session/resume").await;
        peer.reply(&resume, Value::Null).await;
        peer.farewell().await;
    })
    .await;
    let mut events = connection.open(OpenSession::load(s1(), "/tmp")).unwrap();
    let words = rest(&mut events).await;
    assert_eq!(words, ["half of (late)", "asks {}", "not opened: agent-error"]);
    let mut events = connection.open(OpenSession::resume(s1(), "/tmp")).unwrap();
    assert_eq!(word(&next(&mut events).await.unwrap()), "opened s1");
    assert!(connection.is_open(&s1()));
    drop(events);
    // Nobody reads it any more, so it may be opened again.
    connection.open(OpenSession::resume(s1(), "/tmp")).unwrap();
}

#[tokio::test]
async fn what_the_agent_does_not_offer_is_refused_before_anything_is_sent() {
    let (done, heard) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        done.send(peer.hear().await).unwrap();
    })
    .await;
    let _events = opened(&connection).await;
    let open = |request: OpenSession| connection.open(request).unwrap_err();
    assert_eq!(open(OpenSession::load(s1(), "/")), CallError::Unsupported("session/load"));
    assert_eq!(open(OpenSession::resume(s1(), "/")), CallError::Unsupported("session/resume"));
    let servers = vec![McpServer::Http(McpServerHttp::new("m", "http://localhost"))];
    assert_eq!(open(OpenSession::new("/").mcp_servers(servers)), CallError::Unsupported("MCP servers over HTTP"));
    let folders = |folder: &str| OpenSession::new("/").additional_directories(vec![folder.into()]);
    assert_eq!(open(folders("/more")), CallError::Unsupported("additional folders"));
    assert_eq!(open(folders("more")).code(), "relative-workspace");
    assert_eq!(connection.close_session(&s1()).await, Err(CallError::Unsupported("session/close")));
    assert_eq!(connection.delete_session(&s1()).await, Err(CallError::Unsupported("session/delete")));
    let page = connection.list_sessions(ListSessionsRequest::new()).await;
    assert_eq!(page, Err(CallError::Unsupported("session/list")));
    assert_eq!(connection.logout().await, Err(CallError::Unsupported("logout")));
    let nowhere = SessionId::new("nowhere");
    let unknown = Err(CallError::UnknownSession(nowhere.clone()));
    assert_eq!(connection.set_mode(&nowhere, &"ask".into()).await, unknown);
    assert_eq!(connection.set_model(&nowhere, "large").await, unknown);
    connection.close();
    let closed = CallError::Ended { end: End::Closed, sent: false };
    assert_eq!(connection.set_mode(&s1(), &"ask".into()).await, Err(closed));
    assert_eq!(heard.await.unwrap(), None, "nothing was sent");
}

#[tokio::test]
async fn each_call_is_written_as_the_protocol_has_it() {
    let (done, heard) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        peer.open("s1").await;
        let mut heard = Vec::new();
        let option = json!({"id": "loud", "name": "Loud", "type": "boolean", "currentValue": true});
        let session = json!({"sessionId": "old", "cwd": "/tmp", "title": null, "updatedAt": "2026-01-01T00:00:00"});
        let answers = [
            json!({}),
            json!({"configOptions": [option, {"broken": true}]}),
            Value::Null,
            json!({}),
            json!({"sessions": [session, 7], "nextCursor": "more"}),
            json!({"nextCursor": null}),
            json!({}),
            json!({}),
            json!({}),
        ];
        for answer in answers {
            let request = peer.hear().await.unwrap();
            peer.reply(&request, answer).await;
            heard.push((request["method"].as_str().unwrap().to_owned(), request["params"].clone()));
        }
        done.send(heard).unwrap();
    })
    .await;
    let mut events = opened(&connection).await;
    let connection: Arc<dyn AgentConnection> = Arc::new(connection);
    connection.set_mode(&s1(), &"ask".into()).await.unwrap();
    let options = connection.set_config_option(&s1(), &"loud".into(), true.into()).await.unwrap();
    assert_eq!((options.len(), options[0].id.to_string().as_str()), (1, "loud"));
    let options =
        connection.set_config_option(&s1(), &"model".into(), SessionConfigOptionValue::value_id("large")).await;
    assert_eq!(options, Ok(Vec::new()));
    connection.set_model(&s1(), "large").await.unwrap();
    let page =
        connection.list_sessions(ListSessionsRequest::new().cwd(std::path::PathBuf::from("/tmp"))).await.unwrap();
    assert_eq!((page.sessions.len(), page.next_cursor.as_deref()), (1, Some("more")));
    let page = connection.list_sessions(ListSessionsRequest::new().cursor("more".to_owned())).await.unwrap();
    assert_eq!((page.sessions.len(), page.next_cursor), (0, None));
    connection.delete_session(&SessionId::new("old")).await.unwrap();
    connection.authenticate(&"browser".into()).await.unwrap();
    connection.logout().await.unwrap();
    let expected = [
        ("session/set_mode", json!({"sessionId": "s1", "modeId": "ask"})),
        ("session/set_config_option", json!({"sessionId": "s1", "configId": "loud", "type": "boolean", "value": true})),
        ("session/set_config_option", json!({"sessionId": "s1", "configId": "model", "value": "large"})),
        ("session/set_model", json!({"sessionId": "s1", "modelId": "large"})),
        ("session/list", json!({"cwd": "/tmp"})),
        ("session/list", json!({"cursor": "more"})),
        ("session/delete", json!({"sessionId": "old"})),
        ("authenticate", json!({"methodId": "browser"})),
        ("logout", json!({})),
    ];
    assert_eq!(heard.await.unwrap(), expected.map(|(method, params)| (method.to_owned(), params)));
    assert_eq!(rest(&mut events).await, ["ended: connection-lost"]);
}

#[tokio::test]
async fn a_closed_session_is_over_and_the_connection_lives() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        peer.open("s1").await;
        peer.prompted().await;
        peer.ask(&json!(0), "s1", json!({}), &[("y", "allow_once")]).await;
        let close = peer.expect("session/close").await;
        peer.reply(&close, json!({})).await;
        assert_eq!(peer.answer(&json!(0)).await["outcome"]["outcome"], "cancelled");
        peer.say("s1", "late").await;
        peer.open("s1").await;
        let close = peer.expect("session/close").await;
        peer.refuse(&close, json!({"code": -32603, "message": "no"})).await;
        peer.farewell().await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let asked = question(&mut events).await;
    connection.close_session(&s1()).await.unwrap();
    assert_eq!(rest(&mut events).await, ["withdrawn", "failed: session-closed sent=true", "ended: session-closed"]);
    drop(asked);
    assert_eq!(connection.close_session(&s1()).await, Err(CallError::UnknownSession(s1())));
    let mut again = opened(&connection).await;
    assert_eq!(connection.traffic().dropped, 1);
    assert_eq!(connection.close_session(&s1()).await.unwrap_err().code(), "agent-error");
    assert!(connection.is_open(&s1()), "the agent refused");
    connection.close();
    assert_eq!(rest(&mut again).await, ["ended: closed"]);
}

#[tokio::test]
async fn a_session_that_is_opened_for_nobody_is_closed() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        let open = peer.expect("session/new").await;
        peer.expect("vendor/ready").await;
        peer.reply(&open, json!({"sessionId": "s1"})).await;
        let close = peer.expect("session/close").await;
        assert_eq!(close["params"], json!({"sessionId": "s1"}));
        peer.reply(&close, json!({})).await;
    })
    .await;
    drop(connection.open(OpenSession::new("/tmp")).unwrap());
    let ready = tokio::spawn({
        let connection = connection.clone();
        async move { connection.call_raw("vendor/ready", json!({})).await }
    });
    assert_eq!(connection.closed().await, End::OutputClosed);
    assert_eq!(ready.await.unwrap().unwrap_err().code(), "connection-lost");
    assert_eq!(connection.traffic().stray_replies, 0);
}

#[tokio::test(start_paused = true)]
async fn a_login_may_take_long_and_is_taken_back_when_nobody_waits() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        for _ in 0..2 {
            let login = peer.expect("authenticate").await;
            assert_eq!(peer.expect("$/cancel_request").await["params"]["requestId"], login["id"]);
        }
    })
    .await;
    let method = "browser".into();
    let impatient = tokio::time::timeout(Duration::from_secs(300), connection.authenticate(&method)).await;
    assert!(impatient.is_err(), "{impatient:?}");
    let late = connection.authenticate(&method).await;
    assert_eq!(late, Err(CallError::TimedOut(Duration::from_secs(600))));
    assert_eq!(connection.closed().await, End::OutputClosed);
}

#[tokio::test]
async fn a_session_that_is_loaded_for_nobody_is_closed() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        let load = peer.expect("session/load").await;
        peer.expect("vendor/ready").await;
        peer.reply(&load, json!({})).await;
        let close = peer.expect("session/close").await;
        assert_eq!(close["params"], json!({"sessionId": "s1"}));
    })
    .await;
    drop(connection.open(OpenSession::load(s1(), "/tmp")).unwrap());
    let ended = connection.call_raw("vendor/ready", json!({})).await.unwrap_err();
    assert_eq!(ended.code(), "connection-lost");
    assert!(!connection.is_open(&s1()));
}

#[tokio::test]
async fn a_session_whose_opening_nobody_read_is_closed() {
    let (done, closed) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        peer.open("s1").await;
        peer.notify("vendor/opened", json!({})).await;
        done.send(peer.expect("session/close").await["params"].clone()).unwrap();
        peer.farewell().await;
    })
    .await;
    let events = connection.open(OpenSession::new("/tmp")).unwrap();
    connection.event().await.unwrap();
    assert!(connection.is_open(&s1()));
    drop(events);
    assert!(!connection.is_open(&s1()));
    assert_eq!(closed.await.unwrap(), json!({"sessionId": "s1"}));
}

#[tokio::test]
async fn a_session_that_is_loaded_while_it_is_closed_is_the_new_one() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        peer.open("s1").await;
        let close = peer.expect("session/close").await;
        let load = peer.expect("session/load").await;
        peer.reply(&close, json!({})).await;
        peer.say("s1", "it was so").await;
        peer.reply(&load, json!({})).await;
        let prompt = peer.prompted().await;
        peer.end_turn(&prompt, "end_turn").await;
    })
    .await;
    let events = opened(&connection).await;
    let session = s1();
    let mut close = std::pin::pin!(connection.close_session(&session));
    assert!(tokio::time::timeout(Duration::from_millis(1), &mut close).await.is_err(), "it is under way");
    drop(events);
    let mut again = connection.open(OpenSession::load(s1(), "/tmp")).unwrap();
    assert_eq!(close.await, Ok(()));
    assert_eq!(word(&next(&mut again).await.unwrap()), "it was so (late)");
    assert_eq!(word(&next(&mut again).await.unwrap()), "opened s1");
    connection.prompt(&s1(), text("go")).unwrap();
    assert_eq!(rest(&mut again).await, ["end_turn sent=true", "ended: connection-lost"]);
}

#[tokio::test]
async fn a_dropped_session_is_not_open() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.expect("vendor/end").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.notify("vendor/ended", json!({})).await;
        peer.open("s2").await;
        peer.farewell().await;
    })
    .await;
    let events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    drop(events);
    assert!(connection.is_open(&s1()), "its prompt can still be cancelled");
    let _unanswered =
        tokio::time::timeout(Duration::from_millis(1), connection.call_raw("vendor/end", json!({}))).await;
    connection.event().await.unwrap();
    assert!(!connection.is_open(&s1()));
    let events = opened(&connection).await;
    drop(events);
    assert!(!connection.is_open(&SessionId::new("s2")));
}

#[tokio::test(start_paused = true)]
async fn a_replay_may_take_as_long_as_its_reader() {
    let mut options = ConnectOptions::default();
    options.limits.session_queue = 20_000;
    let script = async |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        let load = peer.expect("session/load").await;
        peer.say_often("s1", 300, 1_000).await;
        peer.reply(&load, json!({})).await;
        let load = peer.expect("session/load").await;
        assert_eq!(load["params"]["sessionId"], "s2");
        peer.expect("$/cancel_request").await;
    };
    let connection = testing::connect(script, &options).await.unwrap();
    let mut events = connection.open(OpenSession::load(s1(), "/tmp")).unwrap();
    for _ in 0..300 {
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(word(&next(&mut events).await.unwrap()).len(), "xx (late)".len() + 998);
    }
    assert_eq!(word(&next(&mut events).await.unwrap()), "opened s1");
    let mut silent = connection.open(OpenSession::load(SessionId::new("s2"), "/tmp")).unwrap();
    assert_eq!(rest(&mut silent).await, ["not opened: timeout"]);
}

#[tokio::test(start_paused = true)]
async fn a_closing_that_is_answered_late_takes_effect_all_the_same() {
    let (late, wait) = oneshot::channel::<()>();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        peer.open("s1").await;
        let close = peer.expect("session/close").await;
        wait.await.unwrap();
        peer.reply(&close, json!({})).await;
        peer.farewell().await;
    })
    .await;
    let mut events = opened(&connection).await;
    assert_eq!(connection.close_session(&s1()).await, Err(CallError::TimedOut(Duration::from_secs(60))));
    assert!(connection.is_open(&s1()));
    late.send(()).unwrap();
    assert_eq!(rest(&mut events).await, ["ended: session-closed"]);
    assert_eq!(connection.traffic().stray_replies, 0);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_opened_too_late_is_closed() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands_with(everything()).await;
        let open = peer.expect("session/new").await;
        assert_eq!(peer.expect("$/cancel_request").await["params"]["requestId"], open["id"]);
        peer.reply(&open, json!({"sessionId": "s1"})).await;
        let close = peer.expect("session/close").await;
        assert_eq!(close["params"], json!({"sessionId": "s1"}));
        peer.reply(&close, json!({})).await;
    })
    .await;
    let mut events = connection.open(OpenSession::new("/tmp")).unwrap();
    assert_eq!(rest(&mut events).await, ["not opened: timeout"]);
    assert_eq!(connection.closed().await, End::OutputClosed);
    assert_eq!(connection.traffic().stray_replies, 0);
}
