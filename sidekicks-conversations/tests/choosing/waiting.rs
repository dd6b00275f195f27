//! Somebody chooses while the agent cannot be had for that, and a turn can have it.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{Borrow, ConnectError, Connector, Lease, SingleAgent};
use sidekicks_conversations::AgentProfile;
use tokio::sync::Semaphore;

use super::common::{Talk, answers, name, options, talk_with, within};
use super::{answered_in, choose, mode_of, modes, opens};

/// An agent that is lent to turns at once, and to who chooses only when there is room for that.
struct ForTurns {
    agent: SingleAgent,
    choosers: Arc<Semaphore>,
}

#[async_trait]
impl Connector for ForTurns {
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError> {
        if request.owner.as_deref().is_some_and(|owner| owner.ends_with(".settings")) {
            let _room = self.choosers.acquire().await.map_err(|_| ConnectError::Unknown)?;
            return self.agent.borrow(request).await;
        }
        self.agent.borrow(request).await
    }
}

/// A conversation with an agent that obeys, except that it refuses mode `plan`; says with each answer in which mode it is.
/// Its first turn is over.
async fn slow_to_choose() -> (Talk, Arc<Semaphore>) {
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        let mut modes = modes();
        modes["availableModes"].as_array_mut().unwrap().push(json!({"id": "plan", "name": "Plan"}));
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes})).await;
        let mut mode = "ask".to_owned();
        while let Some(request) = peer.hear().await {
            match request["params"]["modeId"].as_str() {
                Some("yolo" | "ask") => {
                    mode = request["params"]["modeId"].as_str().unwrap().to_owned();
                    peer.reply(&request, json!({})).await;
                }
                Some(_) => peer.refuse(&request, json!({"code": -32602, "message": "not now"})).await,
                None => {
                    peer.say("s1", &mode).await;
                    peer.end_turn(&request, "end_turn").await;
                }
            }
        }
    });
    let choosers = Arc::new(Semaphore::new(0));
    let connector = ForTurns { agent, choosers: Arc::clone(&choosers) };
    let talk = talk_with(HashMap::from([(name(), AgentProfile::new(connector, "/").mode("ask"))]), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    (talk, choosers)
}

#[tokio::test(start_paused = true)]
async fn a_turn_asks_for_what_was_chosen_before_it() {
    let (talk, choosers) = slow_to_choose().await;
    let choosing = choose(&talk, "yolo").await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(answered_in(&talk), ["text yolo"]);
    within(choosing).await.unwrap().unwrap();
    assert_eq!(mode_of(&talk), "yolo");
    // One that is made back before it is heard is none.
    let choosing = choose(&talk, "ask").await;
    within(talk.with.set_mode("yolo")).await.unwrap();
    within(choosing).await.unwrap().unwrap();
    choosers.add_permits(1);
    talk.with.send("3").unwrap();
    talk.idle().await;
    assert_eq!(answered_in(&talk), ["text yolo"]);
}

#[tokio::test(start_paused = true)]
async fn of_two_that_wait_for_the_agent_the_last_is_asked_for() {
    let (talk, choosers) = slow_to_choose().await;
    let first = choose(&talk, "yolo").await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    within(first).await.unwrap().unwrap();
    let (first, last) = (choose(&talk, "plan").await, choose(&talk, "ask").await);
    choosers.add_permits(2);
    within(first).await.unwrap().unwrap();
    within(last).await.unwrap().unwrap();
    talk.with.send("3").unwrap();
    talk.idle().await;
    assert_eq!((answered_in(&talk), &*mode_of(&talk)), (vec!["text ask".to_owned()], "ask"));
}

#[tokio::test(start_paused = true)]
async fn what_a_turn_could_not_set_is_told_to_who_chose_it() {
    let (talk, choosers) = slow_to_choose().await;
    for (mode, expected) in [("yolo", Ok(())), ("plan", Err("agent-error"))] {
        let choosing = choose(&talk, mode).await;
        talk.with.send("2").unwrap();
        talk.idle().await;
        assert_eq!(within(choosing).await.unwrap().map_err(|error| error.code()), expected, "{mode}");
    }
    talk.with.send("3").unwrap();
    talk.idle().await;
    assert_eq!(answered_in(&talk), ["text yolo"], "what was chosen before it holds, and not what is configured");
    // Of an agent that is not to be had nothing was asked, and nothing is doubted.
    let choosing = choose(&talk, "ask").await;
    choosers.close();
    assert_eq!(within(choosing).await.unwrap().unwrap_err().code(), "unknown-agent");
    talk.with.send("4").unwrap();
    talk.idle().await;
    assert_eq!(answered_in(&talk), ["text yolo"]);
}

/// A connector that panics for who chooses.
struct Panics(SingleAgent);

#[async_trait]
impl Connector for Panics {
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError> {
        let chooses = request.owner.as_deref().is_some_and(|owner| owner.ends_with(".settings"));
        assert!(!chooses, "this panics on purpose");
        self.0.borrow(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_choice_that_panics_is_none() {
    let agent = testing::agent(async |mut peer: Peer| {
        opens(&mut peer).await;
        answers(&mut peer, "One.").await;
        answers(&mut peer, "Two.").await; // Nothing is asked in between.
        peer.farewell().await;
    });
    let talk = talk_with(HashMap::from([(name(), AgentProfile::new(Panics(agent), "/").mode("ask"))]), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    let choosing = choose(&talk, "yolo").await;
    assert!(within(choosing).await.unwrap_err().is_panic());
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(answered_in(&talk), ["text Two."]);
}
