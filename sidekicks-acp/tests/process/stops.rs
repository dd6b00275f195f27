//! The stop order, for every kind of agent.

use std::time::{Duration, Instant};

use sidekicks_acp::{AgentProcess, ConnectOptions, ExitStatus, Isolation, StopPolicy, StopStep};

use crate::{READY, mark, nothing_left, quick, shell, start_with, until};

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
        case("kill -STOP $$", StopStep::Term, term, 0, 0),
        case(
            "yes noise 2>&1 | head -c 300000; yes err | head -c 300000 >&2; exec sleep MARK",
            StopStep::Term,
            term,
            0,
            0,
        ),
    ];
    for isolation in [Isolation::Group, Isolation::Session] {
        for Case { agent, step, status, stragglers, swept } in &cases {
            let mark = mark();
            let script = format!("{READY} {}", agent.replace("MARK", &mark));
            let policy = if *step == StopStep::Eof { StopPolicy::default() } else { quick() };
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
            nothing_left(&mark).await;
        }
    }
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
