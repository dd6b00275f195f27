//! What is dropped half way: the process, its start, its stop, its runtime.

use std::time::Duration;

use sidekicks_acp::{AgentConnection, ExitStatus, StopStep};

use crate::{READY, mark, nothing_left, shell, start};

#[tokio::test(flavor = "multi_thread")]
async fn dropping_kills_at_once_even_without_a_runtime() {
    let mark = mark();
    let command =
        || shell(format!("{READY} (trap '' TERM; exec sleep {mark}) & trap '' TERM; sleep {mark}; sleep {mark}"));
    let agent = start(command()).await.unwrap();
    let connection = agent.connection().clone();
    drop(agent);
    assert_eq!(connection.closed().await.exit().map(|exit| exit.status), Some(ExitStatus::Signal(9)));
    nothing_left(&mark).await;

    let agent = start(command()).await.unwrap();
    std::thread::spawn(move || drop(agent)).join().unwrap();
    nothing_left(&mark).await;

    let agent = std::thread::spawn({
        let command = command();
        move || tokio::runtime::Runtime::new().unwrap().block_on(start(command)).unwrap()
    });
    let agent = agent.join().unwrap(); // Its runtime is gone, and with it the task that looked after it.
    nothing_left(&mark).await;
    // Somebody else reaps it now, so its number must not be signalled any more.
    assert!(format!("{agent:?}").contains("reaped"), "{agent:?}");
    assert_eq!(agent.stop().await.step, StopStep::Kill);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_is_dropped_leaves_nothing() {
    let mark = mark();
    // The last ones are long enough for a command in a session of its own.
    for patience in [0, 1, 5, 20, 60, 300] {
        let command = shell(format!("setsid sleep {mark} & sleep {mark}; {READY}"));
        let started = tokio::time::timeout(Duration::from_millis(patience), start(command)).await;
        assert!(started.is_err());
        nothing_left(&mark).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stops_that_are_dropped_go_on() {
    let mark = mark();
    let mut agents = Vec::new();
    for _ in 0..10 {
        let agent = start(shell(format!("{READY} exec sleep {mark}"))).await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(1), agent.stop()).await.is_err());
        agents.push(agent);
    }
    for agent in &agents {
        assert_eq!(agent.stop().await.step, StopStep::Term);
    }
    nothing_left(&mark).await;
}
