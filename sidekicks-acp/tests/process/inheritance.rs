//! What an agent has from us, and what it has not.

use std::process::Command;

use nix::sys::signal::{SigSet, Signal};
use sidekicks_acp::{ExitStatus, Isolation, StopStep};

use crate::{ISOLATIONS, READY, alone, mark, nothing_left, shell, start};

#[test]
fn ignored_signals_and_open_descriptors_stay_with_us_in_a_session() {
    let name = "inheritance::ignored_signals_and_open_descriptors_stay_with_us_in_a_session";
    // What a careless program does before it starts an agent, a shell does in a line.
    let careless = r#"trap '' HUP TERM; exec 9</dev/null; exec "$0" "$@""#;
    let begin = |program: &std::path::Path| {
        let mut command = Command::new("sh");
        command.args(["-c", careless]).arg(program);
        Some(command)
    };
    if !alone(name, begin) {
        return;
    }
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        for (isolation, seen, step, status) in [
            (Isolation::Session, "closed", StopStep::Term, ExitStatus::Signal(15)),
            (Isolation::Group, "open", StopStep::Kill, ExitStatus::Signal(9)),
        ] {
            let look = "[ -e /dev/fd/9 ] && echo open || echo closed";
            let error = start(shell(look).isolation(isolation)).await.unwrap_err();
            // Only Linux marks them all at once.
            let seen = if cfg!(target_os = "linux") { seen } else { "open" };
            assert_eq!(error.noise, [seen], "{isolation:?}");

            let mark = mark();
            let agent = start(shell(format!("{READY} exec sleep {mark}")).isolation(isolation)).await.unwrap();
            let report = agent.stop().await;
            assert_eq!((report.step, report.status), (step, Some(status)), "{isolation:?}");
            nothing_left(&mark).await;
        }
    });
}

#[test]
fn blocked_signals_stay_with_us_in_a_session() {
    // Of this thread, and so of all that it starts: no other test has it.
    SigSet::from(Signal::SIGTERM).thread_block().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        for isolation in ISOLATIONS {
            let mark = mark();
            let agent = start(shell(format!("{READY} exec sleep {mark}")).isolation(isolation)).await.unwrap();
            let expected = if isolation == Isolation::Session { StopStep::Term } else { StopStep::Kill };
            assert_eq!(agent.stop().await.step, expected, "{isolation:?}");
            nothing_left(&mark).await;
        }
    });
}
