//! Whole turns, as the JSON of every event: what another process or a web page gets.

mod common;

use std::sync::Arc;

use common::{Talk, answers, chunk, ready, talk, talk_counting, thought, tool_call, tool_update};
use serde_json::{Value, json};
use sidekicks_acp::testing::Peer;
use sidekicks_conversations::Event;
use tokio::sync::Notify;

async fn one_turn(mut talk: Talk) -> String {
    talk.with.send("Hello").unwrap();
    talk.idle().await;
    talk.json().await
}

#[tokio::test(start_paused = true)]
async fn a_plain_answer() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        assert_eq!(prompt["params"]["prompt"], json!([{"type": "text", "text": "Hello"}]));
        peer.say("s1", "Hel").await;
        peer.say("s1", "lo.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    insta::assert_snapshot!(one_turn(talk).await);
}

#[tokio::test(start_paused = true)]
async fn everything_a_turn_can_hold() {
    let talk = talk(async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        assert_eq!(open["params"]["cwd"], "/work");
        let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]});
        peer.reply(&open, json!({"sessionId": "s1", "modes": modes, "configOptions": null})).await;
        let commands = json!([{"name": "init", "description": "Begin"}]);
        peer.update("s1", json!({"sessionUpdate": "available_commands_update", "availableCommands": commands})).await;
        let step = |status: &str| json!([{"content": "Look", "priority": "high", "status": status}]);
        let content = json!([{"type": "content", "content": {"type": "text", "text": "a\nb"}}]);
        let all = [
            thought("Let me "),
            thought("look."),
            json!({"sessionUpdate": "plan", "entries": step("in_progress")}),
            tool_call("t1", json!({"kind": "execute", "rawInput": {"command": "ls"}})),
            tool_update("t1", json!({"status": "in_progress", "locations": [{"path": "/work", "line": 3}]})),
            tool_update("t1", json!({"status": "completed", "content": content})),
            json!({"sessionUpdate": "plan", "entries": step("completed")}),
            json!({"sessionUpdate": "usage_update", "used": 10, "size": 100}),
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"}),
            json!({"sessionUpdate": "session_info_update", "title": "Looking around"}),
            json!({"sessionUpdate": "agent_message_chunk", "content":
                {"type": "image", "data": "AA==", "mimeType": "image/png"}}),
            json!({"sessionUpdate": "agent_message_chunk", "content":
                {"type": "resource_link", "uri": "file:///work/a", "name": "a"}}),
            chunk("Two files."),
        ];
        common::updates(&mut peer, all).await;
        peer.farewell().await;
    });
    insta::assert_snapshot!(one_turn(talk).await);
}

#[tokio::test(start_paused = true)]
async fn a_permission_is_asked_and_given() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        let input = json!({"command": ["bash", "-lc", "rm -r build"], "cwd": "/work"});
        peer.update("s1", tool_call("t1", json!({"kind": "execute", "rawInput": input}))).await;
        peer.ask(&json!(0), "s1", json!({"toolCallId": "t1"}), common::OPTIONS).await;
        let outcome = peer.answer(&json!(0)).await;
        assert_eq!(outcome, json!({"outcome": {"outcome": "selected", "optionId": "yes"}}));
        peer.update("s1", tool_update("t1", json!({"status": "completed", "rawOutput": {"stdout": "gone"}}))).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("Clean up").unwrap();
    let permission = talk.asked().await;
    talk.with.answer(&permission.id, "yes").unwrap();
    talk.idle().await;
    insta::assert_snapshot!(talk.json().await);
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_changes() {
    let plan = |steps: &[(&str, &str)]| {
        let step = |(content, status): &(&str, &str)| json!({"content": content, "priority": "high", "status": status});
        json!({"sessionUpdate": "plan", "entries": steps.iter().map(step).collect::<Vec<_>>()})
    };
    let turn = [
        plan(&[("Look", "in_progress")]),
        chunk("It is broken."),
        plan(&[("Look", "completed"), ("Mend it", "in_progress"), ("Test it", "pending")]),
        tool_call("t1", json!({"status": "completed"})),
        plan(&[("Mend it", "completed")]),
        chunk("It is mended."),
        plan(&[]),
    ];
    let mut talk = talk(async move |mut peer: Peer| {
        ready(&mut peer).await;
        common::updates(&mut peer, turn).await;
        // Another turn has its own.
        common::updates(&mut peer, [plan(&[("Rest", "pending")]), chunk("We rest.")]).await;
        peer.farewell().await;
    });
    talk.with.send("Mend it").unwrap();
    talk.idle().await;
    talk.with.send("And now?").unwrap();
    talk.idle().await;
    insta::assert_snapshot!(talk.json().await);
}

#[tokio::test(start_paused = true)]
async fn two_tools_at_once() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        for (id, command) in [("t1", "make"), ("t2", "make test")] {
            let call = json!({"title": command, "kind": "execute", "rawInput": {"command": command}});
            peer.update("s1", tool_call(id, call)).await;
        }
        for (question, id) in [(0, "t1"), (1, "t2")] {
            peer.ask(&json!(question), "s1", json!({"toolCallId": id}), common::OPTIONS).await;
        }
        // The second is answered first, and done while the first is still asked for.
        assert_eq!(peer.answer(&json!(1)).await["outcome"]["optionId"], "yes");
        peer.update("s1", tool_update("t2", json!({"status": "in_progress"}))).await;
        assert_eq!(peer.answer(&json!(0)).await["outcome"]["optionId"], "no");
        peer.update("s1", tool_update("t1", json!({"status": "failed"}))).await;
        peer.end_tool("s1", "t2", "completed", "All is well.").await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("Build it").unwrap();
    let (first, second) = (talk.asked().await, talk.asked().await);
    talk.with.answer(&second.id, "yes").unwrap();
    talk.until_told("m2.1 tool t2 in_progress").await;
    talk.with.answer(&first.id, "no").unwrap();
    talk.idle().await;
    insta::assert_snapshot!(talk.json().await);
}

#[tokio::test(start_paused = true)]
async fn a_refusal() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "No.").await;
        peer.end_turn(&prompt, "refusal").await;
        peer.farewell().await;
    });
    insta::assert_snapshot!(one_turn(talk).await);
}

#[tokio::test(start_paused = true)]
async fn a_crash_in_a_tool() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        peer.prompted().await;
        peer.say("s1", "Watch this.").await;
        peer.update("s1", tool_call("t1", json!({"status": "in_progress", "kind": null}))).await;
    });
    insta::assert_snapshot!(one_turn(talk).await);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_agent() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        let error = json!({"code": -32603, "message": "Internal error", "data": {"error": "no model answers"}});
        peer.refuse(&prompt, error).await;
        peer.farewell().await;
    });
    insta::assert_snapshot!(one_turn(talk).await);
}

#[tokio::test(start_paused = true)]
async fn three_are_queued_and_the_second_is_stopped() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "One.").await;
        let prompt = peer.prompted().await;
        peer.say("s1", "Tw").await;
        peer.expect("session/cancel").await;
        peer.end_turn(&prompt, "cancelled").await;
        peer.farewell().await;
    });
    for text in ["1", "2", "3"] {
        talk.with.send(text).unwrap();
    }
    talk.until(|event| (common::word(event).ends_with("+Tw")).then_some(())).await;
    talk.with.stop();
    talk.idle().await;
    insta::assert_snapshot!(talk.json().await);
}

#[tokio::test(start_paused = true)]
async fn a_login_is_needed_to_open_a_session() {
    let talk = talk(async |mut peer: Peer| {
        let request = peer.expect("initialize").await;
        let methods = json!([{"id": "browser", "name": "In the browser", "description": null}]);
        peer.reply(&request, json!({"protocolVersion": 1, "authMethods": methods})).await;
        let open = peer.expect("session/new").await;
        peer.refuse(&open, json!({"code": -32000, "message": "Authentication required"})).await;
        peer.farewell().await;
    });
    insta::assert_snapshot!(one_turn(talk).await);
}

#[tokio::test(start_paused = true)]
async fn a_login_is_needed_for_a_prompt() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        let data = json!({"authMethods": [{"id": "key", "name": "An API key"}]});
        peer.refuse(&prompt, json!({"code": -32000, "message": "Log in", "data": data})).await;
        peer.farewell().await;
    });
    insta::assert_snapshot!(one_turn(talk).await);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails() {
    let talk = talk(async |mut peer: Peer| {
        let request = peer.expect("initialize").await;
        peer.refuse(&request, json!({"code": -32603, "message": "no configuration"})).await;
        peer.farewell().await;
    });
    talk.with.send("First").unwrap();
    insta::assert_snapshot!(one_turn(talk).await);
}

#[tokio::test(start_paused = true)]
async fn the_agent_leaves_between_two_turns() {
    let leave = Arc::new(Notify::new());
    let left = Arc::clone(&leave);
    let mut talk = talk_counting(async move |start, mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "Here I am.").await;
        match start {
            0 => left.notified().await,
            _ => peer.farewell().await,
        }
    });
    talk.with.send("Hello").unwrap();
    talk.idle().await;
    leave.notify_one();
    talk.until(|event| common::word(event).ends_with("agent-exited").then_some(())).await;
    talk.with.send("Again").unwrap();
    talk.idle().await;
    insta::assert_snapshot!(talk.json().await);
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_the_end_of_a_turn() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        answers(&mut peer, "Done").await;
        peer.say("s1", ", or ").await;
        peer.say("s1", "not.").await;
        peer.update("s1", tool_call("t1", json!({"status": "in_progress"}))).await;
        peer.update("s1", json!({"sessionUpdate": "session_info_update", "title": "A title"})).await;
        answers(&mut peer, "Really.").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    // Once more as a whole, after a while.
    talk.until(|event| common::word(event).starts_with("m2.1").then_some(())).await;
    talk.until_told("m2 agent end_turn").await;
    talk.with.send("Go on").unwrap();
    talk.idle().await;
    insta::assert_snapshot!(talk.json().await);
}

#[test]
fn the_examples_in_the_documentation_are_events() {
    let docs = include_str!("../src/lib.rs");
    let examples: Vec<&str> = docs.lines().filter_map(|line| line.strip_prefix("//! {\"event\"")).collect();
    assert_eq!(examples.len(), 13);
    for example in examples {
        let written: Value = serde_json::from_str(&format!("{{\"event\"{example}")).unwrap();
        let event: Event = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(event).unwrap(), written);
    }
}
