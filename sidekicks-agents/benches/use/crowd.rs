//! Two hundred agents with room for eight, used at random: real processes, each a shell.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sidekicks_acp::{AgentCommand, Borrow, Connector};
use sidekicks_agents::{Activity, AgentSpec, Options, Specs, Supervisor};

const AGENTS: u64 = 200;
const ROOM: usize = 8;
const BORROWERS: u64 = 32;

/// Shakes hands, and stays until its stdin is closed.
const AGENT: &str =
    r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'; while read line; do :; done"#;

#[derive(Default)]
struct Counts {
    turns: AtomicUsize,
    /// In microseconds.
    longest: AtomicU64,
    most_running: AtomicUsize,
}

pub(crate) fn run(time: Duration) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(crowd(time));
}

async fn crowd(time: Duration) {
    let mark = format!("crowd-of-{}", std::process::id());
    let supervisor = Supervisor::new(Options::default());
    let name = |agent: u64| format!("agent {agent}");
    let command = || AgentCommand::new("sh").args(["-c", AGENT, &mark]);
    let add = |specs: Specs, agent| specs.agent(name(agent), AgentSpec::new(command()));
    let mut specs = (0..AGENTS).fold(Specs::new(), add);
    specs.max_running = NonZeroUsize::new(ROOM);
    supervisor.apply(specs).expect("they can work");

    let (counts, until) = (Arc::new(Counts::default()), Instant::now() + time);
    let watch = tokio::spawn(watch(supervisor.clone(), Arc::clone(&counts)));
    let borrowers: Vec<_> = (0..BORROWERS)
        .map(|number| {
            let (supervisor, counts) = (supervisor.clone(), Arc::clone(&counts));
            tokio::spawn(async move {
                let mut chance = number + 1;
                let mut random = |below: u64| {
                    // A linear congruence (Knuth, MMIX) is random enough here.
                    chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (chance >> 33) % below
                };
                while Instant::now() < until {
                    let (agent, hold) = (random(AGENTS), random(10));
                    let asked = Instant::now();
                    let lease = supervisor.agent(name(agent)).borrow(Borrow::by(format!("borrower {number}"))).await;
                    let lease = lease.expect("everybody is served");
                    let waited = u64::try_from(asked.elapsed().as_micros()).unwrap_or(u64::MAX);
                    counts.longest.fetch_max(waited, Ordering::Relaxed);
                    counts.turns.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(hold)).await;
                    drop(lease);
                }
            })
        })
        .collect();
    for borrower in borrowers {
        borrower.await.expect("nothing panics");
    }
    supervisor.shutdown().await;
    let starts: u64 = supervisor.states().values().map(|state| state.generation.0).sum();
    watch.abort(); // It holds the supervisor, and so would wait for ever.

    let (turns, most) = (counts.turns.load(Ordering::Relaxed), counts.most_running.load(Ordering::Relaxed));
    assert!(most <= ROOM, "{most} at once");
    assert_eq!(marked(&mark), 0, "left behind");
    let longest = counts.longest.load(Ordering::Relaxed) as f64 / 1_000.0;
    println!(
        "\n{AGENTS} agents, room for {ROOM}, {BORROWERS} borrowers, {time:?}: {turns} turns, {starts} starts, \
         never more than {most} at once, the longest wait {longest:.0} ms, nothing lost, nothing left"
    );
}

/// Counts how many run at once, at every change.
async fn watch(supervisor: Supervisor, counts: Arc<Counts>) {
    let mut changes = supervisor.changes();
    while changes.next().await.is_some() {
        let states = supervisor.states();
        let running = states.values().filter(|state| state.activity != Activity::Stopped).count();
        counts.most_running.fetch_max(running, Ordering::Relaxed);
    }
}

/// How many processes with this mark are there.
fn marked(mark: &str) -> usize {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let line = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    processes.flatten().filter_map(line).filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}
