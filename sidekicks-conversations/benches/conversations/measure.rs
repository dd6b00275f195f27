//! The cases, and how they are measured.

use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::{floor, ours};

/// Who takes what the agent says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// The least that keeps it.
    Floor,
    /// This crate.
    Ours,
}

/// What happens, so many times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// A fragment of 12 bytes is added to one message.
    Fragment,
    /// The output of a tool, 100 KB, is replaced.
    Output,
    /// The output of a tool grows by 1 KiB.
    Growth,
    /// A message is sent and answered.
    Turn,
    /// A fragment goes to so many readers, one by one.
    Readers(usize),
    /// A snapshot is taken of 10,000 messages.
    Snapshot,
    /// The first fragment comes after a snapshot that is held, of 10,000 messages.
    AfterSnapshot,
}

/// One run of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) side: Side,
    pub(crate) what: What,
    pub(crate) times: usize,
}

/// What came of a case.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    /// Each time.
    pub(crate) nanoseconds: f64,
    /// The most memory that the process ever had, in bytes; not known everywhere.
    pub(crate) peak: f64,
}

impl What {
    pub(crate) async fn measure(self, side: Side, times: usize) -> f64 {
        let took = match (self, side) {
            (Self::Fragment, Side::Floor) => floor::fragments(times),
            (Self::Fragment, Side::Ours) => ours::fragments(times).await,
            (Self::Output, Side::Floor) => floor::outputs(times),
            (Self::Output, Side::Ours) => ours::outputs(times).await,
            (Self::Growth, Side::Floor) => floor::growth(times),
            (Self::Growth, Side::Ours) => ours::growth(times).await,
            (Self::Turn, Side::Floor) => floor::turns(times),
            (Self::Turn, Side::Ours) => ours::turns(times).await,
            (Self::Readers(readers), Side::Floor) => floor::readers(readers, times).await,
            (Self::Readers(readers), Side::Ours) => ours::readers(readers, times).await,
            (Self::Snapshot, Side::Floor) => floor::snapshots(times),
            (Self::Snapshot, Side::Ours) => ours::snapshots(times).await,
            (Self::AfterSnapshot, Side::Floor) => floor::after_snapshots(times),
            (Self::AfterSnapshot, Side::Ours) => ours::after_snapshots(times).await,
        };
        took.as_nanos() as f64 / times as f64
    }

    fn to_args(self) -> [String; 2] {
        let (word, readers) = match self {
            Self::Fragment => ("fragment", 0),
            Self::Output => ("output", 0),
            Self::Growth => ("growth", 0),
            Self::Turn => ("turn", 0),
            Self::Readers(readers) => ("readers", readers),
            Self::Snapshot => ("snapshot", 0),
            Self::AfterSnapshot => ("after-snapshot", 0),
        };
        [word.to_owned(), readers.to_string()]
    }

    fn from_args(word: &str, readers: &str) -> Self {
        match word {
            "fragment" => Self::Fragment,
            "output" => Self::Output,
            "growth" => Self::Growth,
            "turn" => Self::Turn,
            "readers" => Self::Readers(readers.parse().expect("a number")),
            "snapshot" => Self::Snapshot,
            _ => Self::AfterSnapshot,
        }
    }
}

impl Case {
    pub(crate) fn from_args(args: &[String]) -> Self {
        let side = if args[0] == "floor" { Side::Floor } else { Side::Ours };
        Self { side, what: What::from_args(&args[1], &args[2]), times: args[3].parse().expect("a number") }
    }

    /// Runs the case in a process of its own.
    pub(crate) fn run(self) -> Measured {
        let program = std::env::current_exe().expect("a program knows itself");
        let side = if self.side == Side::Floor { "floor" } else { "ours" };
        let [word, readers] = self.what.to_args();
        let args = ["case", side, &word, &readers, &self.times.to_string()];
        let output = Command::new(program).args(args).output().expect("the program runs once more");
        let said = String::from_utf8_lossy(&output.stdout);
        Measured::read(&said).unwrap_or_else(|| {
            panic!("{self:?}: {} {said} {}", output.status, String::from_utf8_lossy(&output.stderr));
        })
    }
}

impl Measured {
    fn read(said: &str) -> Option<Self> {
        let (nanoseconds, peak) = said.trim().split_once(' ')?;
        Some(Self { nanoseconds: nanoseconds.parse().ok()?, peak: peak.parse().ok()? })
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.nanoseconds, self.peak)
    }
}

/// How long `work` takes.
pub(crate) fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

/// The most memory that this process has had resident, in bytes, where `/proc` tells it.
pub(crate) fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0)
}
