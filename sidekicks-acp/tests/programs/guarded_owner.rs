//! Runs agents under a guard, says "ready" when they are, and stops them when its stdin is closed. Its arguments are the
//! state folder and a shell script for each agent; each line of its stdin is the script of one more, and the line `exec`
//! has it become the same program anew, with the first agent's script again.

use std::io::Write;
use std::os::unix::process::CommandExt;

use sidekicks_acp::{AgentCommand, AgentProcess, ConnectOptions, Guard, StopPolicy};
use tokio::task::JoinSet;

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let guard = Guard::start(args.next().expect("a folder")).await.expect("a guard");
    let mut options = ConnectOptions::default();
    options.guard = Some(guard);
    let mut agents = start(args, &options).await;
    loop {
        let line = tokio::task::spawn_blocking(|| std::io::stdin().lines().next());
        let Some(Ok(script)) = line.await.expect("no panic") else { break };
        if script == "exec" {
            let args: Vec<_> = std::env::args().collect();
            panic!("{}", std::process::Command::new(&args[0]).args(&args[1..3]).exec());
        }
        agents.extend(start([script], &options).await);
    }
    for agent in agents {
        agent.stop().await;
    }
}

async fn start(scripts: impl IntoIterator<Item = String>, options: &ConnectOptions) -> Vec<AgentProcess> {
    let mut starts = JoinSet::new();
    for script in scripts {
        let options = options.clone();
        let command = AgentCommand::new("sh").args(["-c", &script]);
        starts.spawn(async move { AgentProcess::start(&command, &options, &StopPolicy::default()).await });
    }
    let agents = starts.join_all().await.into_iter().map(|agent| agent.expect("an agent")).collect();
    println!("ready");
    std::io::stdout().flush().expect("somebody reads");
    agents
}
