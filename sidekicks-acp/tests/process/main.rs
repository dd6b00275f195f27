//! Real processes: how an agent is started, and that nothing of it is left in whatever way it ends.

mod cycles;
mod drops;
mod ends;
mod inheritance;
#[path = "../real/mod.rs"]
mod real;
mod single;
mod spawning;
mod starts;
mod stops;
mod wrappers;

use std::process::Command;
use std::time::Duration;

use real::{READY, mark, nothing_left, quick, shell, until};
use sidekicks_acp::{AgentCommand, AgentProcess, ConnectOptions, Isolation, StartError, StopPolicy};

/// Both ways to set an agent apart.
const ISOLATIONS: [Isolation; 2] = [Isolation::Group, Isolation::Session];

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
