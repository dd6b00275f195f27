//! Updates that are not as the schema has them, or not where they belong.

use crate::lines::say;
use crate::stage::{Entry, delivered, play, skipped};

/// An update of session `s1`.
fn update(update: &str) -> String {
    format!(r#"{{"method":"session/update","params":{{"sessionId":"s1","update":{update}}}}}"#) + "\n"
}

#[tokio::test(start_paused = true)]
async fn what_the_schema_does_not_know_is_delivered_raw() {
    let unknown = "unknown `sessionUpdate`; unknown content type";
    let broken = "an update with a missing or wrong field";
    let other = |row, json: &str, word: &'static str| delivered(row, update(json), &[word]);
    play(vec![
        other(unknown, r#"{"sessionUpdate":"hologram","x":1.50}"#, r#"other hologram: {"sessionUpdate":"hologram","x":1.50}"#),
        other(
            unknown,
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"smell","of":"rain"}}"#,
            r#"other agent_message_chunk: {"sessionUpdate":"agent_message_chunk","content":{"type":"smell","of":"rain"}}"#,
        ),
        other(broken, r#"{"title":"no word"}"#, r#"other : {"title":"no word"}"#),
        other(broken, r#"{"sessionUpdate":7}"#, r#"other : {"sessionUpdate":7}"#),
        other(broken, r#"{}"#, "other : {}"),
        other(broken, r#"null"#, "other : null"),
        other(broken, r#"[1]"#, "other : [1]"),
        other(broken, r#""text""#, r#"other : "text""#),
        other(
            broken,
            r#"{"sessionUpdate":"agent_message_chunk"}"#,
            r#"other agent_message_chunk: {"sessionUpdate":"agent_message_chunk"}"#,
        ),
        other(
            broken,
            r#"{"sessionUpdate":"tool_call","title":5}"#,
            r#"other tool_call: {"sessionUpdate":"tool_call","title":5}"#,
        ),
        other(
            broken,
            r#"{"sessionUpdate":"plan","entries":"none"}"#,
            r#"{"sessionUpdate":"plan","entries":[]}"#,
        ),
        // No update at all.
        delivered(broken, "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\"}}\n", &["other : null"]),
        // For no session that can be read.
        skipped(broken, "{\"method\":\"session/update\",\"params\":{\"update\":{}}}\n", "dropped 1"),
        skipped(broken, "{\"method\":\"session/update\",\"params\":{\"sessionId\":7,\"update\":{}}}\n", "dropped 1"),
        skipped(broken, "{\"method\":\"session/update\",\"params\":[]}\n", "dropped 1"),
        skipped(broken, "{\"method\":\"session/update\"}\n", "dropped 1"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn unknown_words_are_kept_raw_and_typed_as_other() {
    let row = "unknown tool kind or status, plan priority";
    let typed = |json: &str, word: &'static str| delivered(row, update(json), &[word]);
    play(vec![
        typed(
            r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":"teleport","status":"pondering"}"#,
            r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}"#,
        ),
        typed(
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"pondering"}"#,
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"t"}"#,
        ),
        typed(
            r#"{"sessionUpdate":"plan","entries":[{"content":"c","priority":"urgent","status":"blocked"}]}"#,
            r#"{"sessionUpdate":"plan","entries":[]}"#,
        ),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn of_a_field_that_comes_twice_the_last_one_counts() {
    let row = "duplicate keys in an object";
    play(vec![
        delivered(row, update(r#"{"sessionUpdate":"plan","sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"},"content":{"type":"text","text":"x","text":"a"}}"#), &["a"]),
        delivered(row, format!("{}\n", say!("a").replace(r#""sessionId":"s1""#, r#""sessionId":"s2","sessionId":"s1""#)), &["a"]),
        delivered(row, format!("{}\n", say!("a").replace(r#""method""#, r#""method":"x/y","method""#)), &["a"]),
        Entry {
            events: vec!["refusal", "alive (late)"],
            ..skipped(row, r#"{"id":99,"id":ID,"result":7,"result":{"stopReason":"x","stopReason":"refusal"}}"#.to_owned() + "\n", "stray 1")
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn updates_and_questions_that_belong_to_nobody_are_counted() {
    let row = "updates and questions after the turn ended; for another or a closed session";
    let end = r#"{"id":ID,"result":{"stopReason":"refusal"}}"#;
    let ask = r#"{"id":"q","method":"session/request_permission","params":{"sessionId":"S","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}}"#;
    let cancelled = r#"{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"cancelled"}}}"#;
    let selected = r#"{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"selected","optionId":"y"}}}"#;
    let elsewhere = say!("a").replace("s1", "elsewhere");
    play(vec![
        Entry {
            events: vec!["refusal", "a (late)", "alive (late)"],
            ..skipped(row, format!("{end}\n{}\n", say!("a")), "stray 1")
        },
        Entry {
            events: vec!["refusal", "asks about t: y Y \"allow_once\"", "alive (late)"],
            answers: vec![selected],
            ..skipped(row, format!("{end}\n{}\n", ask.replace('S', "s1")), "stray 1")
        },
        skipped(row, format!("{elsewhere}\n{elsewhere}\n"), "dropped 2"),
        Entry { answers: vec![cancelled], ..skipped(row, ask.replace('S', "elsewhere") + "\n", "dropped 1") },
    ])
    .await;
}
