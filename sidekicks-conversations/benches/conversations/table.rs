//! The table: each case, with its two sides taking turns.

use crate::measure::{Case, Measured, Side, What};

/// A row of the table.
struct Row {
    name: &'static str,
    what: What,
    times: usize,
}

/// How many times each is measured; the median is shown.
const ROUNDS: usize = 5;

const ROWS: [Row; 14] = [
    Row { name: "fragment of 12 B, 1,000 of them", what: What::Fragment, times: 1_000 },
    Row { name: "                  10,000", what: What::Fragment, times: 10_000 },
    Row { name: "                  100,000", what: What::Fragment, times: 100_000 },
    Row { name: "                  1,000,000", what: What::Fragment, times: 1_000_000 },
    Row { name: "tool output of 100 KB replaced, 10,000 times", what: What::Output, times: 10_000 },
    Row { name: "tool output grows by 1 KiB, 1,000 times", what: What::Growth, times: 1_000 },
    Row { name: "                            100,000 times", what: What::Growth, times: 100_000 },
    Row { name: "turn of 2 messages, 500 of them", what: What::Turn, times: 500 },
    Row { name: "                    5,000", what: What::Turn, times: 5_000 },
    Row { name: "fragment to 1 reader, one by one", what: What::Readers(1), times: 100_000 },
    Row { name: "            10 readers", what: What::Readers(10), times: 100_000 },
    Row { name: "            100 readers", what: What::Readers(100), times: 100_000 },
    Row { name: "snapshot of 10,000 messages", what: What::Snapshot, times: 100_000 },
    Row { name: "the first event after it", what: What::AfterSnapshot, times: 1_000 },
];

/// Measures everything as it should be measured, and prints it row by row.
pub(crate) fn print() {
    println!(
        "{:<48}{:>12}{:>12}{:>14}{:>12}{:>12}",
        "each time", "floor", "ours", "ours, per s", "floor peak", "ours peak"
    );
    for row in &ROWS {
        let mut rounds = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            rounds[0].push(row.case(Side::Floor, row.times).run());
            rounds[1].push(row.case(Side::Ours, row.times).run());
        }
        let [floor, ours] = rounds.map(median);
        println!(
            "{:<48}{:>12}{:>12}{:>14.0}{:>12}{:>12}",
            row.name,
            time(floor.nanoseconds),
            time(ours.nanoseconds),
            1e9 / ours.nanoseconds,
            megabytes(floor.peak),
            megabytes(ours.peak),
        );
    }
}

/// Runs every case once with little to do.
pub(crate) fn try_out() {
    for row in &ROWS {
        for side in [Side::Floor, Side::Ours] {
            let measured = row.case(side, (row.times / 1_000).max(2)).run();
            assert!(measured.nanoseconds > 0.0, "{}", row.name);
        }
    }
}

impl Row {
    fn case(&self, side: Side, times: usize) -> Case {
        Case { side, what: self.what, times }
    }
}

/// The median of each measure.
fn median(rounds: Vec<Measured>) -> Measured {
    let of = |measure: fn(&Measured) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(measure).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Measured { nanoseconds: of(|round| round.nanoseconds), peak: of(|round| round.peak) }
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        ..1e3 => format!("{nanoseconds:.0} ns"),
        ..1e6 => format!("{:.2} µs", nanoseconds / 1e3),
        _ => format!("{:.2} ms", nanoseconds / 1e6),
    }
}

fn megabytes(bytes: f64) -> String {
    if bytes.is_nan() { "unknown".to_owned() } else { format!("{:.1} MB", bytes / 1e6) }
}
