//! A question is settled once, whoever comes first: threads that meet, on a runtime with several of them.

mod common;

use std::sync::{Arc, Barrier};
use std::time::Duration;

use common::{OPTIONS, Talk, name, options, ready, talk_with, within};
use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::{AgentProfile, AnswerError, Conversation, Decision, Permission};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const ROUNDS: u32 = 100;

/// Who wants to settle the question beside the person.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rival {
    Stop,
    Exit,
    Withdrawal,
    End,
    Timeout,
    Decider,
}

/// An agent that asks once, does what the rival does when it is told to, and says what it heard.
async fn agent(mut peer: Peer, rival: Rival, go: Arc<Notify>, heard: UnboundedSender<Value>) {
    ready(&mut peer).await;
    let prompt = peer.prompted().await;
    peer.ask(&json!("q"), "s1", json!({"toolCallId": "t", "title": "T"}), OPTIONS).await;
    match rival {
        Rival::Exit => return go.notified().await,
        Rival::Withdrawal => {
            go.notified().await;
            peer.notify("$/cancel_request", json!({"requestId": "q"})).await;
        }
        Rival::End => {
            go.notified().await;
            peer.end_turn(&prompt, "end_turn").await;
        }
        Rival::Stop | Rival::Timeout | Rival::Decider => {}
    }
    let mut ended = rival == Rival::End;
    while let Some(message) = peer.hear().await {
        if message["id"] == "q" {
            heard.send(message["result"]["outcome"].clone()).unwrap();
            if !std::mem::replace(&mut ended, true) {
                peer.end_turn(&prompt, "end_turn").await;
            }
        }
    }
}

struct Race {
    talk: Talk,
    go: Arc<Notify>,
    heard: UnboundedReceiver<Value>,
}

fn race(rival: Rival) -> Race {
    let go = Arc::new(Notify::new());
    let (sender, heard) = unbounded_channel();
    let script = {
        let go = Arc::clone(&go);
        move |peer| agent(peer, rival, go, sender)
    };
    let decides = Arc::clone(&go);
    let decider = move |_: Arc<Permission>| {
        let decides = Arc::clone(&decides);
        async move {
            decides.notified().await;
            Decision::Deny
        }
    };
    let mut options = options();
    if rival == Rival::Timeout {
        options = options.permission_timeout(Duration::from_millis(1));
    }
    if rival == Rival::Decider {
        options = options.decider(decider);
    }
    let agents = std::collections::HashMap::from([(name(), AgentProfile::new(testing::agent(script), "/work"))]);
    Race { talk: talk_with(agents, options), go, heard }
}

/// Lets a person answer on a thread of its own while the rival does what it does; each round a little later where that is
/// nothing but time.
fn meet(with: &Conversation, rival: Rival, go: &Notify, round: u32) -> Result<(), AnswerError> {
    let start = Barrier::new(2);
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| {
            start.wait();
            if rival == Rival::Timeout {
                std::thread::sleep(Duration::from_micros(25) * round);
            }
            with.answer(&"p3".into(), "yes")
        });
        start.wait();
        match rival {
            Rival::Stop => with.stop(),
            _ => go.notify_one(),
        }
        answer.join().unwrap()
    })
}

async fn settled_once(rival: Rival) {
    let by_rival = match rival {
        Rival::Stop => "p3 cancelled by stop",
        Rival::Exit | Rival::Withdrawal | Rival::End => "p3 cancelled by agent",
        Rival::Timeout => "p3 selected no by timeout",
        Rival::Decider => "p3 selected no by decider",
    };
    for round in 0..ROUNDS {
        let Race { mut talk, go, mut heard } = race(rival);
        talk.with.send("Go").unwrap();
        match rival {
            // It is not asked, but known to the decider.
            Rival::Decider => talk.until_told("m2.0 tool t pending").await,
            _ => _ = talk.asked().await,
        }
        let answered = meet(&talk.with, rival, &go, round);
        within(talk.with.idle()).await;
        let resolved: Vec<String> = talk.story().await.into_iter().filter(|word| word.starts_with("p3 ")).collect();
        let resolved: Vec<&str> = resolved.iter().map(String::as_str).filter(|word| !word.contains("asks")).collect();
        match answered {
            Ok(()) => assert_eq!(resolved, ["p3 selected yes by user"], "{rival:?}"),
            Err(AnswerError::AlreadyResolved) => assert_eq!(resolved, [by_rival], "{rival:?}"),
            other => panic!("{rival:?}: {other:?}"),
        }
        assert_eq!(talk.with.answer(&"p3".into(), "no"), Err(AnswerError::AlreadyResolved), "{rival:?}");
        // Whoever won, the agent hears of nobody else; one that left or took it back may hear of nobody.
        drop(talk);
        let mut outcomes = Vec::new();
        while let Some(outcome) = within(heard.recv()).await {
            outcomes.push(outcome);
        }
        let option = |outcome: &Value| outcome["optionId"].as_str().map(str::to_owned);
        match (&outcomes[..], rival) {
            ([outcome], _) if answered.is_ok() => assert_eq!(option(outcome).as_deref(), Some("yes"), "{rival:?}"),
            ([outcome], Rival::Timeout | Rival::Decider) => assert_eq!(option(outcome).as_deref(), Some("no")),
            ([outcome], _) => assert_eq!(outcome["outcome"], "cancelled", "{rival:?}"),
            ([], Rival::Exit) => {}
            other => panic!("{other:?}"),
        }
    }
}

macro_rules! races {
    ($($name:ident: $rival:ident),* $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            settled_once(Rival::$rival).await;
        })*
    };
}

races! {
    an_answer_against_stop: Stop,
    an_answer_against_the_exit_of_the_agent: Exit,
    an_answer_against_the_agent_that_takes_it_back: Withdrawal,
    an_answer_against_the_end_of_the_turn: End,
    an_answer_against_time: Timeout,
    an_answer_against_the_decider: Decider,
}
