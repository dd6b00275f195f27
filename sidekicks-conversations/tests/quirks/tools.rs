//! Tool calls: told in any order, and more than once.

use serde_json::{Value, json};
use sidekicks_acp::testing::Peer;
use sidekicks_conversations::{Message, Part};

use crate::common::{
    OPTIONS, Talk, answers, part_word, ready, settled, talk, talk_counting, tool_call, tool_update, updates, within,
};

fn parts(message: &Message) -> Vec<String> {
    message.parts.iter().map(part_word).collect()
}

/// The parts of each answer.
fn answered(talk: &Talk) -> Vec<Vec<String>> {
    let transcript = talk.with.messages();
    transcript.messages.iter().filter(|message| message.reply_to.is_some()).map(|message| parts(message)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_question_may_come_before_the_call() {
    let call = || tool_call("t", json!({"title": "make", "kind": "execute", "rawInput": {"command": "make"}}));
    let done = || tool_update("t", json!({"status": "completed"}));
    let told = json!({"toolCallId": "t", "title": "make", "kind": "execute", "rawInput": {"command": "make"}});
    let bare = json!({"toolCallId": "t"});
    for (asked, after) in [(&told, vec![call(), done()]), (&told, vec![done()]), (&bare, vec![call(), done()])] {
        let (question, updates) = (asked.clone(), after.clone());
        let mut talk = talk(async move |mut peer: Peer| {
            ready(&mut peer).await;
            let prompt = peer.prompted().await;
            peer.ask(&json!(0), "s1", question, OPTIONS).await;
            peer.answer(&json!(0)).await;
            for update in updates {
                peer.update("s1", update).await;
            }
            peer.end_turn(&prompt, "end_turn").await;
            peer.farewell().await;
        });
        talk.with.send("Go").unwrap();
        let permission = talk.asked().await;
        talk.with.answer(&permission.id, "yes").unwrap();
        talk.idle().await;
        talk.told().await;
        let [Part::Tool(tool)] = &talk.answer().parts[..] else { panic!("one tool: {asked} {after:?}") };
        assert_eq!((tool.title.as_str(), tool.tool_kind.as_str()), ("make", "execute"), "{asked} {after:?}");
        assert_eq!((tool.status.as_str(), &*tool.input), ("completed", &json!({"command": "make"})));
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_cancel_a_call_is_what_the_agent_says_or_cancelled() {
    let says = |status: &str| vec![tool_update("t", json!({ "status": status }))];
    let cases: [(Vec<Value>, &str); 5] = [
        (says("completed"), "completed"),
        (says("failed"), "failed"),
        (says("in_progress"), "cancelled"),
        (vec![tool_update("t", json!({"title": "Still at it"}))], "cancelled"),
        (vec![], "cancelled"),
    ];
    // Before the turn has ended, and after.
    for (late, (told, expected)) in cases.into_iter().flat_map(|case| [(false, case.clone()), (true, case)]) {
        let updates = told.clone();
        let mut talk = talk(async move |mut peer: Peer| {
            ready(&mut peer).await;
            let prompt = peer.prompted().await;
            peer.update("s1", tool_call("t", json!({"status": "in_progress"}))).await;
            peer.expect("session/cancel").await;
            if late {
                peer.end_turn(&prompt, "cancelled").await;
                settled().await;
            }
            for update in updates {
                peer.update("s1", update).await;
            }
            if !late {
                peer.end_turn(&prompt, "cancelled").await;
            }
            peer.farewell().await;
        });
        talk.with.send("Go").unwrap();
        talk.until_told("m2.0 tool t in_progress").await;
        talk.with.stop();
        talk.idle().await;
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        talk.told().await;
        assert_eq!(parts(&talk.answer()), [format!("tool t {expected}")], "{late} {told:?}");
        assert_eq!(talk.with.messages().turn.failed_tools, 0, "what was cancelled is no failure");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_ends_leaves_no_spinner() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        // A file edit of which no more is told: neither a status nor an end.
        let diff = json!([{"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}]);
        updates(&mut peer, [tool_call("t", json!({"kind": "edit", "content": diff}))]).await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    talk.idle().await;
    talk.told().await;
    assert_eq!(parts(&talk.answer()), ["tool t unfinished"]);
}

#[tokio::test(start_paused = true)]
async fn an_id_means_nothing_in_another_session() {
    let talk = talk_counting(async |start, mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        if start == 0 {
            return peer.update("s1", tool_call("call_1", json!({"status": "in_progress"}))).await;
        }
        // The same number, and the update comes before the call.
        peer.update("s1", tool_update("call_1", json!({"status": "in_progress"}))).await;
        peer.update("s1", tool_call("call_1", json!({"status": "completed"}))).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.idle().await;
    talk.with.send("2").unwrap();
    talk.idle().await;
    assert_eq!(answered(&talk), [["tool call_1 failed"], ["tool call_1 completed"]]);
}

#[tokio::test(start_paused = true)]
async fn a_question_with_the_id_of_a_call_that_is_done_is_of_another_call() {
    // A model that counts its calls anew in each turn, of an agent that announces them by the question alone.
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        for title in ["One", "Two"] {
            let prompt = peer.prompted().await;
            peer.ask(&json!(title), "s1", json!({"toolCallId": "call_0", "title": title}), OPTIONS).await;
            peer.answer(&json!(title)).await;
            peer.update("s1", tool_update("call_0", json!({"status": "completed"}))).await;
            peer.end_turn(&prompt, "end_turn").await;
        }
        peer.farewell().await;
    });
    for text in ["1", "2"] {
        talk.with.send(text).unwrap();
        let permission = talk.asked().await;
        talk.with.answer(&permission.id, "yes").unwrap();
        talk.idle().await;
    }
    assert_eq!(answered(&talk), [["tool call_0 completed"], ["tool call_0 completed"]]);
    let titles: Vec<_> = talk.with.messages().messages.iter().flat_map(|message| titles(message)).collect();
    assert_eq!(titles, ["One", "Two"]);
}

#[tokio::test(start_paused = true)]
async fn an_update_that_begins_a_call_that_was_done_is_of_another_call() {
    let told = ["pending", "in_progress"].map(|status| tool_update("call_0", json!({ "status": status })));
    let call = || tool_call("call_0", json!({"status": "pending"}));
    let done = || tool_update("call_0", json!({"status": "completed"}));
    let mut talk = talk(async move |mut peer: Peer| {
        ready(&mut peer).await;
        for _ in 0..2 {
            updates(&mut peer, told.clone().into_iter().chain([call(), done()])).await;
        }
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.with.send("2").unwrap();
    talk.idle().await;
    talk.told().await;
    assert_eq!(answered(&talk), [["tool call_0 completed"], ["tool call_0 completed"]]);
}

fn titles(message: &Message) -> Vec<String> {
    let tool = |part: &Part| match part {
        Part::Tool(tool) => Some(tool.title.clone()),
        _ => None,
    };
    message.parts.iter().filter_map(tool).collect()
}

#[tokio::test(start_paused = true)]
async fn a_terminal_of_the_agent_is_shown_and_not_looked_for() {
    let shown = |key: &str, data: &str| json!({"_meta": {key: {"terminal_id": "x", "data": data}}});
    let exit = json!({"status": "completed", "_meta": {"terminal_exit": {"exit_code": 0, "signal": null}}});
    let mut talk = talk(async move |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        let terminal = json!({"kind": "execute", "content": [{"type": "terminal", "terminalId": "x"}]});
        for update in [
            tool_call("t", terminal),
            tool_update("t", shown("terminal_output_delta", "one\n")),
            tool_update("t", shown("terminal_output_delta", "two\n")),
            tool_update("t", exit),
        ] {
            peer.update("s1", update).await;
        }
        peer.end_turn(&prompt, "end_turn").await;
        answers(&mut peer, "Nothing was asked of me.").await; // As `terminal/output` would be.
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.with.send("2").unwrap();
    within(talk.with.idle()).await;
    talk.told().await;
    let transcript = talk.with.messages();
    let Part::Tool(tool) = &transcript.messages[2].parts[0] else { panic!("a tool") };
    assert_eq!((tool.status.as_str(), &tool.output), ("completed", &"one\ntwo\n".into()));
}
