//! A message in every form that agents write it in, and over several lines.

use serde_json::{Value, json};
use sidekicks_acp::AgentConnection;
use sidekicks_acp::testing::{Form, Peer};

use crate::stage::{Entry, connect, count, delivered, opened, play, rest, s1, skipped, text, turn};

/// The message as an embedder's test writes it, which must be what the rows say.
#[tokio::test(start_paused = true)]
async fn every_form_of_a_message_is_taken() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        for form in Form::ALL {
            let call = peer.expect("vendor/ping").await;
            peer.send_as(*form, &json!({"jsonrpc": "2.0", "id": call["id"], "result": format!("{form:?}")})).await;
        }
        peer.say_bytes("s1", b"caf\xE9").await;
        peer.send_on_one_line(&[json!({"method": "a"}), json!({"method": "b"})]).await;
        peer.send_batch(&[json!({"method": "c"}), json!({"method": "d"})]).await;
        let call = peer.expect("vendor/ping").await;
        peer.reply_to_text_id(&call, json!(1)).await;
        let call = peer.expect("vendor/ping").await;
        peer.reply_twice(&call, json!(2)).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.send_half(&json!({"method": "session/update", "params": {}})).await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    for form in Form::ALL {
        let pong = connection.call_raw("vendor/ping", Value::Null).await;
        assert_eq!(pong, Ok(json!(format!("{form:?}"))));
    }
    for number in [1, 2] {
        assert_eq!(connection.call_raw("vendor/ping", Value::Null).await, Ok(json!(number)));
    }
    let words = rest(&mut events).await;
    assert_eq!(words, ["caf\u{FFFD}", "end_turn", "ended: connection-lost"]);
    assert_eq!(count(&connection.traffic()), "noise 1, stray 1, unknown 4");
}

#[tokio::test(start_paused = true)]
async fn a_message_over_many_lines_is_gathered() {
    let row = "one reply pretty-printed over many lines";
    let pretty = |value: &Value| format!("{value:#}\n");
    let say = |text: &str| {
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        json!({"method": "session/update", "params": {"sessionId": "s1", "update": update}})
    };
    let brackets = pretty(&say(r#"} ] "{"#));
    play(vec![
        delivered(row, pretty(&say("a")), &["a"]),
        delivered(row, pretty(&say("a")).replace('\n', "\r\n"), &["a"]),
        delivered(row, format!("\x1b[0m{}", pretty(&say("a"))), &["a"]),
        delivered(row, brackets, &[r#"} ] "{"#]),
        delivered(row, pretty(&say("a")) + &pretty(&say("b")), &["a", "b"]),
        Entry {
            events: vec!["refusal", "alive (late)"],
            ..skipped(row, "{\n  \"id\": ID,\n  \"result\": {\n    \"stopReason\": \"refusal\"\n  }\n}\n", "stray 1")
        },
        // A message on its own line shows that the brace before it was none; so does "alive" after these.
        skipped(row, "{\n", "noise 1"),
        skipped(row, "{\nof a log\n\n", "noise 1"),
        skipped(row, "{\n\"a\": 1\n}\n", "noise 1"),
        skipped(row, "{\n]\n", "noise 1"),
        delivered(row, format!("{{\n\"id\": ID,\n{}\n", say("a")), &["a"]).counting("noise 1"),
        delivered(
            row,
            "{\n  \"method\": \"session/update\",\n\n\n\"params\":{\"sessionId\":\"s1\",\"update\":{}}\n}\n",
            &["other : {}"],
        ),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn no_more_than_a_mebibyte_is_gathered() {
    let filling = format!("\"{}\",\n", "y".repeat(10_000));
    let mut lines = "{\n\"a\": [\n".to_owned();
    for _ in 0..300 {
        lines += &filling;
    }
    let (events, traffic, answers) = turn(lines.into_bytes()).await;
    assert_eq!((events, answers), (vec!["alive".to_owned(), "end_turn".to_owned()], vec![]));
    // What was gathered is one piece of noise, and each line after it one more.
    let gathered = (1 << 20) / filling.len() as u64 + 1;
    assert_eq!(traffic.noise, 1 + 300 - gathered);
}
