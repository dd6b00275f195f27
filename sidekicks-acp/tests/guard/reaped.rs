//! Starts that are given up, and the moment when a process is gone.

use std::future::{pending, ready};
use std::time::{Duration, Instant};

use sidekicks_acp::{AgentCommand, AgentConnection, AgentProcess, ConnectOptions, Phase, StartFailure, StopPolicy};

use crate::marks::{OBEY, asleep};
use crate::real::{READY, mark, marked, nothing_left, quick, shell};

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_is_given_up_returns_when_nothing_is_left() {
    let mark = mark();
    let obstinate = shell(format!("echo still loading >&2; trap '' TERM; while :; do sleep {mark}; done"));
    let begun = Instant::now();
    let given_up = asleep(&mark, 1);
    let patient = StopPolicy::default();
    let error =
        AgentProcess::start_unless(&obstinate, &ConnectOptions::default(), &patient, given_up).await.unwrap_err();
    assert_eq!(marked(&mark), [""; 0], "it is reaped by then");
    assert!(matches!(*error.failure, StartFailure::GivenUp), "{error:?}");
    assert_eq!((error.code(), error.phase(), error.exit), ("agent-stopped", Phase::Initialize, None));
    assert_eq!(error.stderr, "still loading");
    assert!(error.to_string().ends_with("sh: it was given up before it was ready; still loading"), "{error}");
    // A second for the closing of stdin and a second for SIGTERM, however patient the policy is.
    assert!(begun.elapsed() < Duration::from_secs(7), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_is_given_up_beforehand_starts_nothing() {
    let missing = AgentCommand::new("no-such-agent-anywhere");
    let error =
        AgentProcess::start_unless(&missing, &ConnectOptions::default(), &quick(), ready(())).await.unwrap_err();
    assert_eq!(error.code(), "agent-stopped");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_reaped_after_each_kind_of_end() {
    for end in ["stopped", "killed", "exits"] {
        let mark = mark();
        let script = format!("sleep {mark} & {READY} read line; [ -z \"$line\" ] || exit 3; {OBEY}");
        let agent =
            AgentProcess::start_unless(&shell(script), &ConnectOptions::default(), &quick(), pending()).await.unwrap();
        match end {
            "stopped" => drop(agent.stop().await),
            "killed" => agent.kill(),
            _ => drop(agent.connection().call_raw("vendor/leave", serde_json::json!({})).await),
        }
        tokio::join!(agent.reaped(), agent.reaped());
        assert!(format!("{agent:?}").contains("reaped"), "{end}: {agent:?}");
        nothing_left(&mark).await;
    }
}
