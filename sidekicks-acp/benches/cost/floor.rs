//! The least it could cost: a line is read and made the schema's type, and nothing else.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use sidekicks_acp::schema::SessionNotification;

use crate::agent;
use crate::measure::{Flood, cpu_time};

/// The envelope costs its scan; what is in it is all typed.
#[derive(Deserialize)]
struct Notification<'a> {
    method: &'a str,
    params: SessionNotification,
}

/// Takes a flood, and gives the CPU time that it took.
pub(crate) fn take(flood: Flood) -> Duration {
    let (program, args) = agent::flooding(flood);
    let mut child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut input = child.stdin.take().expect("it is piped");
    let mut output = BufReader::with_capacity(64 * 1024, child.stdout.take().expect("it is piped"));
    let mut line = Vec::new();
    for (id, method) in ["initialize", "session/new"].into_iter().enumerate() {
        writeln!(input, "{}", json!({ "id": id, "method": method })).expect("it reads");
        output.read_until(b'\n', &mut line).expect("it answers");
    }
    writeln!(input, "{}", json!({ "id": 2, "method": "session/prompt" })).expect("it reads");
    std::thread::sleep(flood.stall);

    let before = cpu_time();
    for _ in 0..flood.updates {
        line.clear();
        output.read_until(b'\n', &mut line).expect("it writes");
        let update: Notification<'_> = serde_json::from_slice(&line).expect("it is an update");
        assert_eq!(update.method, "session/update");
        black_box(update.params);
    }
    let took = cpu_time() - before;
    drop(input);
    child.wait().expect("it leaves when its input ends");
    took
}
