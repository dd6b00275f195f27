//! What goes on for long: time and memory grow as what is said, not faster.

mod common;

use common::{OPTIONS, ready, talk, tool_call, tool_update, within};
use serde_json::json;
use sidekicks_acp::testing::Peer;
use sidekicks_conversations::{Event, Part, Text, Transcript};

const DELTAS: usize = 20_000;
const SIZE: usize = 200;

fn output(transcript: &Transcript) -> Text {
    match transcript.messages.last().map(|message| message.parts.as_slice()) {
        Some([Part::Tool(tool)]) => tool.output.clone(),
        other => panic!("one tool, not {other:?}"),
    }
}

/// Where the pieces of a text are in memory, but for the last, which grows.
fn places(text: &Text) -> Vec<*const u8> {
    let mut places = Vec::new();
    text.for_each_chunk(|chunk| places.push(chunk.as_ptr()));
    places.pop();
    places
}

#[tokio::test(start_paused = true)]
async fn output_that_grows_is_held_once() {
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.update("s1", tool_call("t", json!({"rawInput": {"command": "make"}}))).await;
        let data = "x".repeat(SIZE);
        let more = tool_update("t", json!({"_meta": {"terminal_output_delta": {"terminal_id": "t", "data": data}}}));
        for at in 0..DELTAS {
            if at == DELTAS / 2 {
                peer.ask(&json!("go on?"), "s1", json!({"toolCallId": "t"}), OPTIONS).await;
                peer.answer(&json!("go on?")).await;
            }
            peer.update("s1", more.clone()).await;
        }
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let (mut unread, mut events) = (talk.all.subscribe(), talk.all.subscribe());
    talk.with.send("Go").unwrap();
    let permission = loop {
        // By the snapshot: a reader that fell behind gets a reset in place of the event.
        within(events.next()).await.unwrap();
        if let Some(permission) = talk.with.messages().permissions.first() {
            break permission.id.clone();
        }
    };
    let half = talk.with.messages();
    talk.with.answer(&permission, "yes").unwrap();
    talk.idle().await;
    let whole = talk.with.messages();

    assert_eq!((output(&half).len(), output(&whole).len()), (DELTAS / 2 * SIZE, DELTAS * SIZE));
    let (before, after) = (places(&output(&half)), places(&output(&whole)));
    assert!(before.len() > 400 && after.starts_with(&before), "a snapshot shares what was there");

    // Who read nothing holds what there was at its beginning, and gets what there is.
    within(unread.next()).await.unwrap();
    let Event::Reset(reset) = &*within(unread.next()).await.unwrap() else { panic!("it fell behind") };
    assert!(places(&output(reset)) == after);
}

#[tokio::test(start_paused = true)]
async fn output_that_grows_for_ever_is_held_at_both_ends() {
    const MIB: usize = 1 << 20;
    let talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.update("s1", tool_call("t", json!({"rawInput": {"command": "yes"}}))).await;
        for at in 0..20 * 1024 {
            let data = format!("{at:>1023}\n");
            peer.update("s1", tool_update("t", json!({"_meta": {"terminal_output_delta": {"data": data}}}))).await;
        }
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let mut follower = talk.with.follow();
    talk.with.send("Go").unwrap();
    let (mut mirror, mut middle) = (Transcript::new(common::name()), None);
    while mirror.messages.last().is_none_or(|message| message.stop_reason.is_none()) {
        let event = within(follower.next()).await.unwrap();
        mirror.apply(&event);
        if let Event::MessageDelta { part: Some(Part::Tool(tool)), .. } = &*event
            && tool.omitted == 10 * MIB
        {
            middle = Some(tool.output.clone());
        }
    }
    assert_eq!(mirror.messages, talk.with.messages().messages);
    let [Part::Tool(tool)] = mirror.messages.last().unwrap().parts.as_slice() else { panic!("one tool") };
    assert_eq!((tool.omitted, tool.omitted_at, tool.output.len()), (16 * MIB, 2 * MIB, 4 * MIB));
    assert!(tool.output.tail(2 * MIB - 5).starts_with("2047\n"));
    assert!(tool.output.tail(2 * MIB).trim_start().starts_with("18432\n"));
    assert!(tool.output.tail(4 * MIB - 6).starts_with("20479\n"));
    let (middle, end) = (places(&middle.unwrap()), places(&tool.output));
    assert_eq!(middle[..500], end[..500], "versions share what they keep");
}
