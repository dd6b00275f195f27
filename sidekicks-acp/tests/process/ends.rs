//! Agents that leave by themselves, and what is heard of it.

use std::time::{Duration, Instant};

use serde_json::json;
use sidekicks_acp::schema::{ContentBlock, TextContent};
use sidekicks_acp::{
    AgentConnection, AgentProcess, CallError, ConnectOptions, End, ExitStatus, OpenSession, SessionEvent, StopStep,
};

use crate::{ISOLATIONS, READY, mark, nothing_left, quick, shell, start};

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_seen_at_once_with_its_last_words() {
    let cases = [
        ("echo bye >&2; exit 7", ExitStatus::Code(7), "bye"),
        ("echo one >&2; echo two >&2; kill -9 $$", ExitStatus::Signal(9), "one\ntwo"),
    ];
    for ((script, status, stderr), isolation) in cases.iter().flat_map(|case| ISOLATIONS.map(|how| (*case, how))) {
        let agent = start(shell(format!("{READY} read line; {script}")).isolation(isolation)).await.unwrap();
        let begun = Instant::now();
        let call = agent.connection().call_raw("vendor/crash", json!({})).await;
        let Err(CallError::Ended { end: End::Exited(exit), sent: true }) = call else { panic!("{call:?}") };
        assert_eq!((exit.status, exit.stderr.as_str()), (status, stderr));
        assert!(begun.elapsed() < Duration::from_secs(2));
        assert_eq!(agent.stop().await.step, StopStep::AlreadyExited);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_is_seen_although_a_grandchild_holds_the_pipes() {
    for isolation in ISOLATIONS {
        let mark = mark();
        let command = shell(format!("{READY} sleep {mark} & read line; exit 4")).isolation(isolation);
        let agent = start(command).await.unwrap();
        let call = agent.connection().call_raw("x", json!({}));
        let call = tokio::time::timeout(Duration::from_secs(5), call).await.unwrap();
        assert!(
            matches!(&call, Err(CallError::Ended { end: End::Exited(exit), .. }) if exit.status.code() == Some(4)),
            "{isolation:?} {call:?}"
        );
        let report = agent.stop().await;
        assert_eq!((report.step, report.stragglers), (StopStep::AlreadyExited, 1), "{isolation:?}");
        nothing_left(&mark).await;
    }
}

#[tokio::test]
async fn the_last_words_of_an_agent_are_kept_although_nobody_reads_yet() {
    let script = format!(
        r#"{READY} read line; echo '{{"jsonrpc":"2.0","id":2,"result":{{"sessionId":"s"}}}}'; read line
        pad=$(printf %0500d 0) # In all no more than a pipe holds: sixteen pages, and no line is split between two.
        for n in $(seq 80); do
            echo '{{"method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"n'$n'","p":"'$pad'"}}}}}}'
        done
        echo '{{"jsonrpc":"2.0","id":3,"result":{{"stopReason":"end_turn"}}}}'"#
    );
    let mut options = ConnectOptions::default();
    options.limits.session_queue = 2_000;
    let agent = AgentProcess::start(&shell(script), &options, &quick()).await.unwrap();
    let mut events = agent.connection().open(OpenSession::new("/")).unwrap();
    let Some(SessionEvent::Opened(Ok(session))) = events.next().await else { panic!("it opens") };
    let prompt = vec![ContentBlock::Text(TextContent::new("go"))];
    agent.connection().prompt(&session.id, prompt).unwrap();
    assert!(matches!(agent.closed().await, End::Exited(_)));
    let mut words = Vec::new();
    while let Some(event) = events.next().await {
        words.push(match event {
            SessionEvent::Update(update) => update.typed.unwrap_err().word,
            SessionEvent::TurnEnded { end, .. } => end.unwrap().stop_reason.to_string(),
            SessionEvent::Ended(end) => end.code().to_owned(),
            other => format!("{other:?}"),
        });
    }
    let mut expected: Vec<String> = (1..=80).map(|n| format!("n{n}")).collect();
    expected.extend(["end_turn".to_owned(), "agent-exited".to_owned()]);
    assert_eq!(words, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_closes_its_output_is_stopped() {
    for isolation in ISOLATIONS {
        let mark = mark();
        let command = shell(format!("{READY} exec >&-; exec sleep {mark}")).isolation(isolation);
        let agent = start(command).await.unwrap();
        assert_eq!(agent.closed().await, End::OutputClosed);
        nothing_left(&mark).await;
        assert_eq!(agent.stop().await.step, StopStep::Term, "{isolation:?}");
    }
}
