//! What agents tell in a turn, in all their ways of telling it.

mod common;

use std::sync::Arc;

use common::{answers, chunk, part_word, ready, talk, thought, tool_call, tool_update, updates};
use serde_json::{Value, json};
use sidekicks_acp::testing::Peer;
use sidekicks_conversations::{Event, Message, Part, ToolPart};

/// The answer that is made of these updates.
async fn answer(told: impl IntoIterator<Item = Value>) -> Message {
    let told: Vec<Value> = told.into_iter().collect();
    let mut talk = talk(async move |mut peer: Peer| {
        ready(&mut peer).await;
        updates(&mut peer, told).await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    talk.told().await;
    talk.answer()
}

async fn parts(told: impl IntoIterator<Item = Value>) -> Vec<String> {
    answer(told).await.parts.iter().map(part_word).collect()
}

async fn tool(told: impl IntoIterator<Item = Value>) -> ToolPart {
    match answer(told).await.parts.as_slice() {
        [Part::Tool(tool)] => ToolPart::clone(tool),
        other => panic!("one tool, not {other:?}"),
    }
}

fn of(message: &str, text: &str) -> Value {
    let mut update = chunk(text);
    update["messageId"] = json!(message);
    update
}

#[tokio::test(start_paused = true)]
async fn fragments_make_parts() {
    let told = [chunk("a"), chunk("b"), thought("c"), thought("d"), chunk("e")];
    assert_eq!(parts(told).await, ["text ab", "thought cd", "text e"]);
    // Carriers of usage and the like begin nothing.
    assert_eq!(parts([chunk(""), of("1", "a"), chunk(""), thought(""), of("1", "b")]).await, ["text ab"]);
    assert_eq!(parts([of("1", "a"), of("1", "b"), of("2", "c"), chunk("d")]).await, ["text ab", "text c", "text d"]);
    // The prompt is not repeated.
    let mut echo = chunk("Go");
    echo["sessionUpdate"] = json!("user_message_chunk");
    assert_eq!(parts([echo, chunk("a")]).await, ["text a"]);
}

#[tokio::test(start_paused = true)]
async fn what_this_version_does_not_know_is_kept() {
    let hologram = json!({"sessionUpdate": "hologram", "depth": 3});
    let smell = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "smell", "of": "rain"}});
    let readable =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "b", "annotations": 7}});
    let nameless = json!({"sessionUpdate": "tool_call", "title": "no id"});
    let told = [chunk("a"), hologram.clone(), smell, json!({}), nameless, readable];
    let answer = answer(told).await;
    let words: Vec<_> = answer.parts.iter().map(part_word).collect();
    let expected = ["text a", "other hologram", "other agent_message_chunk", "other ", "other tool_call", "text b"];
    assert_eq!(words, expected);
    assert!(matches!(&answer.parts[1], Part::Other(other) if other.raw == hologram));
}

#[tokio::test(start_paused = true)]
async fn an_update_that_is_not_known_takes_the_place_of_the_one_before_it() {
    let progress = |done: u32| json!({"sessionUpdate": "progress_update", "done": done});
    let child = |id: &str, done: u32| json!({"sessionUpdate": "child_update", "childId": id, "done": done});
    let blob = |at: u32| json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram", "at": at}});
    let told = [progress(1), chunk("a"), child("x", 1), child("y", 2), progress(2), child("x", 3), blob(1), blob(2)];
    let raw = |part: &Part| match part {
        Part::Other(other) => other.raw.clone(),
        other => json!(part_word(other)),
    };
    let parts: Vec<_> = answer(told).await.parts.iter().map(raw).collect();
    let expected = [progress(2), json!("text a"), child("x", 3), child("y", 2), blob(1), blob(2)];
    assert_eq!(parts, expected);
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_told_in_any_order() {
    let states = |told: &[Value]| {
        let told = told.to_vec();
        async move {
            let mut talk = talk(async move |mut peer: Peer| {
                ready(&mut peer).await;
                updates(&mut peer, told).await;
                peer.farewell().await;
            });
            talk.with.send("Go").unwrap();
            talk.idle().await;
            let story = talk.story().await;
            story.iter().filter_map(|word| word.strip_prefix("m2.0 tool t ")).map(str::to_owned).collect::<Vec<_>>()
        }
    };
    let (call, update) = (|more| tool_call("t", more), |more| tool_update("t", more));
    // Updates before the call, and a status that goes backwards.
    let told = [
        update(json!({"status": "pending"})),
        update(json!({"status": "in_progress"})),
        call(json!({"status": "pending"})),
        update(json!({"status": "completed"})),
    ];
    assert_eq!(states(&told).await, ["pending", "in_progress", "pending", "completed"]);
    let told = [call(json!({})), update(json!({"status": "failed"})), update(json!({"status": "pending"}))];
    assert_eq!(states(&told).await, ["pending", "failed", "pending", "unfinished"]);
    // Said twice, and gone on with after the end.
    let told = [
        call(json!({"status": "completed"})),
        update(json!({"status": "completed"})),
        update(json!({"rawOutput": "more"})),
    ];
    assert_eq!(states(&told).await, ["completed", "completed"]);
    // Words that ACP does not know.
    let told = [call(json!({"status": "simmering", "kind": "teleport"})), update(json!({"status": "completed"}))];
    assert_eq!(states(&told).await, ["simmering", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_filled_as_it_goes_on() {
    let told = [
        tool_call("t", json!({"title": "bash", "rawInput": {}, "kind": null, "_meta": {"x": 1}})),
        tool_update("t", json!({"title": "ls -l", "rawInput": {"command": "ls -l"}, "content": null})),
        tool_update(
            "t",
            json!({"title": null, "rawInput": null, "status": null, "rawOutput": null, "locations": null}),
        ),
        tool_update("t", json!({"status": "completed", "rawInput": {}, "rawOutput": {"output": "a", "exitCode": 0}})),
    ];
    let tool = tool(told).await;
    assert_eq!((tool.title.as_str(), tool.tool_kind.as_str(), tool.status.as_str()), ("ls -l", "other", "completed"));
    assert_eq!((&*tool.input, &tool.output), (&json!({"command": "ls -l"}), &"a".into()));
}

#[tokio::test(start_paused = true)]
async fn output_comes_in_every_form() {
    for (output, text) in [
        (json!("text"), "text"),
        (json!({"stdout": "text"}), "text"),
        (json!(["a", "b"]), "[\n  \"a\",\n  \"b\"\n]"),
        (json!(null), ""),
    ] {
        let told = [tool_call("t", json!({})), tool_update("t", json!({"rawOutput": output}))];
        assert_eq!(tool(told).await.output, text);
    }
    // A terminal that the agent runs itself: nobody was asked to create it.
    let shown = |data: &str| json!({"_meta": {"terminal_output": {"terminal_id": "x", "data": data}}});
    let content = json!({"content": [{"type": "terminal", "terminalId": "x"}]});
    let told = [tool_call("t", content), tool_update("t", shown("one\n")), tool_update("t", shown("two\n"))];
    assert_eq!(tool(told).await.output, "one\ntwo\n");
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_replaced_where_it_stands() {
    let plan = |steps: &[&str]| {
        let entries: Vec<_> =
            steps.iter().map(|step| json!({"content": step, "priority": "soon", "status": "pending"})).collect();
        json!({"sessionUpdate": "plan", "entries": entries})
    };
    let told = [plan(&["a"]), chunk("x"), plan(&["a", "b"])];
    assert_eq!(parts(told).await, ["plan of 2", "text x"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_in_which_nothing_is_said_is_flagged() {
    let empty = |told: Vec<Value>| async { answer(told).await.empty };
    assert!(empty(vec![]).await);
    assert!(empty(vec![chunk(""), chunk(" \n"), thought("hm"), json!({"sessionUpdate": "hologram"})]).await);
    assert!(!empty(vec![chunk("x")]).await);
    assert!(!empty(vec![tool_call("t", json!({"status": "completed"}))]).await);
}

#[tokio::test(start_paused = true)]
async fn the_ids_of_tools_may_repeat_in_a_later_turn() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        updates(&mut peer, [tool_call("t", json!({"status": "completed"})), tool_call("u", json!({}))]).await;
        let told = [
            tool_call("t", json!({})),                        // Another call.
            tool_update("t", json!({"status": "completed"})), // Of which this tells.
            tool_update("u", json!({"status": "completed"})), // What was left open goes on.
        ];
        updates(&mut peer, told).await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.with.send("2").unwrap();
    talk.idle().await;
    talk.until(|event| common::word(event).starts_with("m3 agent end_turn").then_some(())).await;
    talk.until(|event| common::word(event).starts_with("m3 agent end_turn").then_some(())).await;
    let transcript = talk.with.messages();
    let parts: Vec<Vec<String>> =
        transcript.messages.iter().map(|message| message.parts.iter().map(part_word).collect()).collect();
    assert_eq!(parts[2], ["tool t completed", "tool u completed"]);
    assert_eq!(parts[3], ["tool t completed"]);
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_says_before_the_first_prompt_is_no_answer_to_it() {
    let mut talk = talk(async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.say("s1", "Welcome. ").await;
        peer.reply(&open, json!({"sessionId": "s1"})).await;
        answers(&mut peer, "Hello.").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    talk.told().await;
    assert_eq!(talk.answer().parts.iter().map(part_word).collect::<Vec<_>>(), ["text Hello."]);
    let notice = &talk.with.messages().messages[1];
    assert_eq!(
        (notice.code.as_deref(), &notice.params.as_ref().unwrap()["text"]),
        (Some("notice"), &json!("Welcome. "))
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_nested_too_deeply_is_cut_so_that_every_event_can_be_read() {
    let deep = |levels: usize| (0..levels).fold(json!("core"), |inner, _| json!([inner]));
    for (levels, kept) in [(99, true), (100, false), (110, false)] {
        let call = tool_call("t", json!({"rawInput": {"a": deep(levels)}}));
        let other = json!({"sessionUpdate": "progress_update", "at": deep(levels)});
        let mut talk = talk(async move |mut peer: Peer| {
            ready(&mut peer).await;
            updates(&mut peer, [call, other]).await;
            peer.farewell().await;
        });
        talk.with.send("Go").unwrap();
        talk.idle().await;
        let told = talk.told().await;
        let reset = Arc::new(Event::Reset(talk.with.messages()));
        for event in told.iter().chain([&reset]) {
            let json = serde_json::to_string(event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), **event, "{levels}");
        }
        let all = serde_json::to_string(&reset).unwrap();
        assert_eq!(all.matches("core").count(), if kept { 2 } else { 0 }, "{levels}");
    }
}
