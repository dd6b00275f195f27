//! What an agent tells that is no part of an answer: notices, and that it compacts its context.

mod common;

use common::{answers, chunk, ready, talk, talk_counting};
use serde_json::{Map, Value, json};
use sidekicks_acp::testing::Peer;
use sidekicks_conversations::{Conversation, Event, Role};

fn notice(severity: &str, title: &str, description: Value) -> Value {
    json!({"sessionUpdate": "notice", "severity": severity, "title": title, "description": description})
}

fn compaction(status: &str, more: Value) -> Value {
    common::with(json!({"sessionUpdate": "compaction_update", "compactionId": "c1", "status": status}), more)
}

fn summary_chunk(text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c1", "content": content})
}

/// What is told with a message of the system.
fn params(event: &Event) -> Option<Map<String, Value>> {
    match event {
        Event::MessageUpdated { message, .. } => message.params.clone(),
        _ => None,
    }
}

/// What the system says, and the words of the answers between, in order.
fn read(with: &Conversation) -> Vec<Value> {
    let messages = &with.messages().messages;
    let said = messages.iter().filter(|message| message.role != Role::User);
    said.map(|message| match &message.code {
        Some(code) => json!([code, message.params]),
        None => json!(message.parts.iter().map(common::part_word).collect::<Vec<_>>()),
    })
    .collect()
}

#[tokio::test(start_paused = true)]
async fn a_notice_is_no_part_of_the_answer() {
    let mut talk = talk(async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.update("s1", notice("info", "Before it is open", Value::Null)).await;
        peer.reply(&open, json!({"sessionId": "s1"})).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "One ").await;
        peer.update("s1", notice("warning", "A server is away", json!("It goes on without."))).await;
        peer.update("s1", notice("_quaint", "T", json!(7))).await;
        peer.say("s1", "answer.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.update("s1", notice("error", "Afterwards", json!(""))).await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.until(|event| params(event).filter(|params| params["text"] == "Afterwards")).await;
    talk.told().await;
    let expected = [
        json!(["notice", {"text": "Before it is open", "severity": "info"}]),
        json!(["text One answer."]),
        json!(["notice", {"text": "A server is away", "description": "It goes on without.", "severity": "warning"}]),
        json!(["notice", {"text": "T", "severity": "_quaint"}]),
        json!(["notice", {"text": "Afterwards", "severity": "error"}]),
    ];
    assert_eq!(read(&talk.with), expected);
}

#[tokio::test(start_paused = true)]
async fn a_compaction_is_one_message_until_it_is_over() {
    let text = |text: &str| json!({"summary": [{"type": "text", "text": text}, {"type": "image"}, {"type": "text", "text": "!"}]});
    let cases: [(&str, Vec<Value>, Vec<Value>); 5] = [
        (
            "told when it is over",
            vec![compaction("completed", text("Kept"))],
            vec![json!({"status": "completed", "summary": "Kept!"})],
        ),
        (
            "in pieces",
            vec![
                compaction("in_progress", json!({})),
                summary_chunk("We "),
                summary_chunk("build."),
                compaction("completed", json!({})),
            ],
            vec![json!({"status": "in_progress"}), json!({"status": "completed", "summary": "We build."})],
        ),
        (
            "the whole takes the place of the pieces, and null of the whole",
            vec![
                summary_chunk("We "),
                compaction("completed", text("All")),
                compaction("completed", json!({"summary": null})),
            ],
            vec![
                json!({"status": "in_progress"}),
                json!({"status": "completed", "summary": "All!"}),
                json!({"status": "completed"}),
            ],
        ),
        (
            "failed",
            vec![compaction("in_progress", json!({})), compaction("failed", json!({"error": "no model"}))],
            vec![json!({"status": "in_progress"}), json!({"status": "failed", "error": "no model"})],
        ),
        (
            "a word of its own, and nothing more of it",
            vec![compaction("_frozen", json!({"summary": [], "error": null}))],
            vec![json!({"status": "_frozen"})],
        ),
    ];
    for (case, updates, expected) in cases {
        let mut talk = talk(async move |mut peer: Peer| {
            ready(&mut peer).await;
            common::updates(&mut peer, updates.into_iter().chain([chunk("Done.")])).await;
            peer.farewell().await;
        });
        talk.with.send("Go").unwrap();
        talk.idle().await;
        let told = talk.told().await;
        let told: Vec<Value> = told.iter().filter_map(|event| params(event)).map(Value::from).collect();
        assert_eq!(told, expected, "{case}");
        let last = expected.last().unwrap();
        assert_eq!(read(&talk.with), [json!(["text Done."]), json!(["context-compacted", last])], "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_compacted_for_ever() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        peer.prompted().await;
        peer.update("s1", compaction("in_progress", json!({}))).await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    talk.told().await;
    assert_eq!(read(&talk.with), [json!([]), json!(["context-compacted", {"status": "unfinished"}])]);
}

#[tokio::test(start_paused = true)]
async fn of_what_is_told_again_only_a_notice_is_news() {
    let mut talk = talk_counting(async |start, mut peer: Peer| {
        peer.shake_hands_with(json!({"loadSession": true})).await;
        if start == 0 {
            peer.open("s1").await;
            return answers(&mut peer, "First.").await;
        }
        let load = peer.expect("session/load").await;
        let said = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "One"}});
        for update in [said, chunk("First."), compaction("completed", json!({}))] {
            peer.update("s1", update).await;
        }
        peer.update("s1", notice("warning", "A server is away", Value::Null)).await;
        peer.reply(&load, json!({})).await;
        answers(&mut peer, "Second.").await;
        peer.farewell().await;
    });
    for text in ["One", "Two"] {
        talk.with.send(text).unwrap();
        talk.idle().await;
    }
    talk.told().await;
    let expected = [
        json!(["text First."]),
        json!(["agent-exited", null]),
        json!(["notice", {"text": "A server is away", "severity": "warning"}]),
        json!(["session-resumed", null]),
        json!(["text Second."]),
    ];
    assert_eq!(read(&talk.with), expected);
}
