//! What is dropped half way: the process, its start, its stop, its runtime.

use std::time::Duration;

use sidekicks_acp::{AgentConnection, ExitStatus, StopStep};

use crate::{ISOLATIONS, READY, mark, nothing_left, shell, start, until};

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

#[test]
fn two_hundred_starts_that_are_dropped_leave_nothing() {
    let mark = mark();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        for number in 0..200_u64 {
            // Anywhere from before the fork to the handshake that hangs; a session takes longer.
            let patience = Duration::from_micros(number * 97 % 4_000 * (1 + number % 3));
            let command = shell(format!("setsid sleep {mark} & sleep {mark}; {READY}"));
            let command = command.isolation(ISOLATIONS[number as usize % 2]);
            assert!(tokio::time::timeout(patience, start(command)).await.is_err());
        }
    });
    drop(runtime); // Waits for the starts that are still under way on its threads.
    tokio::runtime::Runtime::new().unwrap().block_on(nothing_left(&mark));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_stops_that_are_dropped_go_on() {
    let mark = mark();
    for _ in 0..4 {
        let mut agents = Vec::new();
        for number in 0..50 {
            let command = shell(format!("{READY} exec sleep {mark}")).isolation(ISOLATIONS[number % 2]);
            let agent = start(command).await.unwrap();
            let patience = Duration::from_micros(number as u64 * 100);
            assert!(tokio::time::timeout(patience, agent.stop()).await.is_err());
            agents.push(agent);
        }
        // Nobody asks again: they end all the same.
        nothing_left(&mark).await;
        for agent in &agents {
            assert_eq!(agent.stopped().await.step, StopStep::Term);
        }
    }
}

#[test]
fn a_runtime_that_is_dropped_in_mid_stop_leaves_nothing() {
    for isolation in ISOLATIONS {
        let mark = mark();
        let command = shell(format!("{READY} trap '' TERM; setsid sleep {mark} & sleep {mark}; sleep {mark}"));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let agent = runtime.block_on(async {
            let agent = start(command.isolation(isolation)).await.unwrap();
            until(&mark, |lines| lines.iter().any(|line| line.starts_with("sleep"))).await;
            assert!(tokio::time::timeout(Duration::from_millis(50), agent.stop()).await.is_err());
            agent
        });
        drop(runtime);
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            nothing_left(&mark).await;
            assert_eq!(agent.stop().await.status, None, "nobody was there to see it");
        });
    }
}
