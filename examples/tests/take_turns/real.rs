//! Agents of other people, offline, each beside a scripted model.
//!
//! They are looked for in the folder `SIDEKICKS_TEST_AGENTS`, each in a subfolder of its name; what runs them beside
//! their model, `with_agent.py`, is looked for in `SIDEKICKS_AGENT_TOOLS`, else in `../shared/agents` beside the workspace.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::stage::Run;

const AGENTS: [&str; 3] = ["gemini-cli", "kimi-cli", "sdk-example"];

/// The commands of the agents; an error is why there are none.
fn commands() -> Result<Vec<String>, String> {
    let tools = std::env::var_os("SIDEKICKS_AGENT_TOOLS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/agents"), PathBuf::from);
    let with_agent = tools.join("with_agent.py");
    let folder =
        std::env::var_os("SIDEKICKS_TEST_AGENTS").map(PathBuf::from).ok_or("SIDEKICKS_TEST_AGENTS is not set")?;
    if !with_agent.is_file() {
        return Err(format!("there is no {}", with_agent.display()));
    }
    let command = |name: &str| {
        let installed = folder.join(name);
        if !installed.is_dir() {
            return Err(format!("{name} is not installed in {}", folder.display()));
        }
        let (with_agent, installed) = (with_agent.to_string_lossy(), installed.to_string_lossy());
        let words = ["python3", &with_agent, name, &installed, "--", "sh", "-c", "exec {agent}"];
        shlex::try_join(words).map_err(|error| error.to_string())
    };
    AGENTS.into_iter().map(command).collect()
}

/// The commands, or a printed reason for the lack of them.
fn commands_or_reason() -> Option<Vec<String>> {
    commands()
        .inspect_err(|reason| {
            // Not eprintln, which is shown for tests that fail only.
            let _ = writeln!(std::io::stderr(), "skipped: real agents taking turns: {reason}");
        })
        .ok()
}

#[test]
fn three_real_agents_take_turns() {
    let Some(agents) = commands_or_reason() else { return };
    let mut run = Run::start("hello you", &agents);
    let (status, most, printed) = run.watched();
    assert!(status.success(), "{printed}");
    assert_eq!(printed.matches("You said: hello you").count(), 4, "{printed}");
    assert_eq!(printed.matches("I'll help you with that.").count(), 2, "{printed}");
    assert_eq!(most, 1);
    run.nothing_is_left();
}

#[test]
fn a_real_agent_does_not_outlive_the_program_that_was_killed() {
    for agent in commands_or_reason().unwrap_or_default() {
        let mut run = Run::start("hello, are you there?", &[agent]);
        run.prints(" you "); // Both what they repeat and "I'll help you with that".
        assert_eq!(run.agents().len(), 1);
        run.signal("KILL");
        run.wait();
        run.nothing_is_left();
    }
}
