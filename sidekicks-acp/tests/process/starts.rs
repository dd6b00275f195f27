//! Agents that run and do not become ready, and what those that do were started with.

use std::path::Path;
use std::time::{Duration, Instant};

use sidekicks_acp::{AgentProcess, ConnectOptions, Phase, StopPolicy};

use crate::{READY, mark, nothing_left, quick, shell, start, start_with};

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_that_does_not_start_said_is_in_the_error() {
    let mark = mark();
    let cases = [
        (shell("echo 'no longer maintained'; echo 'use the other one' >&2"), "agent-exited"),
        (shell("read line; kill -9 $$"), "agent-exited"),
        (
            shell(format!("read line; echo '{{\"id\":1,\"result\":{{\"protocolVersion\":2}}}}'; exec sleep {mark}")),
            "unsupported-version",
        ),
        (
            shell(format!(
                "read line; echo '{{\"id\":1,\"error\":{{\"code\":1,\"message\":\"no\"}}}}'; exec sleep {mark}"
            )),
            "agent-error",
        ),
        (shell(format!("exec >&-; exec sleep {mark}")), "connection-lost"),
    ];
    for (command, code) in cases {
        let error = start(command.clone()).await.unwrap_err();
        assert_eq!((error.code(), error.phase()), (code, Phase::Initialize), "{command:?}: {error:?}");
        assert!(error.to_string().contains("/sh: "), "{error}");
        assert_eq!(error.is_transient(), code != "unsupported-version");
        if code == "agent-exited" {
            assert!(error.exit.is_some(), "{error:?}");
        }
        if command.args.iter().any(|arg| arg.to_string_lossy().contains("maintained")) {
            assert_eq!(error.noise, ["no longer maintained"]);
            assert_eq!(error.stderr, "use the other one");
            assert!(error.to_string().ends_with("(exit code 0); use the other one"), "{error}");
        }
        nothing_left(&mark).await;
    }
    // Nothing is saved by waiting for what never was ready, however patient the policy is.
    let begun = Instant::now();
    let closing = shell(format!("exec >&-; trap '' TERM; while :; do sleep {mark}; done"));
    let error = start_with(closing, &StopPolicy::default()).await.unwrap_err();
    assert_eq!(error.code(), "connection-lost");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    nothing_left(&mark).await;

    let mut options = ConnectOptions::default();
    options.start_timeout = Duration::from_millis(200);
    let slow = shell(format!("echo still loading >&2; exec sleep {mark}"));
    let error = AgentProcess::start(&slow, &options, &quick()).await.unwrap_err();
    assert_eq!((error.code(), error.stderr.as_str(), error.exit), ("start-timeout", "still loading", None));
    nothing_left(&mark).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn environment_and_folder_are_as_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(r#"{READY} echo "$ONE-${{HOME-none}}" > out; while read line; do :; done"#);
    let command = shell(script).env("ONE", "0").env("ONE", "1").env_remove("HOME").cwd(dir.path());
    start(command).await.unwrap().stop().await;
    assert_eq!(read(&dir.path().join("out")), "1-none\n");
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
