//! Stopping one, all, for good, and by letting go.

use sidekicks_acp::{ConnectError, End, Generation, StopCause, StopStep};
use sidekicks_agents::Activity;
use tokio::time::{Instant, timeout};

use crate::stage::{Plan, Stage, agents, borrow, seconds, until};

#[tokio::test(start_paused = true)]
async fn all_are_stopped_at_once_and_can_be_used_again() {
    let stage = Stage::default();
    stage.stops_take(seconds(5));
    stage.plan([Plan::Ready, Plan::Ready, Plan::ReadyAfter(seconds(60))]);
    let supervisor = stage.supervise(agents(&["a", "b", "c", "d"], 3));
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| supervisor.agent(name));
    let busy = borrow(&a).await.unwrap();
    drop(borrow(&b).await.unwrap());
    let (starting, waiting) = (borrow(&c), borrow(&d));
    let begun = Instant::now();
    let stop = async {
        until(&c, Activity::Starting, &supervisor).await;
        supervisor.stop_all().await
    };
    let (starting, waiting, reports) = tokio::join!(starting, waiting, stop);
    assert_eq!(begun.elapsed().as_secs(), 5, "in parallel");
    assert!(matches!((starting, waiting), (Err(ConnectError::Stopped), Err(ConnectError::Stopped))));
    assert_eq!(reports.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(busy.connection().closed().await, End::Stopped(StopCause::Asked));
    let log = stage.log();
    assert!(log.contains(&"give up c#1".to_owned()) && !log.iter().any(|line| line.contains("d#")), "{log:?}");
    assert_eq!(borrow(&a).await.unwrap().generation(), Generation(2));
    drop(busy);
}

#[tokio::test(start_paused = true)]
async fn one_is_stopped_while_the_others_go_on() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a", "b"], 2));
    let (a, b) = (supervisor.agent("a"), supervisor.agent("b"));
    let (_busy, other) = (borrow(&a).await.unwrap(), borrow(&b).await.unwrap());
    assert_eq!(a.stop().await.unwrap().step, StopStep::Eof);
    assert!(a.stop().await.is_none() && supervisor.agent("nobody").stop().await.is_none());
    assert_eq!(a.state().unwrap().activity, Activity::Stopped);
    assert!(timeout(seconds(1), other.connection().closed()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_is_for_good_and_may_be_asked_for_by_many() {
    let stage = Stage::default();
    stage.stops_take(seconds(5));
    let supervisor = stage.supervise(agents(&["a"], 2));
    let agent = supervisor.agent("a");
    drop(borrow(&agent).await.unwrap());
    let begun = Instant::now();
    assert!(timeout(seconds(1), supervisor.shutdown()).await.is_err(), "it goes on when nobody waits");
    let (one, other, late) = tokio::join!(supervisor.shutdown(), supervisor.stop_all(), borrow(&agent));
    assert_eq!((one.len(), other.len(), begun.elapsed().as_secs()), (1, 1, 5));
    assert!(matches!(late, Err(ConnectError::Closed)));
    assert!(supervisor.shutdown().await.is_empty());
    assert!(matches!(borrow(&agent).await, Err(ConnectError::Closed)));
}

#[tokio::test(start_paused = true)]
async fn a_hurry_reaches_every_agent() {
    let stage = Stage::default();
    stage.stops_take(seconds(5));
    let supervisor = stage.supervise(agents(&["a", "b"], 2));
    for name in ["a", "b"] {
        drop(borrow(&supervisor.agent(name)).await.unwrap());
    }
    stage.log();
    let hurry = async { supervisor.hurry() };
    tokio::join!(supervisor.stop_all(), hurry);
    let log = stage.log();
    assert!(["hurry a#1", "hurry b#1"].iter().all(|hurry| log.contains(&(*hurry).to_owned())), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hurry_reaches_those_that_left_by_themselves() {
    let stage = Stage::default();
    stage.stops_take(seconds(5));
    let supervisor = stage.supervise(agents(&["a", "b"], 2));
    let agent = supervisor.agent("a");
    drop((borrow(&agent).await.unwrap(), borrow(&supervisor.agent("b")).await.unwrap()));
    stage.crash("a");
    until(&agent, Activity::Stopping, &supervisor).await;
    stage.log();
    supervisor.hurry();
    until(&agent, Activity::Stopped, &supervisor).await;
    assert_eq!(stage.log(), ["hurry a#1", "gone a#1"], "and nobody else");
}

#[tokio::test(start_paused = true)]
async fn without_handles_everything_is_stopped() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a"], 2));
    let agent = supervisor.agent("a");
    let mut changes = supervisor.changes();
    drop(supervisor);
    let lease = borrow(&agent).await.unwrap();
    drop(agent);
    let connection = lease.connection().clone();
    assert!(timeout(seconds(3600), connection.closed()).await.is_err(), "a lease is a handle too");
    drop(lease);
    assert_eq!(connection.closed().await, End::Stopped(StopCause::Asked));
    while changes.next().await.is_some() {}
    assert_eq!(stage.log(), ["launch a#1", "stop a#1 Asked", "gone a#1"]);
}

#[test]
fn without_a_runtime_nothing_goes_on_and_nobody_waits() {
    let stage = Stage::default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (supervisor, connection) = runtime.block_on(async {
        let supervisor = stage.supervise(agents(&["a"], 2));
        let connection = borrow(&supervisor.agent("a")).await.unwrap().connection().clone();
        (supervisor, connection)
    });
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        connection.closed().await;
        assert!(matches!(borrow(&supervisor.agent("a")).await, Err(ConnectError::Closed)));
        assert!(supervisor.shutdown().await.is_empty());
        assert!(supervisor.changes().next().await.is_some());
    });
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_an_agent_of_others_is_its_own_misfortune() {
    for what in ["connection", "begin_stop", "hurry", "stopped", "memory"] {
        let stage = Stage::default();
        stage.stops_take(seconds(5));
        stage.plan([Plan::Ready, Plan::PanicsIn(what)]);
        let mut specs = agents(&["a", "b"], 2);
        specs.max_memory = Some(u64::MAX);
        let supervisor = stage.supervise(specs);
        let other = borrow(&supervisor.agent("b")).await.unwrap();
        if what == "connection" {
            let waits = timeout(seconds(1), borrow(&supervisor.agent("a"))).await;
            assert!(matches!(waits, Ok(Err(ConnectError::Start(_)))), "{what}");
        } else {
            drop(borrow(&supervisor.agent("a")).await.unwrap());
        }
        tokio::time::sleep(seconds(6)).await; // Both are measured.
        let agent = supervisor.agent("a");
        let (stopped, ()) = tokio::join!(agent.stop(), async { supervisor.hurry() });
        assert!(stopped.is_none() || what == "memory", "{what}");
        assert_eq!(agent.state().unwrap().activity, Activity::Stopped, "{what}");
        assert!(borrow(&agent).await.is_ok(), "{what}");
        assert!(timeout(seconds(1), other.connection().closed()).await.is_err(), "{what}");
        assert_eq!(supervisor.shutdown().await.len(), 2, "{what}");
    }
}
