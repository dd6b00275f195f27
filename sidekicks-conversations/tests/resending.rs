//! What did not reach the agent is not lost: the queue, sending again, logging in.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Talk, answers, options, ready, settled, talk, talk_with, within, word};
use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{AgentName, SingleAgent};
use sidekicks_conversations::{AgentProfile, MessageId, RequestError, SendError, UnqueueError};

fn nowhere() -> MessageId {
    "m99".into()
}

fn words(talk: &Talk) -> Vec<String> {
    talk.with.messages().messages.iter().map(|message| common::message_word(message)).collect()
}

#[tokio::test(start_paused = true)]
async fn what_was_stopped_is_sent_again_once() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "Work").await;
        peer.expect("session/cancel").await;
        peer.end_turn(&prompt, "cancelled").await;
        let prompt = peer.prompted().await;
        assert_eq!(prompt["params"]["prompt"], json!([{"type": "text", "text": "2"}]));
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let first = talk.with.send("1").unwrap();
    let second = talk.with.send("2").unwrap();
    let third = talk.with.send("3").unwrap();
    for waiting in [&first, &second] {
        assert_eq!(talk.with.resend(waiting), Err(SendError::WasSent));
    }
    talk.until(|event| word(event).ends_with("+Work").then_some(())).await;
    assert_eq!(talk.with.unqueue(&first), Err(UnqueueError::NotQueued));
    assert_eq!(talk.with.unqueue(&nowhere()), Err(UnqueueError::NoSuchMessage));
    talk.told().await;
    talk.with.unqueue(&third).unwrap();
    assert_eq!(talk.story().await, ["m3 user not sent", "answering, 1 wait"]);
    assert_eq!(talk.with.unqueue(&third), Err(UnqueueError::NotQueued));
    talk.with.stop();
    talk.idle().await;
    let before = talk.with.messages();
    assert_eq!(talk.with.resend(&nowhere()), Err(SendError::NoSuchMessage));
    assert_eq!(*before, *talk.with.messages());
    let again = talk.with.resend(&second).unwrap();
    assert_eq!(talk.with.resend(&second), Err(SendError::WasSent));
    assert_eq!(talk.with.resend(&again), Err(SendError::WasSent));
    talk.idle().await;
    talk.told().await;
    let transcript = talk.with.messages();
    let resent = transcript.message(&second).unwrap();
    assert_eq!((resent.not_sent, resent.resent_as.as_ref()), (true, Some(&again)));
    assert_eq!(transcript.message(&again).unwrap().parts, resent.parts);
    assert_eq!(talk.answer().reply_to, Some(again));
}

/// An agent that wants a login, at `at`, until somebody logs in.
async fn wants_a_login(at: &str, mut peer: Peer) {
    let error =
        json!({"code": -32000, "message": "Log in first", "data": {"authMethods": [{"id": "key", "name": "Key"}]}});
    let (mut logged_in, mut sessions) = (false, 0);
    while let Some(message) = peer.hear().await {
        match message["method"].as_str() {
            Some("initialize") => {
                let methods = json!([{"id": "key", "name": "Key"}]);
                peer.reply(&message, json!({"protocolVersion": 1, "agentCapabilities": {}, "authMethods": methods}))
                    .await;
            }
            Some("authenticate") if message["params"]["methodId"] == "key" => {
                logged_in = true;
                peer.reply(&message, json!({})).await;
            }
            Some("authenticate") => peer.refuse(&message, json!({"code": -32602, "message": "no such method"})).await,
            Some(method) if method == at && !logged_in => peer.refuse(&message, error.clone()).await,
            Some("session/new") => {
                sessions += 1;
                peer.reply(&message, json!({"sessionId": format!("s{sessions}")})).await;
            }
            Some("session/prompt") => {
                let text: Value = message["params"]["prompt"][0]["text"].clone();
                peer.say(message["params"]["sessionId"].as_str().unwrap(), &format!("{}!", text.as_str().unwrap()))
                    .await;
                peer.end_turn(&message, "end_turn").await;
            }
            _ => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_login_what_waited_for_it_is_sent_again() {
    for at in ["session/new", "session/prompt"] {
        let mut talk = talk(async move |peer: Peer| wants_a_login(at, peer).await);
        talk.with.send("1").unwrap();
        talk.with.send("2").unwrap();
        talk.idle().await;
        talk.told().await;
        let known = talk.with.messages();
        let login = known.messages.iter().find(|message| message.code.as_deref() == Some("login-required")).unwrap();
        assert_eq!(login.params.as_ref().unwrap()["methods"][0]["id"], "key", "{at}");
        let wrong = within(talk.with.authenticate("magic")).await.unwrap_err();
        assert!(matches!(&wrong, RequestError::Call(_)), "{at}: {wrong:?}");
        assert_eq!(*known, *talk.with.messages(), "{at}: a login that fails changes nothing");
        within(talk.with.authenticate("key")).await.unwrap();
        talk.idle().await;
        let said: Vec<_> = talk.story().await.into_iter().filter(|word| word.contains('+')).collect();
        assert!(said[0].ends_with("+1!") && said[1].ends_with("+2!") && said.len() == 2, "{at}: {said:?}");
        within(talk.with.authenticate("key")).await.unwrap();
        talk.idle().await;
        assert_eq!(talk.story().await, [""; 0], "{at}: nothing is sent twice");
    }
}

#[tokio::test(start_paused = true)]
async fn all_that_waits_for_a_login_is_sent_after_it() {
    let mut talk = talk(async move |peer: Peer| wants_a_login("session/new", peer).await);
    for text in ["1", "2"] {
        talk.with.send(text).unwrap();
        talk.idle().await; // Each is refused by itself.
    }
    within(talk.with.authenticate("key")).await.unwrap();
    talk.idle().await;
    let said: Vec<_> = talk.story().await.into_iter().filter(|word| word.contains('+')).collect();
    assert!(said[0].ends_with("+1!") && said[1].ends_with("+2!") && said.len() == 2, "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_again_by_hand_does_not_wait_for_the_login() {
    let talk = talk(async move |peer: Peer| wants_a_login("session/new", peer).await);
    let sent = talk.with.send("1").unwrap();
    talk.idle().await;
    talk.with.resend(&sent).unwrap();
    talk.idle().await;
    within(talk.with.authenticate("key")).await.unwrap();
    talk.idle().await;
    let words = words(&talk);
    assert_eq!(
        words,
        [
            "m1 user not sent failed: login-required",
            "m2 login-required",
            "m3 user not sent failed: login-required",
            "m4 login-required",
            "m5 user",
            "m6 agent end_turn"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_login_that_is_given_up_changes_nothing() {
    let talk = talk(async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.refuse(&open, json!({"code": -32000, "message": "Log in"})).await;
        peer.expect("authenticate").await;
        // Somebody looks for their password, and gives up.
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    let before = talk.with.messages();
    let login = tokio::spawn({
        let with = talk.with.clone();
        async move { with.authenticate("key").await }
    });
    settled().await;
    login.abort();
    settled().await;
    assert_eq!(*before, *talk.with.messages());
}

#[tokio::test(start_paused = true)]
async fn after_stop_or_another_answer_nothing_waits_for_a_login() {
    for stops in [true, false] {
        let talk = talk(async |mut peer: Peer| {
            ready(&mut peer).await;
            let prompt = peer.prompted().await;
            peer.refuse(&prompt, json!({"code": -32000, "message": "Log in"})).await;
            while let Some(request) = peer.hear().await {
                match request["method"].as_str().unwrap() {
                    "session/prompt" => peer.end_turn(&request, "end_turn").await,
                    _ => peer.reply(&request, json!({})).await,
                }
            }
        });
        let first = talk.with.send("Delete the branch").unwrap();
        talk.idle().await;
        match stops {
            true => talk.with.stop(),
            false => _ = talk.with.send("Something else").unwrap(),
        }
        talk.idle().await;
        within(talk.with.authenticate("key")).await.unwrap();
        talk.idle().await;
        assert_eq!(talk.with.messages().message(&first).unwrap().resent_as, None, "{stops}");
        assert!(talk.with.resend(&first).is_ok(), "by hand it can be sent again");
    }
}

/// A directory that panics when it is asked for the third time.
fn panics_in_time(agent: SingleAgent) -> impl Fn(&AgentName) -> Option<AgentProfile> {
    let asked = AtomicUsize::new(0);
    move |_| {
        assert!(asked.fetch_add(1, Ordering::Relaxed) != 3, "out of order");
        Some(AgentProfile::new(agent.clone(), "/"))
    }
}

#[tokio::test(start_paused = true)]
async fn where_the_program_panics_every_turn_ends_and_nothing_that_was_typed_is_lost() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        peer.farewell().await;
    });
    let mut talk = talk_with(panics_in_time(agent), options());
    talk.with.send("1").unwrap();
    let queued = talk.with.send("2").unwrap();
    talk.idle().await;
    talk.told().await;
    assert!(talk.with.messages().message(&queued).unwrap().not_sent);
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
    assert_eq!(talk.with.send("3"), Err(SendError::Closed));
    within(talk.all.forget()).await;
}

#[test]
fn a_turn_ends_with_the_runtime() {
    for said in ["m3.0 +Work", "starting"] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (talk, queued) = runtime.block_on(async {
            let mut talk = talk(async move |mut peer: Peer| {
                if said == "starting" {
                    return peer.farewell().await;
                }
                ready(&mut peer).await;
                peer.prompted().await;
                peer.say("s1", "Work").await;
                peer.farewell().await;
            });
            talk.with.send("1").unwrap();
            let queued = talk.with.send("2").unwrap();
            talk.until_told(said).await;
            (talk, queued)
        });
        drop(runtime);
        let now = talk.with.messages();
        assert!(!now.turn.busy && now.messages.iter().all(|message| message.is_finished()), "{said}");
        assert!(now.message(&queued).unwrap().not_sent, "{said}");
        talk.with.stop();
        let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        other.block_on(talk.idle());
    }
}

#[test]
fn a_conversation_whose_runtime_is_gone_is_closed() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let talk = runtime.block_on(async {
        let talk = talk(async |mut peer: Peer| {
            ready(&mut peer).await;
            answers(&mut peer, "One.").await;
        });
        talk.with.send("1").unwrap();
        talk
    });
    drop(runtime);
    let before = talk.with.messages();
    assert_eq!(talk.with.send("2"), Err(SendError::Closed));
    assert_eq!(talk.with.resend(&nowhere()), Err(SendError::Closed));
    assert_eq!(*before, *talk.with.messages());
}

#[test]
fn a_conversation_whose_runtime_is_gone_can_be_forgotten() {
    let begin = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runtime = begin();
    let talk = runtime.block_on(async {
        let mut talk = talk(async |mut peer: Peer| {
            ready(&mut peer).await;
            peer.prompted().await;
            peer.say("s1", "Work").await;
            peer.farewell().await;
        });
        talk.with.send("1").unwrap();
        talk.until_told("m2.0 +Work").await;
        talk
    });
    drop(runtime);
    begin().block_on(async { within(talk.all.forget()).await });
    assert!(talk.with.messages().messages.is_empty());
}
