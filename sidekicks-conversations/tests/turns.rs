//! One turn after the other: the queue, refusals of what makes no sense, starts and restarts.

mod common;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::{Talk, answers, name, options, ready, talk, talk_counting, talk_to, talk_with, tool_call};
use serde_json::json;
use sidekicks_acp::schema::{ContentBlock, ImageContent, McpServer, McpServerStdio};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{AgentName, Connector};
use sidekicks_conversations::{AgentDirectory, AgentProfile, Conversations, SendError};

#[tokio::test(start_paused = true)]
async fn two_prompts_never_overlap() {
    let most = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&most);
    let mut talk = talk(async move |mut peer: Peer| {
        ready(&mut peer).await;
        for _ in 0..20 {
            let prompt = peer.prompted().await;
            // What would be there if there were a second prompt.
            let more = tokio::time::timeout(std::time::Duration::from_millis(1), peer.hear()).await;
            assert!(more.is_err(), "{more:?}");
            seen.fetch_add(1, Ordering::Relaxed);
            peer.say("s1", prompt["params"]["prompt"][0]["text"].as_str().unwrap()).await;
            peer.end_turn(&prompt, "end_turn").await;
        }
        peer.farewell().await;
    });
    for number in 0..20 {
        talk.with.send(number.to_string()).unwrap();
    }
    talk.idle().await;
    talk.told().await;
    assert_eq!(most.load(Ordering::Relaxed), 20);
    let transcript = talk.with.messages();
    let answers = transcript.messages.iter().filter(|message| message.reply_to.is_some());
    let said: Vec<_> = answers.map(|answer| common::part_word(&answer.parts[0])).collect();
    assert_eq!(said, (0..20).map(|number| format!("text {number}")).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let there = Arc::new(AtomicBool::new(true));
    let agent = testing::agent(async |mut peer: Peer| peer.farewell().await);
    let known = Arc::clone(&there);
    let directory = move |asked: &AgentName| {
        (*asked == name() && known.load(Ordering::Relaxed)).then(|| AgentProfile::new(agent.clone(), "/"))
    };
    let all = Conversations::new(directory, options().queue(2));
    assert!(all.with(&"b".into()).is_none());
    let talk = all.with(&name()).unwrap();
    assert_eq!(talk.send(""), Err(SendError::Empty));
    assert_eq!(talk.send(" \n"), Err(SendError::Empty));
    assert_eq!(talk.send(Vec::<ContentBlock>::new()), Err(SendError::Empty));
    assert_eq!(talk.messages().messages.len(), 0);
    for _ in 0..3 {
        talk.send("x").unwrap();
    }
    let before = talk.messages();
    assert_eq!(talk.send("x"), Err(SendError::QueueFull));
    there.store(false, Ordering::Relaxed);
    assert_eq!(talk.send("x"), Err(SendError::NoSuchAgent));
    assert_eq!(*talk.messages(), *before);
    assert!(all.with(&name()).is_some(), "what was said can still be read");
    // What waits for an agent that is gone is not lost.
    talk.cancel_turn();
    common::within(talk.idle()).await;
    let words: Vec<_> = talk.messages().messages.iter().map(|message| common::message_word(message)).collect();
    assert_eq!(
        words,
        ["m1 user not sent", "m2 user not sent failed: unknown-agent", "m3 user not sent failed: unknown-agent"]
    );
}

#[tokio::test(start_paused = true)]
async fn content_that_the_agent_does_not_take_is_not_sent() {
    let mut talk = talk(async |mut peer: Peer| {
        let request = peer.expect("initialize").await;
        peer.reply(&request, json!({"protocolVersion": 1})).await;
        peer.open("s1").await;
        answers(&mut peer, "Text is fine.").await;
        peer.farewell().await;
    });
    talk.with.send(vec![ContentBlock::Image(ImageContent::new("AA==", "image/png"))]).unwrap();
    talk.with.send("Queued").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert_eq!(story[5..], ["m1 user not sent failed: unsupported-content", "m2 user not sent", "idle"]);
    talk.with.send("Text").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(start_paused = true)]
async fn an_error_ends_the_turn_and_what_waits_is_not_sent() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.update("s1", tool_call("t", json!({}))).await;
        peer.refuse(&prompt, json!({"code": 500, "message": ""})).await;
        answers(&mut peer, "Back.").await;
    });
    talk.with.send("1").unwrap();
    talk.with.send("2").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    let ended = ["m3.0 tool t failed", "m3 agent failed: agent-error", "m2 user not sent", "idle"];
    assert_eq!(story[story.len() - 4..], ended);
    // An agent that leaves after an error tells of it all the same.
    talk.with.send("3").unwrap();
    talk.idle().await;
    talk.until(|event| common::word(event).ends_with("agent-exited").then_some(())).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_leaves_after_an_error_is_told_of() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.refuse(&prompt, json!({"code": -32603, "message": "I give up"})).await;
    });
    talk.with.send("1").unwrap();
    talk.until_told("m3 agent-exited").await;
    assert_eq!(talk.answer().error.unwrap().message, "I give up");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_answered_twice_ends_once() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.end_turn(&prompt, "refusal").await;
        peer.end_turn(&prompt, "end_turn").await;
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.with.send("2").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    let ends: Vec<_> = story.iter().filter(|word| word.contains("agent ")).collect();
    assert_eq!(ends, ["m3 agent refusal empty", "m4 agent end_turn"]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_leaves_before_the_prompt_is_written_is_started_once_more() {
    let mut talk = talk_counting(async |start, mut peer: Peer| {
        peer.shake_hands().await;
        if start == 0 {
            peer.expect("session/new").await;
            return;
        }
        peer.open("s1").await;
        answers(&mut peer, "Here.").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    assert_eq!(
        talk.story().await,
        ["reset", "m1 user", "starting", "m2 agent", "answering", "m2.0 +Here.", "m2 agent end_turn", "idle"]
    );
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let agent = testing::agent(async move |mut peer: Peer| {
        counted.fetch_add(1, Ordering::Relaxed);
        peer.shake_hands().await;
        peer.expect("session/new").await;
    });
    let mut hopeless = talk_to(agent, options());
    hopeless.with.send("Go").unwrap();
    hopeless.idle().await;
    let story = hopeless.story().await;
    assert_eq!(story[3..], ["m2 agent-unavailable", "m1 user not sent failed: connection-lost", "idle"]);
    assert_eq!(starts.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_forgot_nothing_said_is_not_restarted() {
    // The first session was never prompted, so there is nothing that a new one does not remember.
    let mut talk = talk_counting(async |start, mut peer: Peer| {
        ready(&mut peer).await;
        if start > 0 {
            answers(&mut peer, "Here.").await;
            peer.farewell().await;
        }
    });
    talk.with.send("1").unwrap();
    talk.until_told("starting").await;
    talk.with.stop();
    talk.idle().await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert!(!story.iter().any(|word| word.contains("restarted")), "{story:?}");
}

#[tokio::test(start_paused = true)]
async fn another_folder_or_other_tool_servers_give_a_new_session() {
    let agent = testing::agent(async |mut peer: Peer| {
        peer.shake_hands().await;
        for (session, cwd, servers) in [("s1", "/a", 0), ("s2", "/b", 0), ("s3", "/b", 1)] {
            let open = peer.expect("session/new").await;
            assert_eq!(
                (&open["params"]["cwd"], open["params"]["mcpServers"].as_array().unwrap().len()),
                (&json!(cwd), servers)
            );
            peer.reply(&open, json!({ "sessionId": session })).await;
            for _ in 0..2 {
                let prompt = peer.prompted().await;
                assert_eq!(prompt["params"]["sessionId"], session);
                peer.say(session, session).await;
                peer.end_turn(&prompt, "end_turn").await;
            }
        }
        peer.farewell().await;
    });
    let profile = Arc::new(Mutex::new(AgentProfile::new(agent, "/a")));
    let found = Arc::clone(&profile);
    let mut talk = talk_with(move |_: &AgentName| Some(found.lock().unwrap().clone()), options());
    let two_turns = async |talk: &mut Talk| {
        for _ in 0..2 {
            talk.with.send("Go").unwrap();
        }
        talk.idle().await;
        talk.story()
            .await
            .into_iter()
            .filter(|word| word.contains("restarted") || word.contains('+'))
            .collect::<Vec<_>>()
    };
    assert_eq!(two_turns(&mut talk).await, ["m3.0 +s1", "m4.0 +s1"]);
    profile.lock().unwrap().cwd = "/b".into();
    assert_eq!(two_turns(&mut talk).await, ["m7 agent-restarted", "m8.0 +s2", "m9.0 +s2"]);
    let changed = profile.lock().unwrap().clone();
    *profile.lock().unwrap() = changed.mcp_servers(vec![McpServer::Stdio(McpServerStdio::new("tools", "/bin/tools"))]);
    assert_eq!(two_turns(&mut talk).await, ["m12 agent-restarted", "m13.0 +s3", "m14.0 +s3"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_session_clears_what_it_does_not_offer() {
    let mut talk = talk_counting(async |start, mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        let (modes, option) = match start {
            0 => (
                json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}),
                json!([{"id": "o", "name": "O", "type": "select", "currentValue": "x", "options": []}]),
            ),
            _ => (json!(null), json!(null)),
        };
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes, "configOptions": option})).await;
        let prompt = peer.prompted().await;
        if start == 0 {
            let commands = json!([{"name": "init", "description": "Begin"}]);
            for update in [
                json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}),
                json!({"sessionUpdate": "usage_update", "used": 1, "size": 9}),
                json!({"sessionUpdate": "session_info_update", "title": "A title"}),
            ] {
                peer.update("s1", update).await;
            }
        }
        peer.end_turn(&prompt, "end_turn").await;
        if start > 0 {
            peer.farewell().await;
        }
    });
    talk.with.send("Go").unwrap();
    talk.until(|event| common::word(event).ends_with("agent-exited").then_some(())).await;
    talk.told().await;
    let before = talk.with.messages();
    assert!(before.modes.is_some() && before.title.is_some() && before.usage.is_some());
    assert_eq!((before.commands.len(), before.config_options.len()), (1, 1));
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    let cleared = r#"offers {"commands":[],"modes":null,"configOptions":[],"title":null}"#;
    assert_eq!(story[2..4], [cleared, "usage unknown"]);
    let after = talk.with.messages();
    assert_eq!((&after.modes, &after.title, &after.usage), (&None, &None, &None));
    assert_eq!((after.commands.len(), after.config_options.len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn agents_and_directories_may_be_shared() {
    let agent: Arc<dyn Connector> = Arc::new(testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "Here.").await;
        peer.farewell().await;
    }));
    let agents = HashMap::from([(name(), AgentProfile::new(Arc::clone(&agent), "/"))]);
    let directory: Arc<dyn AgentDirectory> = Arc::new(agents);
    let talk = talk_with(Arc::clone(&directory), options());
    talk.with.send("Go").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(start_paused = true)]
async fn agents_do_not_wait_for_each_other() {
    let agent = |text: &'static str| {
        testing::agent(async move |mut peer: Peer| {
            ready(&mut peer).await;
            if text.is_empty() {
                peer.prompted().await;
                std::future::pending::<()>().await;
            }
            answers(&mut peer, text).await;
            peer.farewell().await;
        })
    };
    let names: [AgentName; 2] = ["slow".into(), "quick".into()];
    let agents = [agent(""), agent("Done.")].map(|agent| AgentProfile::new(agent, "/"));
    let all = Conversations::new(HashMap::from_iter(names.clone().into_iter().zip(agents)), options());
    let [slow, quick] = names.map(|name| all.with(&name).unwrap());
    slow.send("Go").unwrap();
    quick.send("Go").unwrap();
    common::within(quick.idle()).await;
    assert!(slow.messages().turn.busy);
    assert_eq!(quick.messages().messages.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_held_for_the_turn_only() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        peer.farewell().await;
    });
    let talk = talk_to(agent.clone(), options());
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let lease = agent.borrow(sidekicks_acp::Borrow::by("a test")).await.unwrap();
    assert_eq!(lease.generation().0, 1, "it still runs, and nobody holds it");
}
