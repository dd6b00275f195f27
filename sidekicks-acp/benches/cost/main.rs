//! What a connection costs, beside the least it could cost and beside the official SDK.
//!
//! `cargo bench` prints the table; `cargo test --benches` only shows that each case still runs. Each case is this program
//! once more, as a process of its own, and so is the agent that it talks to: neither CPU nor memory of one is counted for
//! another.

mod agent;
mod floor;
mod measure;
mod ours;
mod sdk;
mod table;

use measure::{Case, Flood, Measure, Side};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("agent") => agent::run(&args[1..]),
        Some("case") => println!("{}", run(&Case::from_args(&args[1..]))),
        _ if args.iter().any(|arg| arg == "--bench") => table::print(),
        _ => table::try_out(),
    }
}

/// Measures one case in this process: nanoseconds an update, bytes at the peak, or nanoseconds of waiting.
fn run(case: &Case) -> f64 {
    match case.measure {
        Measure::Cpu(flood) => through(case.side, flood).as_nanos() as f64 / flood.updates as f64,
        Measure::Memory(flood) => {
            through(case.side, flood);
            measure::peak_memory()
        }
        Measure::Killed { grandchild } => match case.side {
            Side::Floor => 0.0,
            Side::Sdk => sdk::killed(grandchild).as_nanos() as f64,
            Side::Ours => ours::killed(grandchild).as_nanos() as f64,
        },
    }
}

/// Takes a flood, and gives the CPU time that it took.
fn through(side: Side, flood: Flood) -> std::time::Duration {
    match side {
        Side::Floor => floor::take(flood),
        Side::Sdk => sdk::take(flood),
        Side::Ours => ours::take(flood),
    }
}
