//! The official TypeScript SDK, in a process of its own.

use std::path::{Path, PathBuf};

use sidekicks_acp::{AgentCommand, AgentProcess, StopPolicy};

/// Where `.ci/run` puts it.
fn sdk() -> Result<PathBuf, String> {
    let agents = std::env::var_os("SIDEKICKS_TEST_AGENTS").ok_or("SIDEKICKS_TEST_AGENTS is not set")?;
    let sdk = Path::new(&agents).join("typescript-sdk/node_modules/@agentclientprotocol/sdk/dist/acp.js");
    if sdk.exists() { Ok(sdk) } else { Err(format!("there is no {}", sdk.display())) }
}

#[tokio::test]
async fn an_agent_on_the_typescript_sdk() {
    let sdk = match sdk() {
        Ok(sdk) => sdk,
        Err(why) => {
            use std::io::Write;
            // Not by a macro, which the test harness would hide.
            writeln!(std::io::stderr(), "skipped: an agent on the TypeScript SDK: {why}").unwrap();
            return;
        }
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/agent.mjs");
    let command = AgentCommand::new("node").arg(script).env("ACP_SDK", sdk);
    let agent = AgentProcess::start(&command, &super::options(), &StopPolicy::default()).await.unwrap();
    super::converse(agent.connection()).await;
    let report = agent.stop().await;
    assert_eq!(report.stderr, "");
}
