//! The table: each measure, with its three sides taking turns.

use std::time::Duration;

use crate::measure::{Case, Flood, Measure, Side};
use crate::sdk::NEVER;

/// A row of the table.
struct Row {
    name: &'static str,
    measure: Measure,
    /// Those that are measured, and how many times each.
    sides: &'static [Side],
    rounds: usize,
    target: Target,
}

/// What ours must reach.
enum Target {
    /// At most so many times the floor.
    TimesFloor(f64),
    Megabytes(f64),
    Milliseconds(f64),
}

/// Measures everything as it should be measured, and prints it row by row.
pub(crate) fn print() {
    println!("{:<48}{:>18}{:>18}{:>18}   ours must reach", "", "floor", "official SDK", "ours");
    for row in rows(1) {
        println!("{}", row.measured());
    }
}

/// Runs every case once with little to do.
pub(crate) fn try_out() {
    for row in rows(1_000) {
        for &side in row.sides {
            Case { side, measure: row.measure }.run();
        }
    }
}

fn rows(divisor: usize) -> [Row; 6] {
    const PEERS: &[Side] = &[Side::Sdk, Side::Ours];
    let stall = Duration::from_secs(3) / u32::try_from(divisor).expect("small");
    let flood = |updates, text, stall| Flood { updates: updates / divisor, text, stall };
    [
        Row {
            name: "CPU per agent_message_chunk, 12 B of text",
            measure: Measure::Cpu(flood(200_000, 12, Duration::ZERO)),
            sides: &Side::ALL,
            rounds: 7,
            target: Target::TimesFloor(1.3),
        },
        Row {
            name: "CPU per agent_message_chunk, 4 KiB of text",
            measure: Measure::Cpu(flood(60_000, 4096, Duration::ZERO)),
            sides: &Side::ALL,
            rounds: 7,
            target: Target::TimesFloor(1.4),
        },
        Row {
            name: "peak memory, 1 M updates of 200 B, 3 s unread",
            measure: Measure::Memory(flood(1_000_000, 200, stall)),
            sides: &Side::ALL,
            rounds: 1,
            target: Target::Megabytes(16.0),
        },
        Row {
            name: "peak memory, one line of 100 MB",
            measure: Measure::Memory(Flood { updates: 1, text: 100_000_000 / divisor, stall: Duration::ZERO }),
            sides: PEERS,
            rounds: 3,
            target: Target::Megabytes(80.0),
        },
        Row {
            name: "calls fail after the agent is killed",
            measure: Measure::Killed { grandchild: false },
            sides: PEERS,
            rounds: 5,
            target: Target::Milliseconds(50.0),
        },
        Row {
            name: "the same with a grandchild that holds the pipes",
            measure: Measure::Killed { grandchild: true },
            sides: PEERS,
            rounds: 3,
            target: Target::Milliseconds(300.0),
        },
    ]
}

impl Row {
    /// The line of the table.
    fn measured(&self) -> String {
        let mut rounds = [const { Vec::new() }; Side::ALL.len()];
        for _ in 0..self.rounds {
            for &side in self.sides {
                rounds[side as usize].push(Case { side, measure: self.measure }.run());
            }
        }
        let [floor, sdk, ours] = rounds.map(median);
        let shown = |value: Option<f64>| match (value, floor, &self.target) {
            (None, ..) => String::new(),
            (Some(value), Some(floor), Target::TimesFloor(_)) => {
                format!("{:.2} µs {:>5.2} ×", value / 1e3, value / floor)
            }
            (Some(value), ..) if matches!(self.measure, Measure::Killed { .. }) => {
                let over = if value >= NEVER.as_nanos() as f64 { "over " } else { "" };
                format!("{over}{:.1} ms", value / 1e6)
            }
            (Some(value), ..) => format!("{:.1} MB", value / 1e6),
        };
        let (reached, target) = match (&self.target, ours.unwrap_or(f64::NAN), floor.unwrap_or(f64::NAN)) {
            (Target::TimesFloor(target), ours, floor) => (ours / floor <= *target, format!("{target:.1} ×")),
            (Target::Megabytes(target), ours, _) => (ours / 1e6 <= *target, format!("{target:.0} MB")),
            (Target::Milliseconds(target), ours, _) => (ours / 1e6 <= *target, format!("{target:.0} ms")),
        };
        let missed = if reached { "" } else { "  MISSED" };
        let floor = floor.map(|_| shown(floor)).unwrap_or_default();
        format!("{:<48}{floor:>18}{:>18}{:>18}   {target}{missed}", self.name, shown(sdk), shown(ours))
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
