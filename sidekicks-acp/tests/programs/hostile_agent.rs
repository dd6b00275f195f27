//! A hostile agent as a program, for what only processes do. Its argument names what it does.

use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    testing::serve(async move |mut peer: Peer| {
        match what.as_str() {
            "banner" => peer.noise("Welcome!\r\n\u{1b}[2K42").await,
            "never-shakes-hands" => return peer.noise("Log in first.").await,
            _ => {}
        }
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.say("s1", "alive").await;
        match what.as_str() {
            "exits-in-mid-line" => {
                eprintln!("out of memory");
                peer.send_half(&json!({ "id": prompt["id"], "result": { "stopReason": "end_turn" } })).await;
                std::process::exit(7);
            }
            "exits-after-a-line-without-end" => {
                let reply = json!({ "id": prompt["id"], "result": { "stopReason": "end_turn" } });
                peer.write(reply.to_string()).await;
                return;
            }
            "panics" => panic!("the script is at its end"),
            "closes-its-output" => {
                peer.close_output().await;
                peer.farewell().await;
                eprintln!("heard that all is over");
                return;
            }
            "leaves-a-grandchild" => {
                // It has our stdout and stderr, and goes on for longer than any test.
                let mark = std::env::args().nth(2).unwrap_or_default();
                let grandchild = std::process::Command::new("sleep").arg(mark).spawn();
                peer.send_half(&Value::Null).await;
                std::process::exit(if grandchild.is_ok() { 4 } else { 5 });
            }
            "floods-stderr" => {
                let line = "e".repeat(999);
                for number in 0..2_000 {
                    eprintln!("{number:06} {line}");
                }
                eprint!("caf\u{e9} \u{1F980}");
            }
            "floods-stdout-and-is-deaf" => {
                peer.say_often("s1", 20_000, 100).await;
                peer.end_turn(&prompt, "end_turn").await;
                return std::future::pending().await;
            }
            _ => {}
        }
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
}
