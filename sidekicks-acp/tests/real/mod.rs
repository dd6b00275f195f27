//! What tests of real processes share.
//!
//! The agents are short shell scripts. Each carries a number of its own as an argument of its `sleep`s, by which its
//! leftovers are found.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sidekicks_acp::{AgentCommand, StopPolicy};

/// Reads the handshake and answers it.
pub(crate) const READY: &str = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}';"#;

/// A number that only one test's processes have on their command line.
pub(crate) fn mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("9{}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn shell(script: impl AsRef<str>) -> AgentCommand {
    AgentCommand::new("sh").args(["-c", script.as_ref()])
}

/// Short waits, for agents that need a signal. Those that obey are stopped with the ordinary waits, which end early.
pub(crate) fn quick() -> StopPolicy {
    let mut policy = StopPolicy::default();
    policy.eof = Duration::from_millis(400);
    policy.term = Duration::from_secs(5);
    policy
}

/// Waits until `there` is true of the command lines with this mark.
pub(crate) async fn until(mark: &str, there: impl Fn(&[String]) -> bool) {
    let begun = Instant::now();
    loop {
        let lines = marked(mark);
        if there(&lines) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{lines:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A live process.
#[derive(Debug)]
pub(crate) struct Listed {
    #[allow(dead_code, reason = "not all tests signal what they find")]
    pub(crate) pid: i32,
    pub(crate) args: String,
}

/// The live processes of this machine.
pub(crate) fn listed() -> Vec<Listed> {
    let output = std::process::Command::new("ps").args(["-A", "-ww", "-o", "pid=,stat=,args="]).output().unwrap();
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let process = |line: &str| {
        let (pid, rest) = line.trim_start().split_once(' ')?;
        let (state, args) = rest.trim_start().split_once(' ')?;
        let alive = !state.starts_with('Z');
        alive.then(|| Listed { pid: pid.parse().unwrap(), args: args.trim().to_owned() })
    };
    listed.lines().filter_map(process).collect()
}

/// The command lines of live processes with this mark.
pub(crate) fn marked(mark: &str) -> Vec<String> {
    listed().into_iter().map(|process| process.args).filter(|args| args.contains(mark)).collect()
}

/// Waits until nothing with this mark is alive: death takes its time.
pub(crate) async fn nothing_left(mark: &str) {
    until(mark, <[String]>::is_empty).await;
}
