//! The stop order, for every kind of agent.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use sidekicks_acp::{AgentConnection, AgentProcess, ConnectOptions, ExitStatus, StopPolicy, StopStep};

use crate::{ISOLATIONS, READY, hasty, mark, nothing_left, quick, shell, start_with, until};

#[tokio::test(flavor = "multi_thread")]
async fn the_stop_order_ends_every_kind_of_agent() {
    struct Case {
        agent: &'static str,
        step: StopStep,
        status: ExitStatus,
        stragglers: usize,
        swept: usize,
    }
    let case = |agent, step, status, stragglers, swept| Case { agent, step, status, stragglers, swept };
    let (exited, killed, term) = (ExitStatus::Code(0), ExitStatus::Signal(9), ExitStatus::Signal(15));
    const FOUND_BY_MARK: usize = if cfg!(all(target_os = "linux", not(sidekicks_posix))) { 1 } else { 0 };
    let cases = [
        case("while read line; do :; done", StopStep::Eof, exited, 0, 0),
        case("while read line; do :; done; exit 3", StopStep::Eof, ExitStatus::Code(3), 0, 0),
        case("exec sleep MARK", StopStep::Term, term, 0, 0),
        case("trap '' TERM; sleep MARK; sleep MARK", StopStep::Kill, killed, 0, 0),
        case("sleep MARK & while read line; do :; done", StopStep::Eof, exited, 1, 0),
        case("(trap '' TERM; exec sleep MARK) & while read line; do :; done", StopStep::Eof, exited, 1, 0),
        case("setsid sleep MARK & while read line; do :; done", StopStep::Eof, exited, 0, 1),
        case(
            "setsid sh -c 'trap \"\" TERM HUP; sleep MARK; :' & while read line; do :; done",
            StopStep::Eof,
            exited,
            0,
            2,
        ),
        // A daemon: its parent is gone, and only its environment tells whose it is.
        case("(setsid sleep MARK &); while read line; do :; done", StopStep::Eof, exited, 0, FOUND_BY_MARK),
        case("trap '' TERM; (setsid sleep MARK &); sleep MARK; sleep MARK", StopStep::Kill, killed, 0, FOUND_BY_MARK),
        case("kill -STOP $$", StopStep::Term, term, 0, 0),
        case(
            "yes noise 2>&1 | head -c 300000; yes err | head -c 300000 >&2; exec sleep MARK",
            StopStep::Term,
            term,
            0,
            0,
        ),
    ];
    for isolation in ISOLATIONS {
        for Case { agent, step, status, stragglers, swept } in &cases {
            let mark = mark();
            let script = format!("{READY} {}", agent.replace("MARK", &mark));
            let policy = match step {
                StopStep::Eof => StopPolicy::default(),
                StopStep::Kill => hasty(),
                _ => quick(),
            };
            let agent = start_with(shell(&script).isolation(isolation), &policy).await.unwrap();
            if script.contains("setsid") {
                // The child has a session of its own only after a moment; a stop before that finds it in the group.
                until(&mark, |lines| lines.iter().any(|line| line.starts_with("sleep"))).await;
            }
            let report = agent.stop().await;
            assert_eq!((report.step, report.status), (*step, Some(*status)), "{isolation:?} {script}: {report:?}");
            assert_eq!((report.stragglers, report.swept), (*stragglers, *swept), "{isolation:?} {script}: {report:?}");
            assert_eq!(agent.stop().await, report, "a second stop has the same report");
            assert_eq!(agent.closed().await.code(), "agent-stopped");
            if script.contains("(setsid") && FOUND_BY_MARK == 0 {
                end(&mark); // A daemon survives where nobody can read its environment.
            }
            nothing_left(&mark).await;
        }
    }
}

/// Kills all that have this mark.
fn end(mark: &str) {
    Command::new("pkill").args(["-KILL", "-f", mark]).status().unwrap();
}

#[tokio::test]
async fn hurry_skips_the_waits() {
    let mark = mark();
    let script = format!("{READY} trap '' TERM; sleep {mark}; sleep {mark}");
    let patient = StopPolicy::default();
    let agent = AgentProcess::start(&shell(script), &ConnectOptions::default(), &patient).await.unwrap();
    agent.hurry(); // No stop is under way, so this is not remembered.
    let begun = Instant::now();
    let (report, ()) = tokio::join!(agent.stop(), async {
        agent.closed().await;
        agent.hurry();
        agent.hurry();
    });
    assert_eq!(report.step, StopStep::Kill);
    assert!(begun.elapsed() < Duration::from_secs(3), "{report:?}");
    nothing_left(&mark).await;
}

#[tokio::test]
async fn what_ends_for_a_reason_of_its_own_can_be_hurried_too() {
    // One closes its output and goes on, the other leaves somebody behind.
    for end in ["trap '' TERM; exec >&-; sleep MARK; sleep MARK", "(trap '' TERM; exec sleep MARK) & exit 0"] {
        let mark = mark();
        let mut patient = StopPolicy::default();
        patient.stragglers = Duration::from_secs(60);
        let script = format!("{READY} {}", end.replace("MARK", &mark));
        let agent = AgentProcess::start(&shell(script), &ConnectOptions::default(), &patient).await.unwrap();
        let begun = Instant::now();
        agent.closed().await;
        agent.hurry();
        agent.hurry();
        let report = agent.stopped().await;
        assert!(begun.elapsed() < Duration::from_secs(4), "{end}: {report:?}");
        nothing_left(&mark).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_of_its_own_does_not_save_a_grandchild() {
    if Command::new("perl").arg("-v").output().is_err() {
        println!("skipped: there is no perl, which can make a process group");
        return;
    }
    for isolation in ISOLATIONS {
        let mark = mark();
        let grandchild = format!("perl -e 'setpgrp(0, 0); $SIG{{TERM}} = \"IGNORE\"; exec \"sleep\", \"{mark}\"'");
        let script = format!("{READY} {grandchild} & while read line; do :; done");
        let agent = start_with(shell(script).isolation(isolation), &StopPolicy::default()).await.unwrap();
        until(&mark, |lines| lines.iter().any(|line| line.starts_with("sleep"))).await;
        let report = agent.stop().await;
        assert_eq!((report.step, report.stragglers, report.swept), (StopStep::Eof, 0, 1), "{isolation:?}: {report:?}");
        nothing_left(&mark).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_does_not_wait_for_what_a_deaf_agent_was_sent() {
    for isolation in ISOLATIONS {
        let mark = mark();
        let agent =
            start_with(shell(format!("{READY} exec sleep {mark}")).isolation(isolation), &quick()).await.unwrap();
        // More than a pipe holds, so the writer is stuck in the middle of it.
        let connection = agent.connection().clone();
        let call = tokio::spawn(async move { connection.call_raw("x", json!("x".repeat(1 << 20))).await });
        until(&mark, |lines| lines.iter().any(|line| line.starts_with("sleep"))).await;
        let report = agent.stop().await;
        assert_eq!((report.step, report.stragglers), (StopStep::Term, 0), "{report:?}");
        assert_eq!(call.await.unwrap().unwrap_err().code(), "agent-stopped");
        nothing_left(&mark).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_gets_the_same_report() {
    for isolation in ISOLATIONS {
        let mark = mark();
        let command = shell(format!("{READY} exec sleep {mark}")).isolation(isolation);
        let agent = start_with(command.clone(), &quick()).await.unwrap();
        let (first, second, waited) = tokio::join!(agent.stop(), agent.stop(), agent.stopped());
        assert_eq!((first.step, &first, &first), (StopStep::Term, &second, &waited));

        let agent = start_with(command, &StopPolicy::default()).await.unwrap();
        agent.kill();
        agent.kill();
        let (stopped, waited) = tokio::join!(agent.stop(), agent.stopped());
        assert_eq!((stopped.status, &stopped), (Some(ExitStatus::Signal(9)), &waited));
        agent.kill(); // Its number may be another's by now.
        agent.hurry();
        assert_eq!(agent.stop().await, waited);
        nothing_left(&mark).await;
    }
}
