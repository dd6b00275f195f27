//! Questions: what follows an answer, and how they end when the turn is stopped.

use serde_json::{Value, json};
use sidekicks_acp::testing::Peer;
use sidekicks_conversations::{Action, AnswerError};

use crate::common::{OPTIONS, answers, chunk, ready, settled, talk, tool_call, tool_update, word};

#[tokio::test(start_paused = true)]
async fn a_refusal_is_followed_by_whatever_the_agent_makes_of_it() {
    let failed = || tool_update("t", json!({"status": "failed"}));
    let cases: [(Vec<Value>, &str, &[&str]); 4] = [
        (
            vec![failed(), chunk("Then not.")],
            "end_turn",
            &["m3.0 tool t failed", "m3.1 +Then not.", "m3 agent end_turn"],
        ),
        (vec![failed()], "end_turn", &["m3.0 tool t failed", "m3 agent end_turn"]),
        (vec![failed()], "cancelled", &["m3.0 tool t failed", "m3 agent cancelled"]),
        (vec![], "cancelled", &["m3.0 tool t cancelled", "m3 agent cancelled"]),
    ];
    for (told, reason, expected) in cases {
        let updates = told.clone();
        let mut talk = talk(async move |mut peer: Peer| {
            ready(&mut peer).await;
            let prompt = peer.prompted().await;
            peer.update("s1", tool_call("t", json!({"status": "pending"}))).await;
            peer.ask(&json!(0), "s1", json!({"toolCallId": "t"}), OPTIONS).await;
            assert_eq!(peer.answer(&json!(0)).await["outcome"]["optionId"], "no");
            for update in updates {
                peer.update("s1", update).await;
            }
            peer.end_turn(&prompt, reason).await;
            answers(&mut peer, "Next.").await;
            peer.farewell().await;
        });
        talk.with.send("1").unwrap();
        talk.with.send("2").unwrap();
        let permission = talk.asked().await;
        talk.with.answer(&permission.id, "no").unwrap();
        talk.idle().await;
        let story = talk.story().await;
        let answered = story.iter().position(|word| word.contains("selected no by user")).unwrap();
        assert_eq!(story[answered + 1], "answering, 1 wait");
        assert_eq!(&story[answered + 2..answered + 2 + expected.len()], expected, "{told:?} {reason}");
        // What waits is sent although the agent calls it a cancel: nobody stopped it.
        assert_eq!(story[story.len() - 2..], ["m5 agent end_turn", "idle"], "{told:?} {reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_stopped_and_taken_back_is_settled_once() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.ask(&json!(0), "s1", json!({"toolCallId": "t"}), OPTIONS).await;
        peer.expect("session/cancel").await;
        assert_eq!(peer.answer(&json!(0)).await["outcome"]["outcome"], "cancelled");
        // It crosses our answer on the way.
        peer.notify("$/cancel_request", json!({"requestId": 0})).await;
        peer.end_turn(&prompt, "cancelled").await;
        answers(&mut peer, "Nothing was answered twice.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    let permission = talk.asked().await;
    talk.with.stop();
    talk.idle().await;
    assert_eq!(talk.with.answer(&permission.id, "yes"), Err(AnswerError::AlreadyResolved));
    let story = talk.story().await;
    assert_eq!(
        story.iter().filter(|word| word.starts_with("p3 cancelled")).collect::<Vec<_>>(),
        ["p3 cancelled by stop"]
    );
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(start_paused = true)]
async fn a_question_to_the_person_may_come_as_one_for_permission() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        let call = json!({"toolCallId": "q", "title": "Which colour?", "kind": "think", "rawInput":
            {"questions": [{"question": "Which colour?", "options": ["red", "blue"]}]}});
        let options = json!([
            {"optionId": "proceed_once", "name": "Submit", "kind": "allow_once"},
            {"optionId": "cancel", "name": "Cancel", "kind": "reject_once"}
        ]);
        let params = json!({"sessionId": "s1", "toolCall": call, "options": options});
        peer.request(&json!(0), "session/request_permission", params).await;
        assert_eq!(peer.answer(&json!(0)).await["outcome"]["optionId"], "proceed_once");
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    let asked = talk.asked().await;
    assert_eq!((asked.title.as_str(), asked.action), ("Which colour?", Action::Other));
    assert_eq!(asked.raw_input["questions"][0]["options"], json!(["red", "blue"]));
    let labels: Vec<_> = asked.options.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(labels, ["Submit", "Cancel"]);
    talk.with.answer(&asked.id, "proceed_once").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_under_an_id_that_no_call_has_is_no_failure() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.update("s1", tool_call("t", json!({"status": "pending"}))).await;
        let question = json!({"toolCallId": "confirmation-1", "title": "make", "rawInput": {"command": "make"}});
        peer.ask(&json!(0), "s1", question, OPTIONS).await;
        peer.answer(&json!(0)).await;
        peer.update("s1", tool_update("t", json!({"status": "failed"}))).await;
        peer.say("s1", "Then not.").await;
        settled().await; // Whoever counts does so while the turn runs.
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    let permission = talk.asked().await;
    assert_eq!((permission.title.as_str(), permission.command.as_deref()), ("make", Some("make")));
    talk.with.answer(&permission.id, "no").unwrap();
    talk.until(|event| word(event).ends_with("+Then not.").then_some(())).await;
    assert_eq!(talk.with.messages().turn.failed_tools, 0, "the person refused it");
}

#[tokio::test(start_paused = true)]
async fn a_form_that_was_not_offered_holds_no_turn_up() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        // Without the `type` that a schema has, and of a tool that nobody knows.
        let schema = json!({"properties": {"colour": {"type": "string"}}});
        let form = json!({"sessionId": "s1", "mode": "form", "message": "Which?", "toolCallId": "x", "requestedSchema": schema});
        peer.elicit(&json!("e"), form).await;
        assert_eq!(peer.answer(&json!("e")).await, json!({"action": "decline"}));
        peer.say("s1", "Red, then.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert_eq!(story[5..], ["m2.0 +Red, then.", "m2 agent end_turn", "idle"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_offered_to_the_agent_is_refused_at_once() {
    let mut talk = talk(async |mut peer: Peer| {
        let initialize = peer.expect("initialize").await;
        let offered = &initialize["params"]["clientCapabilities"];
        assert_eq!((&offered["fs"]["readTextFile"], &offered["terminal"]), (&json!(false), &json!(false)));
        peer.reply(&initialize, json!({"protocolVersion": 1})).await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output"] {
            peer.request(&json!(method), method, json!({"sessionId": "s1", "path": "/a", "command": "ls"})).await;
            let refused = peer.hear().await.unwrap();
            assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(method), &json!(-32601)));
        }
        peer.say("s1", "As you like.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    assert_eq!(talk.story().await[5..], ["m2.0 +As you like.", "m2 agent end_turn", "idle"]);
}
