//! Borrowing, and letting go in every way.

use std::time::Duration;

use sidekicks_acp::{AgentCommand, Borrow, ConnectError, Connector, End, Generation, StopCause};
use sidekicks_agents::{Activity, AgentSpec, Specs, SpecsError};
use tokio::time::{Instant, timeout};

use crate::stage::{Plan, Stage, agents, borrow, seconds, until};

#[tokio::test(start_paused = true)]
async fn an_agent_starts_when_it_is_borrowed_and_stops_when_it_was_idle_for_long() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a"], 1));
    let agent = supervisor.agent("a");
    assert_eq!(stage.log(), [""; 0]);
    let lease = borrow(&agent).await.unwrap();
    assert_eq!(lease.generation(), Generation(1));
    tokio::time::sleep(seconds(3600)).await;
    drop(lease);
    let begun = Instant::now();
    until(&agent, Activity::Stopped, &supervisor).await;
    assert_eq!(begun.elapsed().as_secs(), 600);
    assert_eq!(stage.log(), ["launch a#1", "stop a#1 Idle", "gone a#1"]);
    assert_eq!(borrow(&agent).await.unwrap().generation(), Generation(2));
}

#[tokio::test(start_paused = true)]
async fn there_is_no_agent_of_this_name_until_there_is() {
    let stage = Stage::default();
    let supervisor = stage.supervise(Specs::new());
    let agent = supervisor.agent("a");
    assert!(matches!(borrow(&agent).await, Err(ConnectError::Unknown)));
    assert!(agent.state().is_none());
    supervisor.apply(agents(&["a"], 1)).unwrap();
    assert_eq!(borrow(&agent).await.unwrap().generation(), Generation(1));
}

#[tokio::test(start_paused = true)]
async fn who_lets_go_while_waiting_leaves_the_queue_and_the_start_goes_on() {
    let stage = Stage::default();
    stage.plan([Plan::ReadyAfter(seconds(5))]);
    let supervisor = stage.supervise(agents(&["a", "b"], 1));
    let (a, b) = (supervisor.agent("a"), supervisor.agent("b"));
    assert!(timeout(seconds(1), borrow(&a)).await.is_err());
    assert!(timeout(seconds(1), borrow(&b)).await.is_err());
    until(&a, Activity::Idle, &supervisor).await;
    assert_eq!(a.state().unwrap().waiting + b.state().unwrap().waiting, 0);
    assert_eq!(stage.log(), ["launch a#1"], "nobody waits for the other one any more");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_given_and_not_taken_comes_back() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a"], 1));
    let agent = supervisor.agent("a");
    let first = borrow(&agent).await.unwrap();
    let mut second = Box::pin(borrow(&agent));
    assert!(timeout(seconds(1), &mut second).await.is_err());
    drop(first);
    tokio::time::sleep(seconds(1)).await; // It is in the second one's hands now, and nobody looks.
    drop(second);
    drop(borrow(&agent).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_lease_may_be_dropped_where_there_is_no_runtime_and_in_a_panic() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a"], 1));
    let agent = supervisor.agent("a");
    let lease = borrow(&agent).await.unwrap();
    let panicked = std::thread::spawn(move || {
        let _lease = lease;
        panic!("planned");
    });
    assert!(panicked.join().is_err());
    drop(borrow(&agent).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_failed_start_is_told_to_everybody_who_waits_and_soon_nothing_is_tried() {
    let stage = Stage::default();
    stage.plan([Plan::Fails(seconds(1)), Plan::Panics]);
    let supervisor = stage.supervise(agents(&["a"], 1));
    let agent = supervisor.agent("a");
    let (one, other) = tokio::join!(borrow(&agent), borrow(&agent));
    assert!(matches!(one, Err(ConnectError::Start(_))));
    assert_eq!(other.unwrap_err().to_string(), "the agent could not be started");
    let Err(ConnectError::Start(panicked)) = borrow(&agent).await else { panic!("it starts") };
    assert_eq!(panicked.code(), "start-failed");
    stage.plan([Plan::Fails(seconds(1))]);
    assert!(matches!(borrow(&agent).await, Err(ConnectError::Start(_))));
    let Err(ConnectError::Backoff { retry_after, last }) = borrow(&agent).await else { panic!("it is tried") };
    assert_eq!((retry_after.as_secs(), last.code()), (59, "start-timeout"));
    assert_eq!(stage.log(), ["launch a#1", "launch a#2", "launch a#3"]);
    agent.reset();
    drop(borrow(&agent).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_seen_at_once_and_a_dead_connection_is_lent_to_nobody() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a"], 1));
    let agent = supervisor.agent("a");
    for generation in 1..200 {
        drop(borrow(&agent).await.unwrap()); // A turn that ends well: crashes do not add up.
        let lease = borrow(&agent).await.unwrap();
        assert_eq!(lease.generation(), Generation(generation));
        let next = tokio::spawn({
            let agent = agent.clone();
            async move { borrow(&agent).await.unwrap().generation() }
        });
        stage.crash("a");
        lease.connection().closed().await;
        drop(lease);
        assert_eq!(next.await.unwrap(), Generation(generation + 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_that_end_in_a_crash_are_failures_however_they_are_given_back() {
    for _ in 0..50 {
        let stage = Stage::default();
        let supervisor = stage.supervise(agents(&["a"], 1));
        let agent = supervisor.agent("a");
        for _ in 0..3 {
            let lease = borrow(&agent).await.unwrap();
            stage.crash("a");
            lease.connection().closed().await;
        }
        assert!(matches!(borrow(&agent).await, Err(ConnectError::Backoff { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_leaves_as_soon_as_it_is_ready_failed_to_start() {
    let stage = Stage::default();
    stage.plan([Plan::LeavesAtOnce]);
    let supervisor = stage.supervise(agents(&["a"], 1));
    let agent = supervisor.agent("a");
    let Err(ConnectError::Start(error)) = borrow(&agent).await else { panic!("it is lent") };
    assert_eq!(error.code(), "connection-lost");
    assert_eq!(borrow(&agent).await.unwrap().generation(), Generation(2));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_now_gets_what_is_free_now_and_starts_nothing() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a", "b"], 2));
    let mut now = Borrow::by("x");
    now.deadline = Some(Instant::now());
    let [unknown, stopped, idle] = ["unknown", "b", "a"].map(|name| supervisor.agent(name));
    drop(borrow(&idle).await.unwrap());
    assert!(matches!(unknown.borrow(now.clone()).await, Err(ConnectError::Unknown)));
    assert!(matches!(stopped.borrow(now.clone()).await, Err(ConnectError::NoRoom { .. })));
    let lease = idle.borrow(now.clone()).await.unwrap();
    now.owner = None;
    assert!(matches!(idle.borrow(now).await, Err(ConnectError::NoRoom { holders }) if holders == ["x"]));
    drop(lease);
    assert_eq!(stage.log(), ["launch a#1"]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_holds_wherever_the_time_went() {
    let stage = Stage::default();
    stage.plan([Plan::ReadyAfter(seconds(5))]);
    let supervisor = stage.supervise(agents(&["a", "b"], 1));
    let within = |owner: &str, time: Duration| {
        let mut request = Borrow::by(owner);
        request.deadline = Some(Instant::now() + time);
        request
    };
    let begun = Instant::now();
    let late = supervisor.agent("a").borrow(within("x", seconds(4))).await;
    assert!(matches!(late, Err(ConnectError::Start(_))));
    assert_eq!(begun.elapsed().as_secs(), 4);
    let lease = supervisor.agent("a").borrow(within("x", seconds(4))).await.unwrap();
    let Err(ConnectError::NoRoom { holders }) = supervisor.agent("b").borrow(within("y", seconds(4))).await else {
        panic!("there is room");
    };
    assert_eq!(holders, ["x"]);
    drop(lease);
}

#[tokio::test(start_paused = true)]
async fn a_condemned_agent_is_stopped_and_started_anew() {
    let stage = Stage::default();
    stage.stops_take(seconds(3));
    let supervisor = stage.supervise(agents(&["a"], 1));
    let agent = supervisor.agent("a");
    let lease = borrow(&agent).await.unwrap();
    let connection = lease.connection().clone();
    lease.condemn();
    assert_eq!(borrow(&agent).await.unwrap().generation(), Generation(2));
    assert_eq!(connection.closed().await, End::Stopped(StopCause::Condemned));
    assert_eq!(stage.log(), ["launch a#1", "stop a#1 Condemned", "gone a#1", "launch a#2"]);
}

#[tokio::test(start_paused = true)]
async fn specs_that_cannot_work_change_nothing() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a"], 1));
    let mut specs = agents(&["b", "c"], 1);
    let mut pinned = AgentSpec::new(AgentCommand::new("d"));
    pinned.pinned = true;
    specs = specs.agent("d", pinned);
    let refused = supervisor.apply(specs.clone());
    assert!(matches!(refused, Err(SpecsError::TooManyPinned { pinned: 1, max_running: 1, .. })));
    specs.agents.values_mut().for_each(|spec| spec.pinned = true);
    assert!(supervisor.apply(specs).is_err(), "and all of them pinned are too many themselves");
    drop(borrow(&supervisor.agent("a")).await.unwrap());
}
