//! Agents behind a launcher, which may be what the signals reach first.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use sidekicks_acp::{AgentCommand, Isolation, StopPolicy, StopStep};

use crate::{READY, mark, nothing_left, start_with, until};

/// A launcher and its arguments, with `AGENT` for the agent: its path or, where there is no slash, its name as a package.
const LAUNCHERS: &[&[&str]] = &[
    &["sh", "-c", "DIR/AGENT"],
    &["sh", "-c", "DIR/AGENT; true"],
    &["sh", "-c", "exec DIR/AGENT"],
    &["bash", "-c", "DIR/AGENT; true"],
    &["bash", "-ic", "DIR/AGENT; true"],
    &["env", "A=b", "DIR/AGENT"],
    &["npx", "--offline", "--no", "AGENT"],
    &["npm", "exec", "--offline", "--no", "AGENT"],
    &["uv", "run", "--offline", "--no-project", "DIR/AGENT"],
    &["uvx", "--offline", "python", "-c", "import os; os.execv('DIR/AGENT', ['agent'])"],
];

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_stopped_and_killed_through_every_launcher() {
    for launcher in LAUNCHERS {
        if !is_there(launcher[0]) {
            println!("skipped: {launcher:?}: there is no {}", launcher[0]);
            continue;
        }
        for isolation in [Isolation::Auto, Isolation::Session] {
            let (dir, mark) = (tempfile::tempdir().unwrap(), mark());
            install(dir.path(), &format!("agent-{mark}"));
            let text = |text: &&str| {
                let agent = text.replace("AGENT", &format!("agent-{mark}"));
                OsString::from(agent.replace("DIR", &dir.path().to_string_lossy()))
            };
            let command = AgentCommand::new(launcher[0])
                .args(launcher[1..].iter().map(text))
                .cwd(dir.path())
                .env("HOME", dir.path())
                .env("npm_config_update_notifier", "false")
                .isolation(isolation);

            let agent = start_with(command.clone(), &StopPolicy::default()).await.unwrap();
            until(&mark, |lines| !lines.is_empty()).await;
            let report = agent.stop().await;
            assert_eq!((report.step, report.swept), (StopStep::Eof, 0), "{launcher:?} {isolation:?}: {report:?}");
            nothing_left(&mark).await;

            let agent = start_with(command, &StopPolicy::default()).await.unwrap();
            agent.kill();
            let report = agent.stopped().await;
            assert_eq!(report.status.and_then(|status| status.signal()), Some(9), "{launcher:?} {isolation:?}");
            nothing_left(&mark).await;
        }
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").stdin(Stdio::null()).output().is_ok()
}

/// Makes the agent in `dir`, and a package of it, as the launchers of Node look for one. A shell does it: what this
/// program had open for writing while another test forks could not be executed yet.
fn install(dir: &Path, name: &str) {
    const SCRIPT: &str = r#"
        printf '#!/bin/sh\n%s\nwhile read line; do :; done\n' "$2" >"$1"
        chmod 755 "$1"
        mkdir -p node_modules/.bin
        ln -s "../../$1" node_modules/.bin/
        echo '{}' >package.json
    "#;
    let made = Command::new("sh").args(["-euc", SCRIPT, "sh", name, READY]).current_dir(dir).status().unwrap();
    assert!(made.success());
}
