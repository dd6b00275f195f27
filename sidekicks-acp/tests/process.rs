//! Real processes: how an agent is started, and that nothing of it is left in whatever way it ends.
//!
//! The agents are short shell scripts. Each carries a number of its own as an argument of its `sleep`s, by which its
//! leftovers are found.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use sidekicks_acp::schema::{ContentBlock, TextContent};
use sidekicks_acp::{
    AgentCommand, AgentConnection, AgentProcess, Borrow, CallError, ConnectOptions, Connector, End, ExitStatus,
    Isolation, OpenSession, Phase, SessionEvent, SingleAgent, StartError, StopPolicy, StopStep,
};

/// Reads the handshake and answers it.
const READY: &str = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}';"#;

/// A number that only one test's processes have on their command line.
fn mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("9{}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn shell(script: impl AsRef<str>) -> AgentCommand {
    AgentCommand::new("sh").args(["-c", script.as_ref()])
}

/// Short waits, for agents that need a signal. Those that obey are stopped with the ordinary waits, which end early.
fn quick() -> StopPolicy {
    let mut policy = StopPolicy::default();
    policy.eof = Duration::from_millis(400);
    policy.term = Duration::from_millis(300);
    policy
}

async fn start(command: AgentCommand) -> Result<AgentProcess, StartError> {
    start_with(command, &quick()).await
}

async fn start_with(command: AgentCommand, stop: &StopPolicy) -> Result<AgentProcess, StartError> {
    AgentProcess::start(&command, &ConnectOptions::default(), stop).await
}

/// Waits until `there` is true of the processes with this mark.
async fn until(mark: &str, there: impl Fn(&[String]) -> bool) {
    let begun = Instant::now();
    while !there(&marked(mark)) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", marked(mark));
        tokio::task::yield_now().await;
    }
}

/// The processes with this mark on their command line that are alive.
fn marked(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let path = entry.path();
        let is_process = path.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok());
        let Some(line) = is_process.then(|| std::fs::read(path.join("cmdline")).ok()).flatten() else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(mark) && !line.is_empty() {
            found.push(line);
        }
    }
    found
}

/// Waits until nothing with this mark is alive: death takes its time.
async fn nothing_left(mark: &str) {
    until(mark, <[String]>::is_empty).await;
}

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

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_seen_at_once_with_its_last_words() {
    let cases = [
        ("echo bye >&2; exit 7", ExitStatus::Code(7), "bye"),
        ("echo one >&2; echo two >&2; kill -9 $$", ExitStatus::Signal(9), "one\ntwo"),
    ];
    for (script, status, stderr) in cases {
        let agent = start(shell(format!("{READY} read line; {script}"))).await.unwrap();
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
    let mark = mark();
    let agent = start(shell(format!("{READY} sleep {mark} & read line; exit 4"))).await.unwrap();
    let call = tokio::time::timeout(Duration::from_secs(5), agent.connection().call_raw("x", json!({}))).await.unwrap();
    assert!(
        matches!(&call, Err(CallError::Ended { end: End::Exited(exit), .. }) if exit.status.code() == Some(4)),
        "{call:?}"
    );
    let report = agent.stop().await;
    assert_eq!((report.step, report.stragglers), (StopStep::AlreadyExited, 1));
    nothing_left(&mark).await;
}

#[tokio::test]
async fn the_last_words_of_an_agent_are_kept_although_nobody_reads_yet() {
    let script = format!(
        r#"{READY} read line; echo '{{"jsonrpc":"2.0","id":2,"result":{{"sessionId":"s"}}}}'; read line
        pad=$(printf %0500d 0) # In all no more than a pipe holds.
        for n in $(seq 100); do
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
    let mut expected: Vec<String> = (1..=100).map(|n| format!("n{n}")).collect();
    expected.extend(["end_turn".to_owned(), "agent-exited".to_owned()]);
    assert_eq!(words, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_closes_its_output_is_stopped() {
    let mark = mark();
    let agent = start(shell(format!("{READY} exec >&-; exec sleep {mark}"))).await.unwrap();
    assert_eq!(agent.closed().await, End::OutputClosed);
    nothing_left(&mark).await;
    assert_eq!(agent.stop().await.step, StopStep::Term);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_that_does_not_start_said_is_in_the_error() {
    let mark = mark();
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "no program").unwrap();
    let cases: Vec<(AgentCommand, &str, Phase)> = vec![
        (AgentCommand::new("no-such-agent-anywhere"), "program-not-found", Phase::Spawn),
        (AgentCommand::new(&plain), "not-executable", Phase::Spawn),
        (AgentCommand::new("sh").cwd(&missing), "bad-workspace", Phase::Spawn),
        (AgentCommand::new("sh").cwd(&plain), "bad-workspace", Phase::Spawn),
        (shell("echo 'no longer maintained'; echo 'use the other one' >&2"), "agent-exited", Phase::Initialize),
        (shell("read line; kill -9 $$"), "agent-exited", Phase::Initialize),
        (
            shell(format!("read line; echo '{{\"id\":1,\"result\":{{\"protocolVersion\":2}}}}'; exec sleep {mark}")),
            "unsupported-version",
            Phase::Initialize,
        ),
        (
            shell(format!(
                "read line; echo '{{\"id\":1,\"error\":{{\"code\":1,\"message\":\"no\"}}}}'; exec sleep {mark}"
            )),
            "agent-error",
            Phase::Initialize,
        ),
        (shell(format!("exec >&-; exec sleep {mark}")), "connection-lost", Phase::Initialize),
    ];
    for (command, code, phase) in cases {
        let error = start(command.clone()).await.unwrap_err();
        assert_eq!((error.code(), error.phase()), (code, phase), "{command:?}: {error:?}");
        assert!(error.to_string().starts_with(&*command.program.to_string_lossy()), "{error}");
        if code == "agent-exited" {
            assert!(error.exit.is_some(), "{error:?}");
        }
        if command.args.iter().any(|arg| arg.to_string_lossy().contains("maintained")) {
            assert_eq!(error.noise, ["no longer maintained"]);
            assert_eq!(error.stderr, "use the other one");
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

#[tokio::test(flavor = "multi_thread")]
async fn a_single_agent_is_kept_between_leases_and_started_again() {
    let mark = mark();
    let agent =
        SingleAgent::with(shell(format!("{READY} read line; exec sleep {mark}")), ConnectOptions::default(), quick());
    assert!(agent.stop().await.is_none(), "it does not run yet");
    let first = agent.borrow(Borrow::by("a")).await.unwrap();
    let both = tokio::join!(agent.borrow(Borrow::by("b")), agent.borrow(Borrow::default()));
    assert_eq!((first.generation(), both.0.unwrap().generation()), (both.1.unwrap().generation(), first.generation()));
    let generation = first.generation();
    let connection = first.connection().clone();
    drop(first);
    let second = agent.borrow(Borrow::default()).await.unwrap();
    assert_eq!(second.generation(), generation);
    second.condemn();
    assert_eq!(connection.closed().await.code(), "agent-stopped");
    let third = agent.borrow(Borrow::default()).await.unwrap();
    assert!(third.generation() > generation);
    assert_eq!(agent.stop().await.unwrap().step, StopStep::Term);
    nothing_left(&mark).await;

    // A condemned agent is not forgotten: a stop waits for it, and what it started in sessions of its own is swept.
    let obstinate = format!("{READY} setsid sleep {mark} & read line; while :; do sleep {mark}; done");
    let agent = SingleAgent::with(shell(obstinate), ConnectOptions::default(), quick());
    let lease = agent.borrow(Borrow::default()).await.unwrap();
    until(&mark, |lines| lines.iter().any(|line| line.starts_with("sleep"))).await;
    lease.condemn();
    let report = agent.stop().await.unwrap();
    assert_eq!((report.step, report.swept), (StopStep::Term, 1), "{report:?}");
    nothing_left(&mark).await;

    let absent = SingleAgent::new(AgentCommand::new("no-such-agent-anywhere"));
    assert_eq!(absent.borrow(Borrow::default()).await.unwrap_err().code(), "program-not-found");
}

#[test]
fn handles_and_futures_may_go_to_any_thread() {
    fn anywhere<T: Send + Sync + 'static>() {}
    fn movable<T: Send>(_: T) {}
    anywhere::<AgentProcess>();
    anywhere::<SingleAgent>();
    anywhere::<sidekicks_acp::Connection>();
    anywhere::<sidekicks_acp::Lease>();
    anywhere::<sidekicks_acp::SessionEvents>();
    anywhere::<sidekicks_acp::PermissionRequest>();
    anywhere::<StartError>();
    movable(start(shell("")));
    movable(async {
        let agent = SingleAgent::new(shell(""));
        let lease = agent.borrow(Borrow::default()).await;
        if let Ok(lease) = lease {
            lease.connection().closed().await;
        }
        agent.stop().await;
    });
}
