//! This crate, as an embedder uses it.

use std::ffi::OsString;
use std::hint::black_box;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use sidekicks_acp::schema::{ContentBlock, TextContent};
use sidekicks_acp::{
    AgentCommand, AgentConnection, AgentProcess, ConnectOptions, OpenSession, SessionEvent, SessionEvents, StopPolicy,
};

use crate::agent;
use crate::measure::{Flood, cpu_time};

/// Takes a flood, and gives the CPU time that it took.
pub(crate) fn take(flood: Flood) -> Duration {
    runtime().block_on(async {
        let agent = start(agent::flooding(flood)).await;
        let mut events = prompted(&agent).await;
        let before = cpu_time();
        if !flood.stall.is_zero() {
            tokio::time::sleep(flood.stall).await;
        }
        let mut updates = 0;
        loop {
            match events.next().await.expect("the turn ends first") {
                SessionEvent::Update(update) => {
                    assert!(update.typed.is_ok());
                    black_box(update);
                    updates += 1;
                }
                SessionEvent::TurnEnded { end, .. } => {
                    end.expect("the agent ends the turn");
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        let took = cpu_time() - before;
        // A line that is too long to keep is counted instead.
        assert_eq!(updates + agent.connection().traffic().too_long as usize, flood.updates);
        agent.connection().call_raw("session/new", json!({})).await.expect("the connection lives");
        took
    })
}

/// From the agent's death to the failure of what waits for it.
pub(crate) fn killed(grandchild: bool) -> Duration {
    runtime().block_on(async {
        let agent = start(agent::silent(grandchild)).await;
        let mut events = prompted(&agent).await;
        let connection = agent.connection().clone();
        let call = tokio::spawn(async move { connection.call_raw("_nothing", json!({})).await });
        for heard in ["the prompt", "the call"] {
            let event = events.next().await;
            assert!(matches!(event, Some(SessionEvent::Update(_))), "the agent hears {heard}: {event:?}");
        }
        let begun = Instant::now();
        kill(Pid::from_raw(agent.pid().cast_signed()), Signal::SIGKILL).expect("it lives");
        let event = events.next().await.expect("the turn ends first");
        assert!(matches!(event, SessionEvent::TurnEnded { end: Err(_), .. }), "{event:?}");
        call.await.expect("it does not panic").expect_err("nobody answers");
        begun.elapsed()
    })
}

/// As most clients have it: one thread for everything.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be had")
}

async fn start((program, args): (OsString, Vec<String>)) -> AgentProcess {
    let command = AgentCommand::new(program).args(args);
    AgentProcess::start(&command, &ConnectOptions::default(), &StopPolicy::default()).await.expect("the agent starts")
}

/// A session in the middle of its first turn.
async fn prompted(agent: &AgentProcess) -> SessionEvents {
    let mut events = agent.connection().open(OpenSession::new("/")).expect("nothing is in the way");
    let Some(SessionEvent::Opened(Ok(session))) = events.next().await else { panic!("the agent opens a session") };
    let prompt = vec![ContentBlock::Text(TextContent::new("Go."))];
    agent.connection().prompt(&session.id, prompt).expect("nothing is in the way");
    events
}
