//! Turns: their ends, what comes after them, and what is no answer.

use std::time::Duration;

use serde_json::{Value, json};
use sidekicks_acp::testing::Peer;
use sidekicks_conversations::Options;
use tokio::time::{sleep, timeout};

use crate::common::{answers, chunk, part_word, ready, settled, talk, updates};

#[tokio::test(start_paused = true)]
async fn an_agent_that_goes_on_after_its_turn_can_be_spoken_to() {
    // As one that set itself a goal: it talks on, with nobody asking, and never pauses.
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "Done. ").await;
        let prompt = loop {
            peer.say("s1", "On. ").await;
            if let Ok(heard) = timeout(Duration::from_millis(8), peer.hear()).await {
                break heard.unwrap();
            }
        };
        assert_eq!(prompt["method"], "session/prompt", "it is not cancelled between turns");
        peer.say("s1", "Now I listen.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    sleep(Duration::from_secs(2)).await;
    talk.with.stop(); // Nothing runs, as far as the agent has said.
    sleep(Duration::from_secs(2)).await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    talk.told().await;
    let transcript = talk.with.messages();
    let first = part_word(&transcript.messages[1].parts[0]);
    assert!(first.starts_with("text Done. On. ") && first.len() > 1_000, "all of it is in the turn that ended");
    assert_eq!(transcript.messages.len(), 4);
    // What crosses the prompt belongs to the turn that it begins.
    let [second] = &talk.answer().parts[..] else { panic!("one text: {:?}", talk.answer()) };
    assert!(part_word(second).ends_with("Now I listen.") && part_word(second).len() < 50, "{second:?}");
}

/// What is told of the answer to a prompt that the agent ends in this way, with another one waiting, from its end on.
async fn ended(told: Vec<Value>, result: Value) -> Vec<String> {
    let mut talk = talk(async move |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        for update in told {
            peer.update("s1", update).await;
        }
        peer.reply(&prompt, result).await;
        answers(&mut peer, "Next.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.with.send("2").unwrap();
    talk.idle().await;
    let mut story = talk.story().await;
    let end = story.iter().position(|word| word.starts_with("m3 agent ")).unwrap();
    let after = ["m2 user", "starting", "m4 agent", "answering", "m4.0 +Next.", "m4 agent end_turn", "idle"];
    assert_eq!(story.split_off(end + 1), after, "the queue goes on");
    story.split_off(end)
}

#[tokio::test(start_paused = true)]
async fn an_end_is_told_for_what_it_is() {
    let reason = |reason: &str| json!({ "stopReason": reason });
    let cases = [
        // The model could not be reached: an apology, a refusal, a cancel that nobody asked for, or nothing at all.
        (vec![chunk("Sorry.")], reason("end_turn"), "m3 agent end_turn"),
        (vec![chunk("No.")], reason("refusal"), "m3 agent refusal"),
        (vec![], reason("cancelled"), "m3 agent cancelled empty"),
        (vec![], reason("end_turn"), "m3 agent end_turn empty"),
        (vec![chunk("To be")], reason("max_tokens"), "m3 agent max_tokens"),
        // A result that counts tokens, in every form of that.
        (vec![chunk("a")], json!({"stopReason": "end_turn", "usage": null}), "m3 agent end_turn"),
        (vec![chunk("a")], json!({"stopReason": "end_turn", "usage": {"totalTokens": 3}}), "m3 agent end_turn"),
        (vec![chunk("a")], json!({"stopReason": "end_turn", "usage": 3}), "m3 agent end_turn"),
        (vec![chunk("a")], json!({"stopReason": "end_turn", "_meta": {"quota": {"left": 1}}}), "m3 agent end_turn"),
        (vec![chunk("a")], json!({"stopReason": "end_turn", "_meta": null}), "m3 agent end_turn"),
    ];
    for (told, result, expected) in cases {
        assert_eq!(ended(told, result.clone()).await, [expected], "{result}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_retry_says_again_is_kept_as_it_came() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        updates(&mut peer, ["The answer", "The answ", "The answer is 42."].map(chunk)).await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    talk.told().await;
    let parts: Vec<_> = talk.answer().parts.iter().map(part_word).collect();
    assert_eq!(parts, ["text The answerThe answThe answer is 42."], "nothing marks it, so nothing can be taken back");
}

#[tokio::test(start_paused = true)]
async fn usage_is_what_the_agent_tells_last() {
    let usage = |used: u64, more: Value| {
        let mut update = json!({"sessionUpdate": "usage_update", "used": used, "size": 100});
        update.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        update
    };
    let mut talk = talk(async move |mut peer: Peer| {
        ready(&mut peer).await;
        // Some count up over the session, some down again.
        let told = [
            usage(10, json!({})),
            usage(30, json!({"cost": {"amount": 0.5, "currency": "USD"}, "_meta": {"x": 1}})),
            usage(20, json!({"cost": null})),
        ];
        updates(&mut peer, told).await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    let told: Vec<_> = story.iter().filter(|word| word.starts_with("usage")).collect();
    assert_eq!(told, ["usage 10/100", "usage 30/100", "usage 20/100"]);
    assert_eq!(talk.with.messages().usage.as_ref().unwrap().used, 20);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_silent_for_long_can_still_be_stopped() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.expect("session/cancel").await;
        peer.end_turn(&prompt, "cancelled").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    sleep(Options::default().silence * 10).await;
    let turn = talk.with.messages().turn.clone();
    assert!(turn.busy && turn.silent_since.is_some(), "it is told, and nobody is stopped by it: {turn:?}");
    talk.with.stop();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("cancelled"));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_sent_once_and_only_while_a_prompt_is_pending() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "Work").await;
        peer.expect("session/cancel").await;
        settled().await; // Whoever stops again does so now.
        peer.end_turn(&prompt, "end_turn").await;
        // The very next things that are heard are prompts.
        answers(&mut peer, "Next.").await;
        answers(&mut peer, "And next.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.until_told("m2.0 +Work").await;
    for _ in 0..3 {
        talk.with.stop();
        talk.with.cancel_turn();
    }
    talk.idle().await;
    for text in ["2", "3"] {
        talk.with.stop();
        talk.with.send(text).unwrap();
        talk.idle().await;
        assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"), "{text}");
    }
}
