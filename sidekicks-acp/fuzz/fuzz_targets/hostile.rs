//! An agent that writes anything: nothing panics, nothing hangs, everything ends, and a valid message on a line of its own
//! is delivered after it.
//!
//! The laws are those of `tests/hostile_laws.rs`, driven from coverage. With nightly Rust and `cargo install cargo-fuzz`,
//! in the folder of `sidekicks-acp`:
//!
//! ```text
//! mkdir -p fuzz/corpus/hostile
//! cargo +nightly fuzz run hostile fuzz/corpus/hostile fuzz/seeds -- -max_total_time=300 -rss_limit_mb=512 -malloc_limit_mb=64
//! ```
//!
//! What it finds is written to `fuzz/artifacts`; `cargo +nightly fuzz run hostile <file>` runs that again. A finding becomes
//! an entry of `tests/hostile`. The limits on memory are laws too: all buffers are bounded.
#![no_main]

#[allow(dead_code, reason = "the flood is for the property tests")]
#[path = "../../tests/hostile_driver/mod.rs"]
mod driver;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // The first bytes tell how it is cut; the rest is what the agent writes.
    let Some((sizes, bytes)) = input.split_first_chunk::<3>() else { return };
    driver::survive(bytes, &sizes.map(|size| usize::from(size) * usize::from(size) / 4));
});
