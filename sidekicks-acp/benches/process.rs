//! What a process costs: an agent is started, answers the handshake and is stopped, beside the least that could be.
//!
//! `cargo bench` prints the table; `cargo test --benches` only shows that each case still runs. Each row is this program
//! once more, with as much memory as the row says: a start that forks copies the tables of it. Within a row the sides take
//! turns, so that all of them meet the same machine.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sidekicks_acp::{AgentCommand, AgentProcess, ConnectOptions, Isolation, StopPolicy, StopStep};

/// A shell is the smallest agent that every Unix has: it answers one line, and leaves when its input ends.
const AGENT: [&str; 2] = ["-c", r#"read line; echo '{"id":1,"result":{"protocolVersion":1}}'; read line"#];

#[derive(Clone, Copy)]
enum Side {
    /// The standard library: a start, a line each way, and its end.
    Floor,
    /// The same by fork and exec.
    ForkedFloor,
    /// This crate.
    Ours(Isolation),
}

const SIDES: [Side; 4] = [Side::Floor, Side::Ours(Isolation::Group), Side::ForkedFloor, Side::Ours(Isolation::Session)];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| args[at].parse().expect("a number");
    match args.first().map(String::as_str) {
        Some("case") => {
            println!("{}", measured(number(1), number(2)).map(|time| time.as_nanos().to_string()).join(" "))
        }
        _ if args.iter().any(|arg| arg == "--bench") => print(),
        _ => drop(row(1, 2)),
    }
}

fn print() {
    println!("{:<28}{:>12}{:>20}{:>16}{:>20}", "start, handshake, stop", "floor", "group", "forked floor", "session");
    for (megabytes, rounds) in [(0, 300), (64, 300), (1024, 100)] {
        let [floor, group, forked, session] = row(megabytes, rounds);
        let shown = |ours: f64, floor: f64| format!("{:.2} ms {:>5.2} ×", ours / 1e6, ours / floor);
        println!(
            "{:<28}{:>12}{:>20}{:>16}{:>20}",
            format!("a parent with {megabytes} MB"),
            format!("{:.2} ms", floor / 1e6),
            shown(group, floor),
            format!("{:.2} ms", forked / 1e6),
            shown(session, forked),
        );
    }
}

/// Measures in a process of its own; nanoseconds for each side.
fn row(megabytes: usize, rounds: usize) -> [f64; SIDES.len()] {
    let program = std::env::current_exe().expect("a program knows itself");
    let args = ["case".to_owned(), megabytes.to_string(), rounds.to_string()];
    let output = Command::new(program).args(args).output().expect("the program runs once more");
    let said = String::from_utf8_lossy(&output.stdout);
    let times: Vec<f64> = said.split_ascii_whitespace().filter_map(|time| time.parse().ok()).collect();
    times.try_into().unwrap_or_else(|_| panic!("{said}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The median of each side, in a process that has written to so much memory.
fn measured(megabytes: usize, rounds: usize) -> [Duration; SIDES.len()] {
    let memory = vec![1_u8; megabytes << 20];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    let mut times = SIDES.map(|_| Vec::new());
    for _ in 0..rounds {
        for (side, times) in SIDES.into_iter().zip(&mut times) {
            let begun = Instant::now();
            match side {
                Side::Floor => floor(&mut Command::new("sh")),
                // Where the PATH is set, the standard library cannot let the system look for the program, and forks.
                Side::ForkedFloor => {
                    floor(Command::new("sh").env("PATH", std::env::var_os("PATH").unwrap_or_default()));
                }
                Side::Ours(isolation) => runtime.block_on(ours(isolation)),
            }
            times.push(begun.elapsed());
        }
    }
    black_box(memory);
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}

fn floor(command: &mut Command) {
    let command = command.args(AGENT).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("every Unix has sh");
    let mut input = child.stdin.take().expect("it is piped");
    let mut line = String::new();
    writeln!(input, r#"{{"id":1,"method":"initialize"}}"#).expect("it reads");
    BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it answers");
    assert!(line.contains("protocolVersion"), "{line}");
    drop(input);
    child.wait().expect("it leaves when its input ends");
}

async fn ours(isolation: Isolation) {
    let command = AgentCommand::new("sh").args(AGENT).isolation(isolation);
    let started = AgentProcess::start(&command, &ConnectOptions::default(), &StopPolicy::default()).await;
    let report = started.expect("it answers").stop().await;
    assert_eq!(report.step, StopStep::Eof);
}
