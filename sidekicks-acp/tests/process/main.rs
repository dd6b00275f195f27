//! Real processes: how an agent is started, and that nothing of it is left in whatever way it ends.
//!
//! The agents are short shell scripts. Each carries a number of its own as an argument of its `sleep`s, by which its
//! leftovers are found.

mod cycles;
mod drops;
mod ends;
mod inheritance;
mod single;
mod spawning;
mod starts;
mod stops;
mod wrappers;

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sidekicks_acp::{AgentCommand, AgentProcess, ConnectOptions, Isolation, StartError, StopPolicy};

/// Both ways to set an agent apart.
const ISOLATIONS: [Isolation; 2] = [Isolation::Group, Isolation::Session];

/// Reads the handshake and answers it.
const READY: &str = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}';"#;

/// A number that only one test's processes have on their command line.
fn mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("9{}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn shell(script: impl AsRef<str>) -> AgentCommand {
    AgentCommand::new("sh").args(["-c", script.as_ref()])
}

/// Short waits, for agents that need a signal. Those that obey are stopped with the ordinary waits, which end early.
fn quick() -> StopPolicy {
    let mut policy = StopPolicy::default();
    policy.eof = Duration::from_millis(400);
    policy.term = Duration::from_secs(5);
    policy
}

/// The same for agents that ignore SIGTERM.
fn hasty() -> StopPolicy {
    let mut policy = quick();
    policy.term = Duration::from_millis(300);
    policy
}

async fn start(command: AgentCommand) -> Result<AgentProcess, StartError> {
    start_with(command, &quick()).await
}

async fn start_with(command: AgentCommand, stop: &StopPolicy) -> Result<AgentProcess, StartError> {
    AgentProcess::start(&command, &ConnectOptions::default(), stop).await
}

/// Waits until `there` is true of the processes with this mark.
async fn until(mark: &str, there: impl Fn(&[String]) -> bool) {
    let begun = Instant::now();
    while !there(&marked(mark)) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", marked(mark));
        tokio::task::yield_now().await;
    }
}

/// The processes with this mark on their command line that are alive.
fn marked(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let path = entry.path();
        let is_process = path.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok());
        let Some(line) = is_process.then(|| std::fs::read(path.join("cmdline")).ok()).flatten() else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(mark) && !line.is_empty() {
            found.push(line);
        }
    }
    found
}

/// Waits until nothing with this mark is alive: death takes its time.
async fn nothing_left(mark: &str) {
    until(mark, <[String]>::is_empty).await;
}

/// Set where this program runs once more for one test, which needs a process of its own.
const AGAIN: &str = "SIDEKICKS_TEST_AGAIN";

/// Runs one test in a process of its own: true there, where it is to go on. `begin` makes the command from this
/// program and the arguments that choose the test; `None` where it cannot be done here.
fn alone(test: &str, begin: impl FnOnce(&std::path::Path) -> Option<Command>) -> bool {
    if std::env::var_os(AGAIN).is_some_and(|chosen| chosen == test) {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let Some(mut command) = begin(&program) else { return false };
    let output = command.args([test, "--exact", "--nocapture"]).env(AGAIN, test).output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: {test} cannot be run by itself: {error}");
            return false;
        }
    };
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{test}: {}\n{said}", output.status);
    false
}
