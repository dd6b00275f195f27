//! What borrowing costs, and many agents in use for a minute.
//!
//! `cargo bench` prints the figures; `cargo test --benches` only shows that everything still runs.

mod borrowing;
mod crowd;

use std::time::Duration;

fn main() {
    let measured = std::env::args().any(|arg| arg == "--bench");
    let (times, time) = match measured {
        true => (200_000, Duration::from_secs(60)),
        false => (200, Duration::from_millis(500)),
    };
    borrowing::run(times);
    crowd::run(time);
}
