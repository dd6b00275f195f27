//! The rows of "Reading" that need a real process: a scripted agent as a program.
//!
//! That a process is stopped, and that nothing is left of it, is in `tests/process`.
#![cfg(unix)]

use std::time::{Duration, Instant};

use sidekicks_acp::schema::{ContentBlock, SessionId, SessionUpdate, TextContent};
use sidekicks_acp::{
    AgentCommand, AgentConnection, AgentProcess, CallError, ConnectOptions, End, ExitStatus, OpenSession, SessionEvent,
    SessionEvents, StartError, StopPolicy, StopStep,
};

/// More than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

async fn start(what: &[&str]) -> Result<AgentProcess, StartError> {
    let command = AgentCommand::new(env!("CARGO_BIN_EXE_hostile-agent")).args(what);
    AgentProcess::start(&command, &ConnectOptions::default(), &StopPolicy::default()).await
}

/// Starts the agent and a turn of it, up to its first word.
async fn prompted(what: &[&str]) -> (AgentProcess, SessionEvents) {
    let agent = start(what).await.unwrap();
    let mut events = agent.connection().open(OpenSession::new("/")).unwrap();
    assert_eq!(next(&mut events).await.as_deref(), Some("opened"));
    let hello = vec![ContentBlock::Text(TextContent::new("go"))];
    agent.connection().prompt(&SessionId::new("s1"), hello).unwrap();
    assert_eq!(next(&mut events).await.as_deref(), Some("alive"));
    (agent, events)
}

async fn next(events: &mut SessionEvents) -> Option<String> {
    let event = tokio::time::timeout(PATIENCE, events.next()).await.expect("the next event comes")?;
    Some(match event {
        SessionEvent::Opened(Ok(_)) => "opened".to_owned(),
        SessionEvent::Update(update) => match update.typed {
            Ok(SessionUpdate::AgentMessageChunk(chunk)) => match chunk.content {
                ContentBlock::Text(text) => text.text,
                other => format!("{other:?}"),
            },
            other => format!("{other:?}"),
        },
        SessionEvent::TurnEnded { end: Ok(end), .. } => end.stop_reason.to_string(),
        SessionEvent::TurnEnded { end: Err(CallError::Ended { end, sent: true }), .. } => {
            format!("failed: {}", end.code())
        }
        SessionEvent::Ended(end) => format!("ended: {}", end.code()),
        other => format!("{other:?}"),
    })
}

async fn rest(events: &mut SessionEvents) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(word) = next(events).await {
        words.push(word);
    }
    words
}

fn exit(end: Option<End>) -> (ExitStatus, String) {
    match end {
        Some(End::Exited(exit)) => (exit.status, exit.stderr),
        other => panic!("it exited, {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_banner_before_the_handshake_is_noise() {
    let (agent, mut events) = prompted(&["banner"]).await;
    assert_eq!(next(&mut events).await.as_deref(), Some("end_turn"));
    assert_eq!(agent.connection().traffic().noise_lines, ["Welcome!", "\u{1b}[2K42"]);
    assert_eq!(agent.stop().await.step, StopStep::Eof);
    assert_eq!(rest(&mut events).await, ["ended: agent-stopped"]);

    let error = start(&["never-shakes-hands"]).await.unwrap_err();
    assert_eq!((error.code(), error.exit), ("agent-exited", Some(ExitStatus::Code(0))));
    assert_eq!(error.noise, ["Log in first."]);
}

/// "EOF in mid-request": within 50 ms of the exit, with what is known.
#[tokio::test(flavor = "multi_thread")]
async fn an_exit_in_mid_line_fails_what_is_pending_with_the_last_words() {
    let (agent, mut events) = prompted(&["exits-in-mid-line"]).await;
    assert_eq!(rest(&mut events).await, ["failed: agent-exited", "ended: agent-exited"]);
    assert_eq!(exit(agent.connection().end()), (ExitStatus::Code(7), "out of memory".to_owned()));
    let traffic = agent.connection().traffic();
    assert_eq!((traffic.noise, traffic.noise_lines.len()), (1, 1), "half of a message is none");

    // All of a message without the end of its line is one, and so is the end of the turn.
    let (agent, mut events) = prompted(&["exits-after-a-line-without-end"]).await;
    assert_eq!(rest(&mut events).await, ["end_turn", "ended: agent-exited"]);
    assert_eq!(exit(agent.connection().end()), (ExitStatus::Code(0), String::new()));

    let (agent, mut events) = prompted(&["panics"]).await;
    assert_eq!(rest(&mut events).await, ["failed: agent-exited", "ended: agent-exited"]);
    let (status, stderr) = exit(agent.connection().end());
    assert_eq!((status, stderr.contains("the script is at its end")), (ExitStatus::Code(101), true), "{stderr}");
}

/// "the agent exits but a grandchild holds stdout open": seen by the exit, after 250 ms of draining at most.
#[tokio::test(flavor = "multi_thread")]
async fn an_exit_is_the_end_although_a_grandchild_holds_the_pipes() {
    let mark = format!("9{}001", std::process::id());
    let (agent, mut events) = prompted(&["leaves-a-grandchild", &mark]).await;
    let begun = Instant::now();
    assert_eq!(rest(&mut events).await, ["failed: agent-exited", "ended: agent-exited"]);
    // What the exit of a debug build takes comes on top of the 250 ms.
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(exit(agent.connection().end()).0, ExitStatus::Code(4));
    let report = agent.stopped().await;
    assert_eq!((report.step, report.stragglers), (StopStep::AlreadyExited, 1), "{report:?}");
}

/// "stdout closed, process alive": the connection ends and the process is stopped.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_is_closed_ends_the_connection_and_stops_the_process() {
    let (agent, mut events) = prompted(&["closes-its-output"]).await;
    assert_eq!(rest(&mut events).await, ["failed: connection-lost", "ended: connection-lost"]);
    assert_eq!(agent.connection().end(), Some(End::OutputClosed));
    let report = agent.stopped().await;
    assert_eq!((report.step, report.status), (StopStep::Eof, Some(ExitStatus::Code(0))));
    assert_eq!(report.stderr, "heard that all is over");
}

/// "stderr flood": always drained; the last 64 KiB kept, cut at a line.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_on_stderr_holds_nothing_up() {
    let (agent, mut events) = prompted(&["floods-stderr"]).await;
    assert_eq!(next(&mut events).await.as_deref(), Some("end_turn"));
    let report = agent.stop().await;
    assert_eq!(report.step, StopStep::Eof);
    assert!(report.stderr.len() <= 64 * 1024 && report.stderr.len() > 63 * 1024, "{}", report.stderr.len());
    let lines: Vec<&str> = report.stderr.lines().collect();
    assert_eq!(lines.last(), Some(&"caf\u{e9} \u{1F980}"));
    assert_eq!(lines[0].len(), 1_006, "it begins with a whole line");
    assert!(lines[0].starts_with("001935 "), "{}", lines[0]);
}

/// "the agent never reads its stdin": it is read all the same, and a stop does not wait for a write.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_never_reads_is_read_and_stopped() {
    let (agent, mut events) = prompted(&["floods-stdout-and-is-deaf"]).await;
    // More than a pipe holds.
    let large = serde_json::json!(["x".repeat(1 << 20)]);
    let call = tokio::spawn({
        let connection = agent.connection().clone();
        async move { connection.call_raw("vendor/large", large).await }
    });
    for _ in 0..20_000 {
        assert_eq!(next(&mut events).await.map(|text| text.len()), Some(100));
    }
    assert_eq!(next(&mut events).await.as_deref(), Some("end_turn"));
    agent.kill();
    assert_eq!(call.await.unwrap().unwrap_err().code(), "agent-exited");
    assert_eq!(rest(&mut events).await, ["ended: agent-exited"]);
}
