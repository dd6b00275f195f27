//! The connector for one agent, and what all handles have in common.

use sidekicks_acp::{AgentCommand, AgentProcess, Borrow, ConnectOptions, Connector, SingleAgent, StartError, StopStep};

use crate::{READY, mark, nothing_left, quick, shell, start, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_single_agent_is_kept_between_leases_and_started_again() {
    let mark = mark();
    let agent =
        SingleAgent::with(shell(format!("{READY} read line; exec sleep {mark}")), ConnectOptions::default(), quick());
    assert!(agent.stop().await.is_none(), "it does not run yet");
    let first = agent.borrow(Borrow::by("a")).await.unwrap();
    let both = tokio::join!(agent.borrow(Borrow::by("b")), agent.borrow(Borrow::default()));
    assert_eq!((first.generation(), both.0.unwrap().generation()), (both.1.unwrap().generation(), first.generation()));
    let generation = first.generation();
    let connection = first.connection().clone();
    drop(first);
    let second = agent.borrow(Borrow::default()).await.unwrap();
    assert_eq!(second.generation(), generation);
    second.condemn();
    assert_eq!(connection.closed().await.code(), "agent-stopped");
    let third = agent.borrow(Borrow::default()).await.unwrap();
    assert!(third.generation() > generation);
    assert_eq!(agent.stop().await.unwrap().step, StopStep::Term);
    nothing_left(&mark).await;

    // A condemned agent is not forgotten: a stop waits for it, and what it started in sessions of its own is swept.
    let obstinate = format!("{READY} setsid sleep {mark} & read line; while :; do sleep {mark}; done");
    let agent = SingleAgent::with(shell(obstinate), ConnectOptions::default(), quick());
    let lease = agent.borrow(Borrow::default()).await.unwrap();
    until(&mark, |lines| lines.iter().any(|line| line.starts_with("sleep"))).await;
    lease.condemn();
    let report = agent.stop().await.unwrap();
    assert_eq!((report.step, report.swept), (StopStep::Term, 1), "{report:?}");
    nothing_left(&mark).await;

    // A handshake that hangs is given up with the borrow, and nothing is left for a stop to do.
    let hanging = shell(format!("sleep {mark}; {READY}"));
    let agent = SingleAgent::with(hanging, ConnectOptions::default(), quick());
    tokio::select! {
        lease = agent.borrow(Borrow::default()) => panic!("{lease:?}"),
        () = until(&mark, |lines| !lines.is_empty()) => {}
    }
    assert!(agent.stop().await.is_none());
    nothing_left(&mark).await;

    let absent = SingleAgent::new(AgentCommand::new("no-such-agent-anywhere"));
    assert_eq!(absent.borrow(Borrow::default()).await.unwrap_err().code(), "program-not-found");
}

#[test]
fn handles_and_futures_may_go_to_any_thread() {
    fn anywhere<T: Send + Sync + 'static>() {}
    fn movable<T: Send>(_: T) {}
    anywhere::<AgentProcess>();
    anywhere::<SingleAgent>();
    anywhere::<sidekicks_acp::Connection>();
    anywhere::<sidekicks_acp::Lease>();
    anywhere::<sidekicks_acp::SessionEvents>();
    anywhere::<sidekicks_acp::PermissionRequest>();
    anywhere::<StartError>();
    movable(start(shell("")));
    movable(async {
        let agent = SingleAgent::new(shell(""));
        let lease = agent.borrow(Borrow::default()).await;
        if let Ok(lease) = lease {
            lease.connection().closed().await;
        }
        agent.stop().await;
    });
}
