//! How a question is answered, by whom, and what a late answer comes to.

mod common;

use std::sync::Arc;

use common::{Talk, ready, talk};
use serde_json::json;
use sidekicks_acp::testing::Peer;
use sidekicks_conversations::{AnswerError, PermissionId};

/// A turn with two questions at once.
fn two_at_once() -> Talk {
    talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        for id in ["a", "b"] {
            peer.ask(&json!(id), "s1", json!({"toolCallId": id, "title": id}), common::OPTIONS).await;
        }
        let answer = peer.answer(&json!("b")).await;
        peer.say("s1", answer["outcome"]["optionId"].as_str().unwrap()).await;
        let answer = peer.answer(&json!("a")).await;
        peer.say("s1", answer["outcome"]["optionId"].as_str().unwrap()).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    })
}

#[tokio::test(start_paused = true)]
async fn several_are_open_at_once_and_answered_in_any_order() {
    let mut talk = two_at_once();
    talk.with.send("Go").unwrap();
    let (a, b) = (talk.asked().await, talk.asked().await);
    assert_eq!(talk.with.messages().permissions, [Arc::clone(&a), Arc::clone(&b)]);
    talk.with.answer(&b.id, "no").unwrap();
    talk.until_told("m2.2 +no").await;
    assert_eq!(talk.with.messages().permissions, [Arc::clone(&a)]);
    talk.with.answer(&a.id, "always").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    let phases: Vec<_> = story.iter().filter(|word| word.ends_with("ing") && !word.contains(' ')).collect();
    assert_eq!(phases, ["starting", "answering", "asking", "answering"], "it asks until both are answered");
}

#[tokio::test(start_paused = true)]
async fn a_wrong_answer_changes_nothing() {
    let mut talk = two_at_once();
    talk.with.send("Go").unwrap();
    let (a, b) = (talk.asked().await, talk.asked().await);
    let unknown: PermissionId = serde_json::from_value(json!("p99")).unwrap();
    talk.told().await;
    assert_eq!(talk.with.answer(&a.id, "perhaps"), Err(AnswerError::NoSuchOption));
    assert_eq!(talk.with.answer(&unknown, "yes"), Err(AnswerError::AlreadyResolved));
    assert_eq!(talk.story().await, [""; 0]);
    talk.with.answer(&b.id, "yes").unwrap();
    assert_eq!(talk.with.answer(&b.id, "no"), Err(AnswerError::AlreadyResolved));
    talk.with.answer(&a.id, "yes").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

/// An agent that asks once and says what it was answered.
fn asks_once() -> Talk {
    talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.ask(&json!(0), "s1", json!({"toolCallId": "t", "title": "T"}), common::OPTIONS).await;
        let answer = peer.answer(&json!(0)).await;
        peer.say("s1", answer["outcome"]["optionId"].as_str().unwrap_or("nothing")).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    })
}

#[tokio::test(start_paused = true)]
async fn of_two_who_answer_at_once_one_is_heard() {
    for _ in 0..50 {
        let mut talk = asks_once();
        talk.with.send("Go").unwrap();
        let permission = talk.asked().await;
        let start = std::sync::Barrier::new(2);
        let results = std::thread::scope(|scope| {
            let answers = ["yes", "no"].map(|option| {
                let (with, start, id) = (talk.with.clone(), &start, &permission.id);
                scope.spawn(move || {
                    start.wait();
                    with.answer(id, option)
                })
            });
            answers.map(|answer| answer.join().unwrap())
        });
        let heard = match results {
            [Ok(()), Err(AnswerError::AlreadyResolved)] => "yes",
            [Err(AnswerError::AlreadyResolved), Ok(())] => "no",
            other => panic!("one is heard and the other is told so: {other:?}"),
        };
        talk.idle().await;
        let story = talk.story().await;
        let resolved: Vec<_> = story.iter().filter(|word| word.starts_with("p3 selected")).collect();
        assert_eq!(resolved, [&format!("p3 selected {heard} by user")]);
        assert!(story.contains(&format!("m2.1 +{heard}")), "the agent heard the same: {story:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_agent_may_take_its_question_back() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.ask(&json!("q"), "s1", json!({"toolCallId": "t", "title": "T"}), common::OPTIONS).await;
        peer.send(json!({"method": "$/cancel_request", "params": {"requestId": "q"}})).await;
        assert_eq!(peer.answer(&json!("q")).await["outcome"]["outcome"], "cancelled");
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert_eq!(story[6..10], ["p3 asks: T", "asking", "p3 cancelled by agent", "answering"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_outside_a_turn_can_be_answered_or_given_up() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        common::answers(&mut peer, "Done.").await;
        for (id, outcome) in [(0, "selected"), (1, "cancelled")] {
            peer.ask(&json!(id), "s1", json!({"toolCallId": "t", "title": "T"}), common::OPTIONS).await;
            assert_eq!(peer.answer(&json!(id)).await["outcome"]["outcome"], outcome);
        }
        common::answers(&mut peer, "As you like.").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    let first = talk.asked().await;
    assert_eq!(first.message_id, None);
    talk.with.answer(&first.id, "yes").unwrap();
    talk.asked().await;
    talk.with.stop();
    assert_eq!(
        talk.story().await[8..],
        ["p3 asks: T", "p3 selected yes by user", "p4 asks: T", "p4 cancelled by stop"]
    );
    talk.with.send("Well?").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}
