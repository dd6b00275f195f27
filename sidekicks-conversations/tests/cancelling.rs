//! Stopping a turn, at every moment, whatever the agent makes of it.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{answers, chunk, options, ready, talk, talk_counting, talk_to, tool_call};
use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::{AnswerError, Options};
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

/// A turn that is stopped after its first fragment, and that the agent then ends in this way.
async fn stopped(end: impl Fn(&Value) -> Value + Send + Sync + Clone + 'static) -> Vec<String> {
    let mut talk = talk(async move |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "Work").await;
        peer.update("s1", tool_call("t1", json!({}))).await;
        peer.expect("session/cancel").await;
        peer.say("s1", "ing").await;
        peer.send(end(&prompt["id"])).await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.until_told("m2.1 tool t1 pending").await;
    talk.told().await;
    talk.with.stop();
    talk.with.stop();
    talk.with.cancel_turn();
    talk.idle().await;
    talk.story().await
}

#[tokio::test(start_paused = true)]
async fn it_is_cancelled_whatever_the_agent_calls_it() {
    let replied = |reason: &'static str| move |id: &Value| json!({"id": id, "result": {"stopReason": reason}});
    let story =
        |end: &str| ["stopping", "m2.2 +ing", "m2.1 tool t1 cancelled", end, "idle"].map(str::to_owned).to_vec();
    assert_eq!(stopped(replied("cancelled")).await, story("m2 agent cancelled"));
    assert_eq!(stopped(replied("end_turn")).await, story("m2 agent cancelled (end_turn)"));
    assert_eq!(stopped(replied("bored")).await, story("m2 agent cancelled (bored)"));
    let error = |id: &Value| json!({"id": id, "error": {"code": -32603, "message": "Interrupted"}});
    assert_eq!(stopped(error).await, story("m2 agent cancelled (Interrupted)"));
}

#[tokio::test(start_paused = true)]
async fn after_a_cancelled_turn_the_queue_goes_on_and_after_stop_it_does_not() {
    let script = async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "Work").await;
        peer.expect("session/cancel").await;
        peer.end_turn(&prompt, "cancelled").await;
        answers(&mut peer, "Next.").await;
        peer.farewell().await;
    };
    let mut first = talk(script);
    first.with.send("1").unwrap();
    first.with.send("2").unwrap();
    first.until_told("m3.0 +Work").await;
    first.told().await;
    first.with.cancel_turn();
    first.idle().await;
    assert_eq!(
        first.story().await,
        [
            "stopping, 1 wait",
            "m3 agent cancelled",
            "m2 user",
            "starting",
            "m4 agent",
            "answering",
            "m4.0 +Next.",
            "m4 agent end_turn",
            "idle"
        ]
    );
    let mut second = talk(script);
    second.with.send("1").unwrap();
    second.with.send("2").unwrap();
    second.until_told("m3.0 +Work").await;
    second.told().await;
    second.with.stop();
    second.with.send("3").unwrap(); // What is said after Stop is meant.
    second.idle().await;
    assert_eq!(
        second.story().await,
        [
            "m2 user not sent",
            "stopping",
            "m4 user queued",
            "stopping, 1 wait",
            "m3 agent cancelled",
            "m4 user",
            "starting",
            "m5 agent",
            "answering",
            "m5.0 +Next.",
            "m5 agent end_turn",
            "idle"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_obey_is_stopped_and_started_anew() {
    let mut talk = talk_counting(async |start, mut peer: Peer| {
        ready(&mut peer).await;
        match start {
            0 => {
                peer.prompted().await;
                peer.say("s1", "La").await;
                peer.expect("session/cancel").await;
                while tokio::time::timeout(Duration::from_secs(1), peer.hear()).await.is_err() {
                    peer.say("s1", " la").await;
                }
            }
            _ => {
                answers(&mut peer, "Sorry.").await;
                peer.farewell().await;
            }
        }
    });
    talk.with.send("Sing").unwrap();
    talk.with.send("Stop singing").unwrap();
    talk.until_told("m3.0 +La").await;
    let before = Instant::now();
    talk.with.cancel_turn();
    talk.until_told("m4 agent-unresponsive").await;
    assert_eq!(before.elapsed(), Options::default().cancel_timeout);
    talk.idle().await;
    let story = talk.story().await;
    let told = story.iter().position(|word| word == "m3 agent cancelled").unwrap();
    assert_eq!(
        story[told..],
        [
            "m3 agent cancelled",
            "m4 agent-unresponsive",
            "m2 user",
            "starting",
            "m5 agent-restarted",
            "m6 agent",
            "answering",
            "m6.0 +Sorry.",
            "m6 agent end_turn",
            "idle"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancel_may_be_waited_for_as_long_as_it_takes() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "Work").await;
        peer.expect("session/cancel").await;
        tokio::time::sleep(Duration::from_secs(200)).await;
        peer.end_turn(&prompt, "cancelled").await;
        peer.farewell().await;
    });
    let mut talk = talk_to(agent, options().cancel_timeout(Duration::MAX));
    talk.with.send("Go").unwrap();
    talk.until_told("m2.0 +Work").await;
    talk.with.stop();
    talk.idle().await;
    assert_eq!(talk.story().await[6..], ["stopping", "m2 agent cancelled", "idle"]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_starts_is_not_waited_for() {
    let mut starting = talk(async |mut peer: Peer| {
        peer.farewell().await;
    });
    starting.with.send("Hello").unwrap();
    starting.until_told("starting").await;
    starting.with.stop();
    starting.idle().await;
    assert_eq!(starting.story().await, ["reset", "m1 user", "starting", "m1 user not sent", "idle"]);

    // The session that was being opened is used by the next turn.
    let (open, mut opened) = mpsc::channel::<()>(1);
    let opening = Arc::new(Mutex::new(()));
    let hold = Arc::clone(&opening).lock_owned().await;
    let mut talk = talk(async move |mut peer: Peer| {
        peer.shake_hands().await;
        let request = peer.expect("session/new").await;
        open.send(()).await.unwrap();
        drop(opening.lock().await);
        peer.reply(&request, json!({"sessionId": "s1"})).await;
        answers(&mut peer, "Yes.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    opened.recv().await.unwrap();
    talk.with.stop();
    talk.with.send("2").unwrap();
    drop(hold);
    talk.idle().await;
    assert_eq!(
        talk.story().await,
        [
            "reset",
            "m1 user",
            "starting",
            "m1 user not sent",
            "idle",
            "m2 user",
            "starting",
            "m3 agent",
            "answering",
            "m3.0 +Yes.",
            "m3 agent end_turn",
            "idle"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn with_nothing_running_nothing_is_sent() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        answers(&mut peer, "Two.").await; // The very next thing that is heard is a prompt.
        peer.farewell().await;
    });
    talk.with.stop();
    talk.with.send("1").unwrap();
    talk.idle().await;
    talk.told().await;
    talk.with.stop();
    talk.with.cancel_turn();
    assert_eq!(talk.story().await, [""; 0]);
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(start_paused = true)]
async fn a_question_does_not_outlive_its_turn() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.ask(&json!("q"), "s1", json!({"toolCallId": "t1", "title": "Write"}), common::OPTIONS).await;
        peer.say("s1", "Never mind.").await;
        peer.end_turn(&prompt, "end_turn").await;
        assert_eq!(peer.answer(&json!("q")).await["outcome"]["outcome"], "cancelled");
        answers(&mut peer, "Nobody answered twice.").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    let permission = talk.asked().await;
    talk.idle().await;
    assert_eq!(talk.with.answer(&permission.id, "yes"), Err(AnswerError::AlreadyResolved));
    assert_eq!(
        talk.story().await[5..],
        [
            "m2.0 tool t1 pending",
            "p3 asks: Write",
            "asking",
            "m2.1 +Never mind.",
            "p3 cancelled by agent",
            "m2.0 tool t1 unfinished",
            "m2 agent end_turn",
            "idle"
        ]
    );
    talk.with.send("And?").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().error, None);
}

#[tokio::test(start_paused = true)]
async fn stop_answers_the_open_questions_and_one_that_crosses_it() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.ask(&json!(1), "s1", json!({"toolCallId": "t1", "title": "Write"}), common::OPTIONS).await;
        peer.expect("session/cancel").await;
        assert_eq!(peer.answer(&json!(1)).await["outcome"]["outcome"], "cancelled");
        peer.ask(&json!(2), "s1", json!({"toolCallId": "t2", "title": "Write more"}), common::OPTIONS).await;
        assert_eq!(peer.answer(&json!(2)).await["outcome"]["outcome"], "cancelled");
        peer.end_turn(&prompt, "cancelled").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    let permission = talk.asked().await;
    talk.with.stop();
    assert_eq!(talk.with.answer(&permission.id, "yes"), Err(AnswerError::AlreadyResolved));
    talk.idle().await;
    assert_eq!(
        talk.story().await[6..],
        [
            "p3 asks: Write",
            "asking",
            "p3 cancelled by stop",
            "stopping",
            "m2.0 tool t1 cancelled",
            "m2 agent cancelled",
            "idle"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn stop_before_the_prompt_answers_what_was_asked_between_turns() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "Done.").await;
        peer.ask(&json!(1), "s1", json!({"toolCallId": "t", "title": "T"}), common::OPTIONS).await;
        assert_eq!(peer.answer(&json!(1)).await["outcome"]["outcome"], "cancelled");
        answers(&mut peer, "As you like.").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.asked().await;
    talk.told().await;
    talk.with.send("And?").unwrap();
    talk.with.stop(); // Before the agent was had.
    talk.idle().await;
    assert_eq!(talk.story().await, ["m4 user", "starting", "p3 cancelled by stop", "m4 user not sent", "idle"]);
    talk.with.send("Well?").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(start_paused = true)]
async fn a_crash_after_stop_is_told_as_one() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        peer.prompted().await;
        peer.update("s1", chunk("Work")).await;
        peer.expect("session/cancel").await;
    });
    talk.with.send("Go").unwrap();
    talk.until_told("m2.0 +Work").await;
    talk.with.stop();
    talk.idle().await;
    assert_eq!(talk.story().await[6..], ["stopping", "m2 agent failed: connection-lost", "idle"]);
}
