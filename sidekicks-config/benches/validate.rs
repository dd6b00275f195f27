//! What it costs to judge a file, good or bad, beside the least that could be: to read it as JSON.
//!
//! `cargo bench` prints the table; `cargo test --benches` only shows that each case still runs. Within a row the sides take
//! turns, so that all of them meet the same machine. A byte of a large file must cost about what one of a small file costs.

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use sidekicks_config::validate;

#[derive(Clone, Copy)]
enum Side {
    /// `serde_json`, without places.
    Floor,
    /// `jsonc-parser`, with places.
    Peer,
    /// This crate: with places, and everything that is wrong.
    Ours,
}

const SIDES: [Side; 3] = [Side::Floor, Side::Peer, Side::Ours];

/// How many times each is measured; the median is shown.
const ROUNDS: usize = 7;

const SIZES: [(&str, usize); 3] = [("12 KB", 12_000), ("220 KB", 220_000), ("2 MB", 2_000_000)];

fn main() {
    let bench = std::env::args().any(|arg| arg == "--bench");
    if bench {
        println!(
            "{:<20}{:>14}{:>14}{:>14}{:>12}{:>10}",
            "", "serde_json", "jsonc-parser", "validate", "per byte", "problems"
        );
    }
    for bad in [false, true] {
        for (name, size) in SIZES {
            let size = if bench { size } else { size / 20 };
            let text = file(size, bad);
            let problems = validate(&text);
            assert_eq!(problems.is_empty(), !bad, "{problems:?}");
            let rounds = if bench { ROUNDS } else { 1 };
            let [floor, peer, ours] = measured(&text, rounds, if bench { 4_000_000 / size } else { 1 });
            if bench {
                println!(
                    "{:<20}{:>14}{:>14}{:>14}{:>12}{:>10}",
                    format!("{} of {name}", if bad { "bad" } else { "good" }),
                    time(floor),
                    time(peer),
                    time(ours),
                    format!("{:.1} ns", ours.as_nanos() as f64 / text.len() as f64),
                    problems.len(),
                );
            }
        }
    }
}

/// The median of each side.
fn measured(text: &str, rounds: usize, times: usize) -> [Duration; 3] {
    let times = u32::try_from(times.max(1)).expect("few");
    let mut took = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        for (side, took) in SIDES.into_iter().zip(&mut took) {
            let begun = Instant::now();
            (0..times).for_each(|_| side.read(black_box(text)));
            took.push(begun.elapsed() / times);
        }
    }
    took.map(|mut took| {
        took.sort();
        took[took.len() / 2]
    })
}

impl Side {
    fn read(self, text: &str) {
        match self {
            Self::Floor => drop(black_box(serde_json::from_str::<serde_json::Value>(text).expect("JSON"))),
            Self::Peer => {
                let ast = jsonc_parser::parse_to_ast(text, &Default::default(), &Default::default());
                drop(black_box(ast.expect("JSON")));
            }
            Self::Ours => drop(black_box(validate(text))),
        }
    }
}

/// A file of about so many bytes, in which everything that stands there is used: agents, until there are as many as may be,
/// and then tool servers and folders. In a bad one each entry has a key that is misspelt and a value that is wrong.
fn file(size: usize, bad: bool) -> String {
    let wrong = if bad { r#""displayname": "x", "env": { "A-B": 1 }, "# } else { "" };
    // An agent has about 270 bytes, and a tool server with its mention 120.
    let agents = (size / 300).clamp(1, 250);
    let servers = size.saturating_sub(agents * 300) / 130;
    let each = servers.div_ceil(agents);
    let mut text = String::from("{\n  \"version\": 1,\n  \"workspaces\": { \"api\": { \"path\": \"~/src/api\" } },\n");
    text.push_str("  \"mcp_servers\": {\n");
    for n in 0..servers {
        let comma = if n + 1 < servers { "," } else { "" };
        let line =
            r#""command": "mcp-server", "args": ["--stdio", "--root", "/srv/data"], "env": { "LEVEL": "debug" }"#;
        let line = if bad {
            line.replace(r#""env": { "LEVEL": "debug" }"#, wrong.trim_end_matches(", "))
        } else {
            line.into()
        };
        writeln!(text, "    \"server{n}\": {{ {line} }}{comma}").expect("memory");
    }
    text.push_str("  },\n  \"agents\": {\n");
    for n in 0..agents {
        let mentions = (n * each..servers.min((n + 1) * each)).map(|server| format!("\"server{server}\""));
        let mentions = mentions.collect::<Vec<_>>().join(", ");
        let comma = if n + 1 < agents { "," } else { "" };
        writeln!(
            text,
            "    \"agent{n}\": {{ {wrong}\"display_name\": \"Agent 🦀 {n}\", \"command\": \"acp-agent\", \"args\": [\"--acp\", \
             \"--é\"], \"permission\": \"ask\", \"idle_timeout\": \"10min\", \"workspace\": \"{}\", \"mcp_servers\": \
             [{mentions}], \"permission_rules\": [{{ \"decide\": \"allow\", \"command\": \"cargo *\" }}] }}{comma}",
            if bad && n % 2 == 1 { "apy" } else { "api" },
        )
        .expect("memory");
    }
    text.push_str("  }\n}\n");
    text
}

fn time(took: Duration) -> String {
    match took.as_nanos() as f64 {
        nanoseconds @ ..1e6 => format!("{:.1} µs", nanoseconds / 1e3),
        nanoseconds => format!("{:.2} ms", nanoseconds / 1e6),
    }
}
