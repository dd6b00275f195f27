//! The agent of the cases: it answers what is asked and floods in between.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::process::Command;

use serde_json::{Value, json};

use crate::measure::Flood;

/// How the agent is run that floods in each turn.
pub(crate) fn flooding(flood: Flood) -> (OsString, Vec<String>) {
    (program(), ["agent".to_owned(), flood.updates.to_string(), flood.text.to_string()].into())
}

/// How the agent is run that answers no prompt and no other call, but for an update by which it says that it heard.
pub(crate) fn silent(grandchild: bool) -> (OsString, Vec<String>) {
    let word = if grandchild { "silent-with-child" } else { "silent" };
    (program(), ["agent".to_owned(), word.to_owned()].into())
}

fn program() -> OsString {
    std::env::current_exe().expect("a program knows itself").into()
}

/// Is the agent, until nobody talks to it any more.
#[expect(clippy::zombie_processes, reason = "this process is killed before its child ends; that is what is measured")]
pub(crate) fn run(args: &[String]) {
    let flood = match args[0].as_str() {
        "silent" => None,
        "silent-with-child" => {
            // It inherits our pipes, and leaves by itself when nobody ends it.
            Command::new("sleep").arg("4").spawn().expect("every Unix has sleep");
            None
        }
        updates => Some((updates.parse().expect("a number"), update(args[1].parse().expect("a number")))),
    };
    let mut out = std::io::stdout().lock();
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let request: Value = serde_json::from_slice(&line).expect("the client writes JSON");
        line.clear();
        let result = match request["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1 }),
            Some("session/new") => json!({ "sessionId": SESSION }),
            Some("session/prompt") => match &flood {
                Some((updates, update)) => {
                    if write_all(&mut out, update, *updates).is_err() {
                        return; // The client has seen enough.
                    }
                    json!({ "stopReason": "end_turn" })
                }
                None => Value::Null,
            },
            _ => Value::Null,
        };
        if result.is_null() {
            if flood.is_none() && write_all(&mut out, &update(1), 1).is_err() {
                return;
            }
            continue;
        }
        let reply = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        if writeln!(out, "{reply}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// As long as those of real agents.
const SESSION: &str = "sess_01jz4v7r3k9q2m5x8w6t1y0n";

/// One line with `length` bytes of text, which are broken into lines as an agent's prose is.
fn update(length: usize) -> String {
    let text: String =
        "The quick brown fox jumps over the \"lazy\" dog, and then it rests.\n".chars().cycle().take(length).collect();
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    let params = json!({ "sessionId": SESSION, "update": update });
    format!("{}\n", json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
}

fn write_all(out: &mut impl Write, update: &str, mut updates: usize) -> std::io::Result<()> {
    let at_once = (64 * 1024 / update.len()).max(1);
    let many = update.repeat(at_once);
    while updates > 0 {
        let now = updates.min(at_once);
        out.write_all(&many.as_bytes()[..now * update.len()])?;
        updates -= now;
    }
    out.flush()
}
