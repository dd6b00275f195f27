//! Sessions follow the process: what an agent remembers when it is started again, and what it is said to.

mod common;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use common::{
    answers, chunk, name, options, ready, settled, talk, talk_counting, talk_to, talk_with, thought, tool_call,
};
use serde_json::{Value, json};
use sidekicks_acp::AgentName;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::AgentProfile;

/// What an agent does when it is asked for the session of its last life.
#[derive(Debug, Clone, Copy)]
enum Recall {
    /// Offers nothing of the kind.
    Never,
    Resumes,
    RefusesToResume,
    Loads,
    LoadsWithoutReplay,
    RefusesToLoad,
    /// Is not logged in any more.
    WantsALogin,
}

impl Recall {
    fn capabilities(self) -> Value {
        match self {
            Self::Never => json!({}),
            Self::Resumes | Self::RefusesToResume | Self::WantsALogin => {
                json!({"sessionCapabilities": {"resume": {}}, "loadSession": true})
            }
            Self::Loads | Self::LoadsWithoutReplay | Self::RefusesToLoad => json!({"loadSession": true}),
        }
    }

    async fn opened(self, peer: &mut Peer) {
        match self {
            Self::Never => {}
            Self::Resumes => {
                let request = peer.expect("session/resume").await;
                assert_eq!(request["params"], json!({"sessionId": "s1", "cwd": "/work", "mcpServers": []}));
                return peer.reply(&request, json!({})).await;
            }
            Self::RefusesToResume => {
                let request = peer.expect("session/resume").await;
                peer.refuse(&request, json!({"code": -32003, "message": "in use"})).await;
            }
            Self::WantsALogin => {
                let request = peer.expect("session/resume").await;
                return peer.refuse(&request, json!({"code": -32000, "message": "Log in"})).await;
            }
            Self::Loads | Self::LoadsWithoutReplay => {
                let request = peer.expect("session/load").await;
                if matches!(self, Self::Loads) {
                    let user = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "1"}});
                    for update in [user, thought("Hm."), tool_call("t", json!({"status": "completed"})), chunk("One.")]
                    {
                        peer.update("s1", update).await;
                    }
                }
                peer.usage("s1", 5, 10).await;
                let commands = json!([{"name": "init", "description": "Begin"}]);
                peer.update("s1", json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}))
                    .await;
                return peer.reply(&request, json!({})).await;
            }
            Self::RefusesToLoad => {
                let request = peer.expect("session/load").await;
                peer.refuse(&request, json!({"code": -32602, "message": "no such session"})).await;
            }
        }
        peer.open("s1").await;
    }
}

/// One turn, a new start of the agent, and what is told of the next turn.
async fn second_turn(recall: Recall) -> Vec<String> {
    let mut talk = talk_counting(async move |start, mut peer: Peer| {
        peer.shake_hands_with(recall.capabilities()).await;
        if start == 0 {
            peer.open("s1").await;
            return answers(&mut peer, "One.").await;
        }
        recall.opened(&mut peer).await;
        answers(&mut peer, "Two.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.until(|event| common::word(event).ends_with("agent-exited").then_some(())).await;
    talk.told().await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert_eq!(story[..2], ["m4 user", "starting"]);
    story[2..].to_vec()
}

#[tokio::test(start_paused = true)]
async fn an_agent_remembers_or_is_said_not_to() {
    let turn = |before: &[&str]| {
        let turn = ["m6 agent", "answering", "m6.0 +Two.", "m6 agent end_turn", "idle"];
        before.iter().chain(&turn).map(ToString::to_string).collect::<Vec<_>>()
    };
    let told = ["usage 5/10", r#"offers {"commands":[{"name":"init","description":"Begin"}]}"#];
    let loaded = |said: &'static str| [told[0], told[1], said];
    let cases = [
        (Recall::Never, turn(&["m5 agent-restarted"])),
        (Recall::Resumes, turn(&["m5 session-resumed"])),
        (Recall::RefusesToResume, turn(&["m5 agent-restarted"])),
        (Recall::Loads, turn(&loaded("m5 session-resumed"))),
        (Recall::LoadsWithoutReplay, turn(&loaded("m5 agent-restarted"))),
        (Recall::RefusesToLoad, turn(&["m5 agent-restarted"])),
        (
            Recall::WantsALogin,
            ["m5 login-required", "m4 user not sent failed: login-required", "idle"].map(str::to_owned).to_vec(),
        ),
    ];
    for (recall, expected) in cases {
        assert_eq!(second_turn(recall).await, expected, "{recall:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_told_again_is_no_late_word_of_the_last_turn() {
    // The cursor stood in the last message; nothing of a replay is added to it, nor is what a new session begins with.
    let mut talk = talk_counting(async |start, mut peer: Peer| {
        peer.shake_hands_with(json!({"loadSession": true})).await;
        if start == 0 {
            peer.open("s1").await;
            return answers(&mut peer, "One.").await;
        }
        let request = peer.expect("session/load").await;
        peer.say("s1", "One.").await;
        peer.refuse(&request, json!({"code": -32603, "message": "no"})).await;
        let request = peer.expect("session/new").await;
        peer.say("s2", "Welcome. ").await;
        peer.say("s2", "Model: big").await;
        peer.reply(&request, json!({"sessionId": "s2"})).await;
        let prompt = peer.prompted().await;
        peer.say("s2", "Two.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.until(|event| common::word(event).ends_with("agent-exited").then_some(())).await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    talk.told().await;
    let transcript = talk.with.messages();
    let said: Vec<_> = transcript.messages.iter().map(|message| common::message_word(message)).collect();
    assert_eq!(
        said,
        [
            "m1 user",
            "m2 agent end_turn",
            "m3 agent-exited",
            "m4 user",
            "m5 agent-restarted",
            "m6 notice",
            "m7 agent end_turn"
        ]
    );
    assert_eq!(transcript.messages[5].params.as_ref().unwrap()["text"], "Welcome. Model: big");
    assert_eq!(transcript.messages[1].parts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_recalled_in_another_folder_and_the_old_session_is_closed() {
    let (told, heard) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let calls = Arc::clone(&heard);
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands_with(json!({"sessionCapabilities": {"resume": {}, "close": {}}})).await;
        let mut opened = 0;
        while let Some(message) = peer.hear().await {
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            let params = &message["params"];
            match method.as_str() {
                "session/new" => {
                    opened += 1;
                    peer.reply(&message, json!({"sessionId": format!("s{opened}")})).await;
                }
                "session/prompt" => peer.end_turn(&message, "end_turn").await,
                _ => peer.reply(&message, json!({})).await,
            }
            let what =
                [&params["cwd"], &params["sessionId"]].iter().find_map(|value| value.as_str()).unwrap().to_owned();
            calls.lock().unwrap().push(format!("{method} {what}"));
        }
    });
    let cwd = Arc::clone(&told);
    cwd.lock().unwrap().push("/a");
    let folder = Arc::clone(&cwd);
    let find = move |_: &AgentName| Some(AgentProfile::new(agent.clone(), *folder.lock().unwrap().last().unwrap()));
    let talk = talk_with(find, options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    cwd.lock().unwrap().push("/b");
    talk.with.send("2").unwrap();
    talk.idle().await;
    common::settled().await;
    let mut calls = heard.lock().unwrap().clone();
    // The closing goes on beside the turn.
    let closed = calls.iter().position(|call| call == "session/close s1").expect("it is closed");
    calls.remove(closed);
    assert_eq!(calls, ["session/new /a", "session/prompt s1", "session/new /b", "session/prompt s2"]);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_turn_leaves_a_session_that_is_still_recalled() {
    // The first start of the second life is stopped while it resumes; the next turn finds it resumed.
    let mut talk = talk_counting(async |start, mut peer: Peer| {
        peer.shake_hands_with(json!({"sessionCapabilities": {"resume": {}}})).await;
        if start == 0 {
            peer.open("s1").await;
            return answers(&mut peer, "One.").await;
        }
        let request = peer.expect("session/resume").await;
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        peer.reply(&request, json!({})).await;
        answers(&mut peer, "Three.").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.until(|event| common::word(event).ends_with("agent-exited").then_some(())).await;
    talk.told().await;
    talk.with.send("2").unwrap();
    common::settled().await;
    talk.with.stop();
    talk.with.send("3").unwrap();
    talk.idle().await;
    assert_eq!(
        talk.story().await,
        [
            "m4 user",
            "starting",
            "m4 user not sent",
            "idle",
            "m5 user",
            "starting",
            "m6 session-resumed",
            "m7 agent",
            "answering",
            "m7.0 +Three.",
            "m7 agent end_turn",
            "idle"
        ]
    );
}

/// What is told of a second prompt that the agent answers with this error, and what it is asked after that.
async fn second_prompt_fails(error: Value, says_first: bool, capabilities: Value) -> (Vec<String>, Vec<String>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let mut talk = talk(async move |mut peer: Peer| {
        peer.shake_hands_with(capabilities).await;
        peer.open("s1").await;
        answers(&mut peer, "One.").await;
        let prompt = peer.prompted().await;
        if says_first {
            peer.say("s1", "Well").await;
        }
        peer.refuse(&prompt, error).await;
        while let Some(request) = peer.hear().await {
            let method = request["method"].as_str().unwrap().to_owned();
            match &*method {
                "session/prompt" => {
                    peer.say(request["params"]["sessionId"].as_str().unwrap(), "Two.").await;
                    peer.end_turn(&request, "end_turn").await;
                }
                "session/new" => peer.reply(&request, json!({"sessionId": "s2"})).await,
                _ => peer.reply(&request, json!({})).await,
            }
            heard.lock().unwrap().push(method);
        }
    });
    for text in ["1", "2"] {
        talk.with.send(text).unwrap();
        talk.idle().await;
    }
    let told = talk.story().await;
    let from = told.iter().position(|word| word.starts_with("m3")).unwrap();
    (told[from..].to_vec(), asked.lock().unwrap().clone())
}

#[tokio::test(start_paused = true)]
async fn a_session_that_the_agent_lost_is_left() {
    let error = json!({"code": -32602, "message": "Session not found: s1"});
    let (told, asked) = second_prompt_fails(error.clone(), false, json!({})).await;
    let begun = ["m3 user", "starting", "m4 agent", "answering", "starting", "m5 agent-restarted", "answering"];
    assert_eq!(told, [&begun[..], &["m4.0 +Two.", "m4 agent end_turn", "idle"]].concat());
    assert_eq!(asked, ["session/new", "session/prompt"]);
    let (told, asked) = second_prompt_fails(error.clone(), false, json!({"sessionCapabilities": {"resume": {}}})).await;
    assert!(told.contains(&"m5 session-resumed".to_owned()), "{told:?}");
    assert_eq!(asked, ["session/resume", "session/prompt"]);
    // What it answered in part is not asked again, and what is missing may be something else.
    for (error, says_first) in [(error, true), (json!({"code": -32602, "message": "File not found: s"}), false)] {
        let (told, asked) = second_prompt_fails(error, says_first, json!({})).await;
        assert!(told.contains(&"m4 agent failed: agent-error".to_owned()), "{told:?}");
        assert_eq!(asked, [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn another_agent_of_this_name_knows_nothing_of_the_session() {
    let agent = |text: &'static str| {
        testing::agent(async move |mut peer: Peer| {
            ready(&mut peer).await;
            loop {
                answers(&mut peer, text).await;
            }
        })
    };
    let now = Arc::new(Mutex::new(agent("One.")));
    let other = agent("Two.");
    let there = Arc::clone(&now);
    // Wrapped anew each time, as where a file is read again.
    let directory = move |_: &AgentName| Some(AgentProfile::new(there.lock().unwrap().clone(), "/"));
    let mut talk = talk_with(directory, options());
    for text in ["1", "2"] {
        talk.with.send(text).unwrap();
        talk.idle().await;
    }
    *now.lock().unwrap() = other;
    talk.with.send("3").unwrap();
    talk.idle().await;
    talk.told().await;
    let messages = &talk.with.messages().messages;
    let said: Vec<_> = messages.iter().map(|message| common::message_word(message)).collect();
    let expected = [
        "m1 user",
        "m2 agent end_turn",
        "m3 user",
        "m4 agent end_turn",
        "m5 user",
        "m6 agent-restarted",
        "m7 agent end_turn",
    ];
    assert_eq!(said, expected);
    assert_eq!(common::part_word(&messages[6].parts[0]), "text Two.");
}

#[tokio::test(start_paused = true)]
async fn the_session_is_closed_when_nobody_talks_any_more() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::clone(&heard);
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands_with(json!({"sessionCapabilities": {"close": {}}})).await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.expect("session/cancel").await;
        peer.end_turn(&prompt, "cancelled").await;
        let close = peer.expect("session/close").await;
        calls.lock().unwrap().push(close["params"]["sessionId"].clone());
        peer.reply(&close, json!({})).await;
        peer.farewell().await;
    });
    let mut talk = talk_to(agent.clone(), options());
    talk.with.send("Go").unwrap();
    talk.until_told("answering").await;
    drop(talk);
    settled().await;
    assert_eq!(*heard.lock().unwrap(), ["s1"]);
    drop(agent);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_lost_before_anything_was_said_is_no_loss() {
    for lost in [1, 2] {
        let agent = testing::agent(async move |mut peer: Peer| {
            peer.shake_hands().await;
            for _ in 0..lost {
                peer.open("s1").await;
                let setting = peer.expect("session/set_mode").await;
                peer.refuse(&setting, json!({"code": -32002, "message": "Session s1 not found"})).await;
            }
            peer.open("s2").await;
            let setting = peer.expect("session/set_mode").await;
            peer.reply(&setting, json!({})).await;
            let prompt = peer.prompted().await;
            peer.say("s2", "Hello.").await;
            peer.end_turn(&prompt, "end_turn").await;
            peer.farewell().await;
        });
        let mut talk = talk_with(HashMap::from([(name(), AgentProfile::new(agent, "/").mode("ask"))]), options());
        talk.with.send("1").unwrap();
        talk.idle().await;
        let mut told = talk.story().await;
        if lost == 2 {
            assert!(told.contains(&"m1 user not sent failed: agent-error".to_owned()), "{told:?}");
            talk.with.send("2").unwrap();
            talk.idle().await;
            told.extend(talk.story().await);
        }
        assert!(told.iter().any(|word| word.ends_with("agent end_turn")), "{told:?}");
        assert!(!told.iter().any(|word| word.contains("restarted") || word.contains("refused")), "{told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_lost_when_it_is_set_up_is_left_too() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        let setting = peer.expect("session/set_mode").await;
        peer.refuse(&setting, json!({"code": -32002, "message": "Session s1 not found"})).await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s2"})).await;
        let setting = peer.expect("session/set_mode").await;
        assert_eq!(setting["params"]["sessionId"], "s2");
        peer.reply(&setting, json!({})).await;
        let prompt = peer.prompted().await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let now = Arc::new(Mutex::new(AgentProfile::new(agent, "/")));
    let there = Arc::clone(&now);
    let mut talk = talk_with(move |_: &AgentName| Some(there.lock().unwrap().clone()), options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    now.lock().unwrap().mode = Some("ask".to_owned());
    talk.with.send("2").unwrap();
    talk.idle().await;
    let told = talk.story().await;
    assert!(told.iter().any(|word| word.ends_with("agent-restarted")), "{told:?}");
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"), "{told:?}");
}
