//! The handshake, logins, and how a session begins.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sidekicks_acp::AgentName;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::AgentProfile;

use crate::common::{answers, name, options, ready, settled, talk, talk_counting, talk_with, word};

/// What an agent was still told; a script that only panics at it would look like an agent that left.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<String>>>);

impl Said {
    async fn all(self, mut peer: Peer) {
        while let Some(message) = peer.hear().await {
            self.0.lock().unwrap().push(message["method"].to_string());
        }
    }

    fn methods(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_of_another_version_is_not_spoken_to() {
    for version in [2, 99] {
        let said = Said::default();
        let hears = said.clone();
        let mut talk = talk(async move |mut peer: Peer| {
            let request = peer.expect("initialize").await;
            peer.reply(&request, json!({"protocolVersion": version, "capabilities": {}, "info": {}})).await;
            hears.all(peer).await;
        });
        talk.with.send("Go").unwrap();
        talk.idle().await;
        let story = talk.story().await;
        assert_eq!(story[3..], ["m2 agent-unavailable", "m1 user not sent failed: unsupported-version", "idle"]);
        assert_eq!(said.methods(), [""; 0], "nothing more is said to it");
    }
}

#[tokio::test(start_paused = true)]
async fn a_login_may_be_wanted_by_an_agent_that_names_no_way() {
    // At both places at which it is wanted: when a session is opened, and with the first prompt.
    for (at, expected) in [
        ("session/new", ["m2 login-required", "m1 user not sent failed: login-required", "idle"]),
        ("session/prompt", ["m3 login-required", "m2 agent failed: login-required", "idle"]),
    ] {
        let mut talk = talk(async move |mut peer: Peer| {
            peer.shake_hands().await;
            while let Some(request) = peer.hear().await {
                match request["method"].as_str() {
                    Some(method) if method == at => {
                        peer.refuse(&request, json!({"code": -32000, "message": "Authentication required"})).await;
                    }
                    _ => peer.reply(&request, json!({"sessionId": "s1"})).await,
                }
            }
        });
        talk.with.send("Go").unwrap();
        talk.idle().await;
        let story = talk.story().await;
        assert_eq!(story[story.len() - 3..], expected);
        let transcript = talk.with.messages();
        let login = transcript.messages.iter().find(|message| message.code.is_some()).unwrap();
        assert_eq!(json!(login.params), json!({"methods": []}), "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn ways_to_log_in_are_told_as_the_agent_gives_them() {
    let ways = json!([
        {"id": "plain", "name": "In the browser"},
        {"id": "terminal", "name": "Run it", "type": "terminal", "args": ["login"], "env": {"A": "1"}},
        {"id": "older", "name": "Run it", "_meta": {"terminal-auth": {"command": "agent", "args": ["login"]}}},
    ]);
    assert_eq!(login_methods(ways.clone()).await, ways);
}

#[tokio::test(start_paused = true)]
#[ignore = "of a way to log in by a variable neither its type nor the variable is kept"]
async fn a_variable_to_log_in_by_is_named() {
    let ways = json!([{"id": "key", "name": "A key", "type": "env_var", "vars": [{"name": "AGENT_KEY"}]}]);
    assert_eq!(login_methods(ways.clone()).await, ways);
}

/// What a person is told of the ways to log in that an agent names in its handshake.
async fn login_methods(ways: Value) -> Value {
    let mut talk = talk(async move |mut peer: Peer| {
        let request = peer.expect("initialize").await;
        peer.reply(&request, json!({"protocolVersion": 1, "authMethods": ways})).await;
        let open = peer.expect("session/new").await;
        peer.refuse(&open, json!({"code": -32000, "message": "Authentication required"})).await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    talk.told().await;
    json!(talk.with.messages().messages[1].params)["methods"].clone()
}

#[tokio::test(start_paused = true)]
async fn what_a_session_tells_before_it_is_known_is_heard() {
    let mut talk = talk_counting(async |start, mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        let commands = json!([{"name": format!("start-{start}"), "description": "Begin"}]);
        peer.update("s1", json!({"sessionUpdate": "available_commands_update", "availableCommands": commands})).await;
        peer.usage("s1", start as u64, 10).await;
        peer.reply(&open, json!({"sessionId": "s1"})).await;
        answers(&mut peer, "Here.").await;
        if start > 0 {
            peer.farewell().await;
        }
    });
    talk.with.send("1").unwrap();
    talk.until_told("m3 agent-exited").await;
    let story = talk.story().await;
    let commands =
        |start: usize| format!(r#"offers {{"commands":[{{"name":"start-{start}","description":"Begin"}}]}}"#);
    assert_eq!(story[3..5], [commands(0), "usage 0/10".to_owned()]);
    talk.with.send("2").unwrap();
    talk.idle().await;
    // A second start clears what the first one told, and only that.
    let cleared = [r#"offers {"commands":[]}"#.to_owned(), "usage unknown".to_owned()];
    let story = talk.story().await;
    assert_eq!(story[2..4], cleared);
    assert_eq!(story[4..7], ["m5 agent-restarted".to_owned(), commands(1), "usage 1/10".to_owned()]);
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_is_not_absolute_is_refused_here() {
    let said = Said::default();
    let hears = said.clone();
    let agent = testing::agent(async move |mut peer: Peer| {
        peer.shake_hands().await;
        hears.all(peer).await;
    });
    let agents = HashMap::from([(name(), AgentProfile::new(agent, "work"))]);
    let mut talk = talk_with(agents, options());
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let story = talk.story().await;
    assert_eq!(story.last().map(String::as_str), Some("idle"));
    assert!(story.contains(&"m1 user not sent failed: relative-workspace".to_owned()), "{story:?}");
    settled().await;
    assert_eq!(said.methods(), [""; 0], "nothing is said to it");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_closed_is_let_go_of() {
    // It does not offer `session/close`, so that the next thing it hears is the new session.
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        let open = peer.expect("session/new").await;
        peer.reply(&open, json!({"sessionId": "s2"})).await;
        let prompt = peer.prompted().await;
        // What the first one still says reaches nobody.
        peer.say("s1", "Late.").await;
        peer.say("s2", "Two.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let folder = Arc::new(Mutex::new("/a"));
    let told = Arc::clone(&folder);
    let find = move |_: &AgentName| Some(AgentProfile::new(agent.clone(), *told.lock().unwrap()));
    let mut talk = talk_with(find, options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    *folder.lock().unwrap() = "/b";
    talk.with.send("2").unwrap();
    talk.idle().await;
    let said: Vec<_> = talk.told().await.iter().map(|event| word(event)).filter(|word| word.contains('+')).collect();
    assert_eq!(said, ["m2.0 +One.", "m5.0 +Two."]);
}
