//! What is found by the marker alone.

use sidekicks_acp::{AgentConnection, AgentProcess, ConnectOptions, StopStep};

use crate::marks::{OBEY, asleep, by_marker};
use crate::real::{READY, mark, nothing_left, quick, shell};

/// Leaves the group, the session and its parent.
fn daemon(mark: &str) -> String {
    format!("(setsid sh -c '(sleep {mark} &)' &);")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_is_ended_however_its_agent_ends() {
    if !by_marker() {
        return;
    }
    let cases = [
        ("stopped", OBEY, StopStep::Eof),
        ("crashes", "read line; exit 3", StopStep::AlreadyExited),
        ("killed", "read line; kill -9 $$", StopStep::AlreadyExited),
    ];
    for (name, script, step) in cases {
        let mark = mark();
        let command = shell(format!("{} {READY} {script}", daemon(&mark)));
        let agent = AgentProcess::start(&command, &ConnectOptions::default(), &quick()).await.unwrap();
        asleep(&mark, 1).await;
        if step == StopStep::AlreadyExited {
            let _ = agent.connection().call_raw("vendor/leave", serde_json::json!({})).await;
            agent.stopped().await;
        }
        let report = agent.stop().await;
        assert_eq!((report.step, report.swept), (step, 1), "{name}: {report:?}");
        nothing_left(&mark).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_is_ended_when_its_agent_is_dropped() {
    if !by_marker() {
        return;
    }
    let mark = mark();
    let command = shell(format!("{} {READY} {OBEY}", daemon(&mark)));
    let agent = AgentProcess::start(&command, &ConnectOptions::default(), &quick()).await.unwrap();
    asleep(&mark, 1).await;
    std::thread::spawn(move || drop(agent)).join().unwrap();
    nothing_left(&mark).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_stems_from_a_daemon_is_ended_although_its_environment_is_empty() {
    if !by_marker() {
        return;
    }
    let mark = mark();
    let script = format!("(setsid sh -c 'env -i sleep {mark} & (sleep {mark}; :)' &); {READY} read line; exit 0");
    let agent = AgentProcess::start(&shell(script), &ConnectOptions::default(), &quick()).await.unwrap();
    asleep(&mark, 2).await;
    let _ = agent.connection().call_raw("vendor/leave", serde_json::json!({})).await;
    assert!(agent.stopped().await.swept >= 3);
    nothing_left(&mark).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_one_agent_spares_the_daemons_of_another() {
    if !by_marker() {
        return;
    }
    let (one, two) = (mark(), mark());
    let mut agents = Vec::new();
    for mark in [&one, &two] {
        let command = shell(format!("{} {READY} {OBEY}", daemon(mark)));
        agents.push(AgentProcess::start(&command, &ConnectOptions::default(), &quick()).await.unwrap());
        asleep(mark, 1).await;
    }
    assert_eq!(agents[0].stop().await.swept, 1);
    nothing_left(&one).await;
    asleep(&two, 1).await;
    assert_eq!(agents[1].stop().await.swept, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_label_is_in_the_environment_and_cannot_be_set_away() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = ConnectOptions::default();
    options.label = "riker 2".to_owned();
    let command = shell(format!("{READY} echo \"$SIDEKICKS_AGENT\" > told; {OBEY}"));
    let command = command.env("SIDEKICKS_AGENT", "mine").env_remove("SIDEKICKS_AGENT").cwd(dir.path());
    AgentProcess::start(&command, &options, &quick()).await.unwrap().stop().await;
    let told = std::fs::read_to_string(dir.path().join("told")).unwrap();
    let own = format!("{}.", std::process::id());
    assert!(told.starts_with(&own) && told.trim_end().ends_with("/riker_2"), "{told}");
}
