//! What an observer sees.

use std::sync::Arc;

use sidekicks_acp::{Borrow, Connector, End, StopCause};
use sidekicks_agents::{Activity, Agent, AgentState, Changes, Supervisor};

use crate::stage::{Plan, Stage, agents, borrow, seconds, until};

fn told(change: Option<(sidekicks_acp::AgentName, Option<Arc<AgentState>>)>) -> String {
    let (name, state) = change.expect("the supervisor is there");
    let state = state.map_or("removed".to_owned(), |state| format!("{:?} #{}", state.activity, state.generation.0));
    format!("{name} {state}")
}

#[tokio::test(start_paused = true)]
async fn every_state_is_told_to_who_listens() {
    let stage = Stage::default();
    stage.plan([Plan::ReadyAfter(seconds(1))]);
    stage.stops_take(seconds(1));
    let supervisor = stage.supervise(agents(&["a"], 1));
    let agent = supervisor.agent("a");
    let mut changes = supervisor.changes();
    let first = told(changes.next().await);
    let told_meanwhile = tokio::spawn(async move {
        let mut all = vec![first];
        while let Some(change) = changes.next().await {
            all.push(told(Some(change)));
        }
        all
    });
    let lease = agent.borrow(Borrow::by("x")).await.unwrap();
    tokio::time::sleep(seconds(1)).await;
    drop(lease);
    tokio::time::sleep(seconds(1)).await;
    supervisor.shutdown().await;
    drop((supervisor, agent));
    let expected = [
        "a Stopped #0",
        "a Starting #1",
        "a Busy { leases: 1, owners: [\"x\"] } #1",
        "a Idle #1",
        "a Stopping #1",
        "a Stopped #1",
    ];
    assert_eq!(told_meanwhile.await.unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn who_looks_late_misses_only_what_was_in_between() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a", "b"], 1));
    let mut changes = supervisor.changes();
    assert_eq!([told(changes.next().await), told(changes.next().await)], ["a Stopped #0", "b Stopped #0"]);
    for _ in 0..100 {
        drop(borrow(&supervisor.agent("a")).await.unwrap());
        drop(borrow(&supervisor.agent("b")).await.unwrap());
    }
    until(&supervisor.agent("b"), Activity::Idle, &supervisor).await;
    let (name, a) = changes.next().await.unwrap();
    let a = a.unwrap();
    assert_eq!((name.as_str(), &a.activity, a.generation.0), ("a", &Activity::Stopped, 100));
    assert_eq!(a.end, Some(End::Stopped(StopCause::Room)));
    assert!(a.report.is_some());
    assert_eq!(told(changes.next().await), "b Idle #100");
    supervisor.apply(agents(&["b"], 1)).unwrap();
    assert_eq!(told(changes.next().await), "a removed");
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_part_of_the_state_until_it_works() {
    let stage = Stage::default();
    stage.plan([Plan::Fails(seconds(1)); 3]);
    let supervisor = stage.supervise(agents(&["a"], 1));
    let agent = supervisor.agent("a");
    for _ in 0..3 {
        borrow(&agent).await.unwrap_err();
    }
    let state = agent.state().unwrap();
    assert_eq!(state.failure.as_ref().unwrap().code(), "start-timeout");
    assert_eq!((state.retry_at.unwrap() - tokio::time::Instant::now()).as_secs(), 58);
    agent.reset();
    let _lease = borrow(&agent).await.unwrap();
    assert!(agent.state().unwrap().failure.is_none() && agent.state().unwrap().retry_at.is_none());
}

#[tokio::test(start_paused = true)]
async fn memory_is_measured_where_a_limit_needs_it() {
    let stage = Stage::default();
    let mut specs = agents(&["a"], 1);
    let supervisor = stage.supervise(specs.clone());
    let agent = supervisor.agent("a");
    stage.uses("a", 100);
    let lease = borrow(&agent).await.unwrap();
    tokio::time::sleep(seconds(60)).await;
    assert_eq!(agent.state().unwrap().memory, None);
    specs.agents.get_mut(&"a".into()).unwrap().memory_limit = Some(100);
    supervisor.apply(specs).unwrap();
    tokio::time::sleep(seconds(6)).await;
    assert_eq!(agent.state().unwrap().memory, Some(100));
    stage.uses("a", 101);
    tokio::time::sleep(seconds(6)).await;
    assert!(agent.state().unwrap().above_limit);
    drop(lease);
    until(&agent, Activity::Stopped, &supervisor).await;
    assert_eq!(agent.state().unwrap().end, Some(End::Stopped(StopCause::Memory)));
}

#[tokio::test(start_paused = true)]
async fn one_that_cannot_be_measured_does_not_keep_the_others_from_it() {
    let stage = Stage::default();
    stage.plan([Plan::NeverMeasured]);
    let mut specs = agents(&["a", "b"], 2);
    specs.agents.get_mut(&"b".into()).unwrap().memory_limit = Some(100);
    let supervisor = stage.supervise(specs);
    let [_a, b] = [borrow(&supervisor.agent("a")).await.unwrap(), borrow(&supervisor.agent("b")).await.unwrap()];
    tokio::time::sleep(seconds(3600)).await;
    stage.uses("b", 101);
    tokio::time::sleep(seconds(6)).await;
    assert!(supervisor.agent("b").state().unwrap().above_limit);
    drop(b);
    let begun = tokio::time::Instant::now();
    assert_eq!(supervisor.shutdown().await.len(), 2);
    assert!(begun.elapsed().is_zero(), "a stop does not wait for a measurement");
}

#[test]
fn handles_can_be_sent_anywhere() {
    fn handle<T: Clone + Send + Sync + 'static>() {}
    fn value<T: Send + Sync + 'static>(_: T) {}
    handle::<Supervisor>();
    handle::<Agent>();
    handle::<AgentState>();
    fn check(supervisor: &'static Supervisor, agent: &'static Agent, changes: &'static mut Changes) {
        value(changes.next());
        value(supervisor.stop_all());
        value(supervisor.shutdown());
        value(agent.stop());
    }
    let _ = check;
}
