//! The agent that the tests talk to. Its first argument is the part that it plays.

use std::path::Path;
use std::process::exit;

use serde_json::{Value, json};
use sidekicks_acp::testing::{Peer, serve};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let part = arguments.next().unwrap();
    let word = arguments.next().unwrap_or_default();
    serve(async move |mut peer| match part.as_str() {
        "login" => wants_a_login(&mut peer).await,
        "echo" => echoes(&mut peer, &word).await,
        "count" => counts(&mut peer, word.parse().unwrap()).await,
        "wait" => waits_for(&mut peer, Path::new(&word)).await,
        "tool" => uses_a_tool(&mut peer).await,
        "ask" => asks(&mut peer, &word).await,
        "stall" => stalls(&mut peer).await,
        "leave" => leaves(&mut peer).await,
        other => panic!("there is no part {other:?}"),
    });
}

async fn prompted(peer: &mut Peer) -> Value {
    peer.shake_hands().await;
    peer.open("s").await;
    peer.prompted().await
}

/// Opens no session until somebody logs in with the key.
async fn wants_a_login(peer: &mut Peer) {
    let methods = json!([
        {"id": "key", "name": "API key"},
        {"id": "page", "name": "A \u{1b}[1mpage\u{1b}[0m of the agent"},
    ]);
    let mut logged_in = false;
    while let Some(message) = peer.hear().await {
        let method = message["method"].as_str().unwrap();
        match method {
            "initialize" => {
                peer.reply(&message, json!({"protocolVersion": 1, "agentCapabilities": {}, "authMethods": methods}))
                    .await;
            }
            "authenticate" if message["params"]["methodId"] == "key" => {
                logged_in = true;
                peer.reply(&message, json!({})).await;
            }
            "authenticate" => peer.refuse(&message, json!({"code": -32602, "message": "no such method"})).await,
            "session/new" if logged_in => peer.reply(&message, json!({"sessionId": "s"})).await,
            "session/new" => peer.refuse(&message, json!({"code": -32000, "message": "log in first"})).await,
            "session/prompt" => {
                peer.say("s", &format!("You said: {}", text(&message))).await;
                peer.end_turn(&message, "end_turn").await;
            }
            other => panic!("the client sent {other}"),
        }
    }
}

/// Says who and where it is, and what was said to it, and how often.
async fn echoes(peer: &mut Peer, name: &str) {
    peer.shake_hands().await;
    let request = peer.expect("session/new").await;
    peer.reply(&request, json!({"sessionId": "s"})).await;
    let folder = Path::new(request["params"]["cwd"].as_str().unwrap()).file_name().unwrap().to_owned();
    let mut times = 0;
    while let Some(message) = peer.hear().await {
        times += 1;
        let said = format!("I am {name} in {}; {times}: {}", folder.display(), text(&message));
        peer.say("s", &said).await;
        peer.end_turn(&message, "end_turn").await;
    }
}

/// Answers every prompt with the numbers below `count`, as fast as it can.
async fn counts(peer: &mut Peer, count: usize) {
    let mut prompt = prompted(peer).await;
    loop {
        for number in 0..count {
            peer.say("s", &format!("{number} ")).await;
        }
        peer.end_turn(&prompt, "end_turn").await;
        match peer.hear().await {
            Some(next) => prompt = next,
            None => return,
        }
    }
}

/// Says one word, and another once this file is there.
async fn waits_for(peer: &mut Peer, file: &Path) {
    let prompt = prompted(peer).await;
    peer.say("s", "one").await;
    while !file.exists() {
        std::thread::yield_now();
    }
    peer.say("s", ", two").await;
    peer.end_turn(&prompt, "end_turn").await;
    peer.farewell().await;
}

/// Says one word, and then nothing until it is stopped.
async fn stalls(peer: &mut Peer) {
    prompted(peer).await;
    peer.say("s", "one").await;
    peer.farewell().await;
}

/// Plans, thinks, asks for a tool, and says how that went.
async fn uses_a_tool(peer: &mut Peer) {
    let prompt = prompted(peer).await;
    peer.think("s", "What could that be?").await;
    peer.plan("s", &[("Look around", "in_progress"), ("Tell", "pending")]).await;
    peer.begin_tool("s", "t", "ls \u{7}").await;
    peer.ask(&json!(1), "s", json!({"toolCallId": "t"}), &[("yes", "allow_once"), ("no", "reject_once")]).await;
    let answer = peer.answer(&json!(1)).await;
    peer.end_tool("s", "t", "failed", "refused").await;
    peer.say("s", &format!("You chose {}.", answer["outcome"]["optionId"].as_str().unwrap())).await;
    peer.end_turn(&prompt, "end_turn").await;
    peer.farewell().await;
}

/// Asks for a look at two files and for these commands, one a line, and says how that went.
async fn asks(peer: &mut Peer, commands: &str) {
    let prompt = prompted(peer).await;
    let look = |path| json!({"title": format!("Read {path}"), "kind": "read", "rawInput": {"path": path}});
    let run = |command| json!({"title": command, "kind": "execute", "rawInput": {"command": command}});
    let calls = ["a", "b/.env"].map(look).into_iter().chain(commands.lines().map(run));
    for (id, mut call) in calls.enumerate() {
        call["toolCallId"] = json!(format!("t{id}"));
        peer.ask(&json!(id), "s", call, &[("yes", "allow_once"), ("no", "reject_once")]).await;
        let answer = peer.answer(&json!(id)).await;
        peer.say("s", &format!("{} ", answer["outcome"]["optionId"].as_str().unwrap())).await;
    }
    peer.end_turn(&prompt, "end_turn").await;
    peer.farewell().await;
}

/// Is gone in the middle of its answer.
async fn leaves(peer: &mut Peer) {
    prompted(peer).await;
    peer.say("s", "Half an ans").await;
    exit(3);
}

fn text(prompt: &Value) -> &str {
    prompt["params"]["prompt"][0]["text"].as_str().unwrap()
}
