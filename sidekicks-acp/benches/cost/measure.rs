//! The cases, and how they are measured.

use std::process::Command;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Who takes what the agent writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// A line is read and made the schema's type, and nothing else.
    Floor,
    /// The official SDK with a typed handler.
    Sdk,
    /// This crate.
    Ours,
}

impl Side {
    pub(crate) const ALL: [Self; 3] = [Self::Floor, Self::Sdk, Self::Ours];
}

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Measure {
    /// CPU time for each update.
    Cpu(Flood),
    /// The most memory that the process ever had.
    Memory(Flood),
    /// From the agent's death to the failure of the calls that wait.
    Killed {
        /// Whether a child of the agent lives on and holds the pipes.
        grandchild: bool,
    },
}

/// Updates that an agent writes as fast as it can, in one turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flood {
    /// How many.
    pub(crate) updates: usize,
    /// How much text each has, in bytes.
    pub(crate) text: usize,
    /// How long nobody reads them, at first.
    pub(crate) stall: Duration,
}

/// One run of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) side: Side,
    pub(crate) measure: Measure,
}

impl Case {
    pub(crate) fn to_args(self) -> Vec<String> {
        let flood = |word: &str, flood: Flood| {
            let numbers = [flood.updates, flood.text, flood.stall.as_millis() as usize];
            [word.to_owned()].into_iter().chain(numbers.map(|number| number.to_string())).collect()
        };
        let mut args = vec!["case".to_owned(), format!("{:?}", self.side)];
        args.extend(match self.measure {
            Measure::Cpu(updates) => flood("cpu", updates),
            Measure::Memory(updates) => flood("memory", updates),
            Measure::Killed { grandchild } => vec!["killed".to_owned(), grandchild.to_string()],
        });
        args
    }

    pub(crate) fn from_args(args: &[String]) -> Self {
        let side = Side::ALL.into_iter().find(|side| format!("{side:?}") == args[0]).expect("the word of a side");
        let flood = || {
            let number = |at: usize| args[at].parse::<usize>().expect("a number");
            Flood { updates: number(2), text: number(3), stall: Duration::from_millis(number(4) as u64) }
        };
        let measure = match args[1].as_str() {
            "cpu" => Measure::Cpu(flood()),
            "memory" => Measure::Memory(flood()),
            _ => Measure::Killed { grandchild: args[2] == "true" },
        };
        Self { side, measure }
    }

    /// Runs the case in a process of its own.
    pub(crate) fn run(self) -> f64 {
        let program = std::env::current_exe().expect("a program knows itself");
        let output = Command::new(program).args(self.to_args()).output().expect("the program runs once more");
        let said = String::from_utf8_lossy(&output.stdout);
        said.trim().parse().unwrap_or_else(|_| {
            panic!("{self:?}: {} {said} {}", output.status, String::from_utf8_lossy(&output.stderr));
        })
    }
}

/// The CPU time of this process, all of its threads, in and out of the kernel.
pub(crate) fn cpu_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("it exists everywhere");
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros.unsigned_abs())
}

/// The most memory that this process has had resident, in bytes.
pub(crate) fn peak_memory() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("it exists everywhere");
    usage.max_rss() as f64 * if cfg!(target_vendor = "apple") { 1.0 } else { 1024.0 }
}
