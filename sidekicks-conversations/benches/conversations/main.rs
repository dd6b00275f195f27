//! What a conversation costs: an agent writes as much as it can, somebody reads and holds a snapshot for each frame.
//!
//! `cargo bench` prints the table; `cargo test --benches` only shows that each case still runs. Each case is this program
//! once more, as a process of its own, so that the memory of one is not counted for another. The agent is an object in the
//! same process that puts what it says into the session's queue: no wire is measured, nor the reading of a line.

mod agent;
mod floor;
mod measure;
mod ours;
mod table;

use measure::{Case, Measured};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("case") => println!("{}", run(&Case::from_args(&args[1..]))),
        _ if args.iter().any(|arg| arg == "--bench") => table::print(),
        _ => table::try_out(),
    }
}

/// Measures one case in this process.
fn run(case: &Case) -> Measured {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be made");
    let nanoseconds = runtime.block_on(case.what.measure(case.side, case.times));
    Measured { nanoseconds, peak: measure::peak_memory() }
}
