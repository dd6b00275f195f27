//! What comes when, and what a slow reader does.

use serde_json::{Value, json};
use sidekicks_acp::{AnswerError, End};

use super::*;

const ROUNDS: usize = 2_000;

fn chunk(session: &str, text: &str) -> Value {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})
}

fn asking(id: usize, session: &str) -> Value {
    let options = json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}]);
    let params = json!({"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": options});
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params})
}

fn ending(prompt: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": prompt["id"], "result": {"stopReason": "end_turn"}})
}

/// The lines in one write.
async fn write_all(peer: &mut Peer, lines: &[Value]) {
    peer.write(lines.iter().map(|line| format!("{line}\n")).collect::<String>()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_written_before_the_reply_is_delivered_before_the_end_of_the_turn() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        for _ in 0..ROUNDS {
            let prompt = peer.prompted().await;
            let mut lines: Vec<Value> = (0..20).map(|n| chunk("s1", &n.to_string())).collect();
            lines.push(ending(&prompt));
            lines.extend((20..40).map(|n| chunk("s1", &n.to_string())));
            write_all(&mut peer, &lines).await;
        }
    })
    .await;
    let mut expected: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    expected.push("end_turn sent=true".to_owned());
    expected.extend((20..40).map(|n| format!("{n} (late)")));
    let mut events = opened(&connection).await;
    for round in 0..ROUNDS {
        connection.prompt(&s1(), text("go")).unwrap();
        let mut words = Vec::new();
        for _ in 0..41 {
            words.push(word(&next(&mut events).await.unwrap()));
        }
        assert_eq!(words, expected, "round {round}");
    }
    assert_eq!(rest(&mut events).await, ["ended: connection-lost"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sessions_and_their_questions_keep_their_order() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.open("s2").await;
        // A fast session may send its next prompt before the other one has answered.
        let (mut prompts, mut answers) = (Vec::<Value>::new(), 0);
        for round in 0..=ROUNDS {
            while answers < 2 * round || prompts.len() < if round < ROUNDS { 2 } else { 0 } {
                let message = peer.hear().await.unwrap();
                match message["method"].as_str() {
                    Some("session/prompt") => prompts.push(message),
                    _ => answers += usize::from(message["result"]["outcome"]["optionId"] == "y"),
                }
            }
            if round == ROUNDS {
                break;
            }
            let heard = std::mem::take(&mut prompts);
            let of = |session: &str| heard.iter().find(|prompt| prompt["params"]["sessionId"] == session).unwrap();
            let mut lines = Vec::new();
            for n in 0..10 {
                lines.push(chunk("s1", &n.to_string()));
                lines.push(if n == 5 { asking(1, "s1") } else { chunk("s1", "between") });
                lines.push(chunk("s2", &n.to_string()));
                lines.push(if n == 7 { asking(2, "s2") } else { chunk("s2", "between") });
            }
            lines.extend([ending(of("s2")), chunk("s1", "last"), ending(of("s1")), chunk("s2", "after")]);
            write_all(&mut peer, &lines).await;
        }
    })
    .await;
    let expected = |asks_at: usize, end: &[&str]| {
        let mut words = Vec::new();
        for n in 0..10 {
            words.push(n.to_string());
            words.push(if n == asks_at { "asks {\"toolCallId\":\"t\"}" } else { "between" }.to_owned());
        }
        words.extend(end.iter().map(|&word| word.to_owned()));
        words
    };
    let follow = |mut events: SessionEvents, id: &'static str, expected: Vec<String>| {
        let connection = connection.clone();
        async move {
            for round in 0..ROUNDS {
                connection.prompt(&SessionId::new(id), text("go")).unwrap();
                let mut words = Vec::new();
                for _ in 0..expected.len() {
                    let event = next(&mut events).await.unwrap();
                    words.push(word(&event));
                    if let SessionEvent::Permission(request) = &event {
                        request.select("y").unwrap();
                    }
                }
                assert_eq!(words, expected, "{id}, round {round}");
            }
        }
    };
    let (first, second) = (opened(&connection).await, opened(&connection).await);
    let first = tokio::spawn(follow(first, "s1", expected(5, &["last", "end_turn sent=true"])));
    let second = tokio::spawn(follow(second, "s2", expected(7, &["end_turn sent=true", "after (late)"])));
    first.await.unwrap();
    second.await.unwrap();
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

/// An agent whose first session floods and is not read, while a second one is open.
async fn flooded() -> (Connection, SessionEvents, SessionEvents) {
    let mut options = ConnectOptions::default();
    options.limits.session_queue = 100_000;
    let script = async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.open("s2").await;
        peer.prompted().await;
        peer.ask(&json!(7), "s1", json!({}), &[("y", "allow_once")]).await;
        for n in 0..1_000 {
            peer.say("s1", &format!("{n}: {}", "x".repeat(500))).await;
        }
        // Whoever waited behind the flood; what was said meanwhile is in the way.
        loop {
            match peer.hear().await {
                Some(message) if message["method"] == "session/prompt" => peer.end_turn(&message, "end_turn").await,
                Some(message) if message["method"] == "vendor/call" => peer.reply(&message, json!({})).await,
                Some(message) if message["method"] == "session/cancel" => peer.say("s1", "too late").await,
                Some(message) if message["id"] == 7 => peer.say("s2", "the question was answered").await,
                Some(message) => panic!("{message}"),
                None => return,
            }
        }
    };
    let connection = testing::connect(script, &options).await.unwrap();
    let first = opened(&connection).await;
    let second = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    (connection, first, second)
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_holds_up_another_session_is_given_up() {
    let (connection, mut first, mut second) = flooded().await;
    // Nobody waits, so the agent does, for as long as it takes.
    tokio::time::sleep(Duration::from_secs(86_400)).await;
    assert!(connection.is_open(&s1()));
    let begun = tokio::time::Instant::now();
    connection.prompt(&SessionId::new("s2"), text("go")).unwrap();
    let mut words = Vec::new();
    for _ in 0..2 {
        words.push(word(&next(&mut second).await.unwrap()));
    }
    assert_eq!(words, ["end_turn sent=true", "the question was answered (late)"]);
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
    assert!(!connection.is_open(&s1()));
    let dropped = connection.traffic().dropped;
    // What it had is there, in order and to its end.
    let asked = question(&mut first).await;
    assert_eq!(asked.select("y"), Err(AnswerError::AlreadySettled));
    let words = rest(&mut first).await;
    let (end, chunks) = words.split_last_chunk::<3>().map(|(chunks, end)| (end, chunks)).unwrap();
    assert_eq!(end, &["withdrawn", "failed: reader-stalled sent=true", "ended: reader-stalled"]);
    assert!(chunks.iter().enumerate().all(|(n, chunk)| chunk.starts_with(&format!("{n}: "))), "{chunks:?}");
    assert_eq!(chunks.len() as u64 + dropped, 1_001, "what came later was counted");
    assert_eq!(connection.end(), None);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_holds_up_a_call_is_given_up_and_one_that_reads_is_not() {
    let (connection, mut first, _second) = flooded().await;
    let call = || {
        let connection = connection.clone();
        tokio::spawn(async move { connection.call_raw("vendor/call", json!({})).await })
    };
    let asked = question(&mut first).await;
    let held_up = call();
    // A reader that comes back in time loses nothing.
    tokio::time::sleep(Duration::from_secs(29)).await;
    for n in 0..1_000 {
        assert!(word(&next(&mut first).await.unwrap()).starts_with(&format!("{n}: ")));
    }
    assert_eq!(held_up.await.unwrap(), Ok(json!({})));
    assert!(connection.is_open(&s1()));
    drop(asked);
    // Events that are dropped hold nobody up.
    drop(first);
    assert_eq!(call().await.unwrap(), Ok(json!({})));
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_holds_up_a_call_is_given_up() {
    let mut options = ConnectOptions::default();
    options.limits.session_queue = 100_000;
    let script = async |mut peer: Peer| {
        peer.shake_hands_with(json!({"loadSession": true})).await;
        let load = peer.expect("session/load").await;
        let call = peer.expect("vendor/call").await;
        peer.say_often("s1", 1_000, 500).await;
        peer.reply(&call, json!({})).await;
        peer.reply(&load, json!({})).await;
        let again = peer.expect("$/cancel_request").await;
        assert_eq!(again["params"]["requestId"], load["id"]);
        let load = peer.expect("session/load").await;
        peer.reply(&load, json!({})).await;
    };
    let connection = testing::connect(script, &options).await.unwrap();
    let mut events = connection.open(OpenSession::load(s1(), "/tmp")).unwrap();
    assert_eq!(connection.call_raw("vendor/call", json!({})).await, Ok(json!({})));
    let words = rest(&mut events).await;
    assert_eq!(words.last().unwrap(), "not opened: reader-stalled");
    assert!(!connection.is_open(&s1()), "the answer that came later changes nothing");
    let mut again = connection.open(OpenSession::load(s1(), "/tmp")).unwrap();
    assert_eq!(rest(&mut again).await, ["opened s1", "ended: connection-lost"]);
}

#[tokio::test(start_paused = true)]
async fn of_two_crowded_sessions_the_one_that_is_read_goes_on() {
    let mut options = ConnectOptions::default();
    options.limits.session_queue = 2_000;
    let script = async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.open("s2").await;
        let prompt = peer.prompted().await;
        let lines: Vec<Value> = (0..40).map(|n| chunk(if n < 20 { "s1" } else { "s2" }, &"x".repeat(200))).collect();
        write_all(&mut peer, &lines).await;
        peer.expect("vendor/go").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    };
    let connection = testing::connect(script, &options).await.unwrap();
    let mut first = opened(&connection).await;
    let mut second = opened(&connection).await;
    let s2 = SessionId::new("s2");
    connection.prompt(&s2, text("go")).unwrap();
    for _ in 0..20 {
        next(&mut second).await.unwrap();
    }
    let begun = tokio::time::Instant::now();
    let _unanswered = tokio::time::timeout(Duration::from_millis(1), connection.call_raw("vendor/go", json!({}))).await;
    assert_eq!(word(&next(&mut second).await.unwrap()), "end_turn sent=true");
    assert!(begun.elapsed() <= Duration::from_secs(31), "{:?}", begun.elapsed());
    assert_eq!(rest(&mut first).await.last().unwrap(), "ended: reader-stalled");
}

#[tokio::test(start_paused = true)]
async fn a_stall_may_last_for_ever() {
    let mut options = ConnectOptions::default();
    options.limits.session_queue = 2_000;
    options.stall_timeout = Duration::MAX;
    options.call_timeout = Duration::MAX;
    let script = async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        let call = peer.expect("vendor/call").await;
        peer.say_often("s1", 1_000, 200).await; // More than one read takes.
        peer.reply(&call, json!({})).await;
        peer.farewell().await;
    };
    let connection = testing::connect(script, &options).await.unwrap();
    let mut events = opened(&connection).await;
    let mut call = std::pin::pin!(connection.call_raw("vendor/call", Value::Null));
    assert!(tokio::time::timeout(Duration::from_secs(365 * 86_400), &mut call).await.is_err());
    for _ in 0..1_000 {
        next(&mut events).await.unwrap();
    }
    assert_eq!(call.await, Ok(json!({})));
}

#[tokio::test]
async fn ids_and_methods_count_for_what_is_kept() {
    let mut options = ConnectOptions::default();
    options.limits.session_queue = 1_000_000;
    let (written, mut writing) = tokio::sync::watch::channel(0);
    let script = async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        for n in 0..100 {
            peer.ask(&json!("q".repeat(500_000)), "s1", json!({}), &[("y", "allow_once")]).await;
            written.send_replace(n);
        }
        peer.farewell().await;
    };
    let connection = testing::connect(script, &options).await.unwrap();
    let _events = opened(&connection).await;
    let mut before = 0;
    while tokio::time::timeout(Duration::from_millis(300), writing.wait_for(|&now| now > before)).await.is_ok() {
        before = *writing.borrow();
    }
    assert!(before < 5, "the agent waits: {before}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_waits_for_holds_nobody_up() {
    let mut options = ConnectOptions::default();
    options.limits.session_queue = 2_000;
    let script = async |mut peer: Peer| {
        peer.shake_hands_with(json!({"sessionCapabilities": {"close": {}}})).await;
        peer.open("s0").await;
        peer.notify("vendor/opened", json!({})).await;
        peer.expect("session/close").await; // It does not answer.
        peer.open("s1").await;
        peer.say_often("s1", 1_000, 200).await;
        peer.farewell().await;
    };
    let connection = testing::connect(script, &options).await.unwrap();
    drop(connection.open(OpenSession::new("/tmp")).unwrap());
    connection.event().await.unwrap();
    let mut events = opened(&connection).await;
    tokio::time::sleep(Duration::from_secs(86_400)).await;
    assert!(connection.is_open(&s1()));
    for _ in 0..1_000 {
        assert!(word(&next(&mut events).await.unwrap()).starts_with('x'));
    }
}
