//! `sidekicks ask` in pipes: what goes where, exit codes, signals, and that nothing is left.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Mark, finish, run, shell_agent, sidekicks, signal};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

#[test]
fn only_the_answer_goes_to_stdout() {
    let mark = Mark::new();
    let (code, stdout, stderr) = run(sidekicks(&mark).args(["ask", "demo", "hello", "there"]));
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("> hello there"), "{stdout}");
    assert!(stdout.ends_with('\n'));
    mark.nothing_left();
}

#[test]
fn stdin_is_read_when_it_is_asked_for_and_otherwise_left_alone() {
    let cases: [(&[&str], &str); 3] = [
        (&["ask", "demo"], "> from a pipe"),
        (&["ask", "demo", "-"], "> from a pipe"),
        (&["ask", "demo", "look:", "-"], "> look:\n> \n> from a pipe"),
    ];
    for (args, expected) in cases {
        let mark = Mark::new();
        let mut child = sidekicks(&mark)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"from a pipe").unwrap();
        let (code, stdout, _) = finish(child);
        assert_eq!(code, 0, "{args:?}");
        assert!(stdout.replace(">\n", "> \n").contains(expected), "{args:?}: {stdout}");
        mark.nothing_left();
    }
    // A pipe that stays open hangs nobody.
    let mark = Mark::new();
    let mut child = sidekicks(&mark)
        .args(["ask", "demo", "hi"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    assert_eq!(finish(child).0, 0);
    drop(open);
}

#[test]
fn wrong_usage_is_explained_in_two_lines_at_most() {
    let mut shown = String::new();
    let cases: [&[&str]; 7] = [
        &["ask"],
        &["ask", "demp", "hi"],
        &["ask", "codex", "hi"],
        &["ask", "demo", "  "],
        &["ask", "demo", "hi", "--cwd", "/no/such/folder"],
        &["ask", "--agent-command", "sh 'unclosed", "hi"],
        &["ask", "--agent-command", "", "hi"],
    ];
    for args in cases {
        for lang in ["en", "fr"] {
            let mark = Mark::new();
            let (code, stdout, stderr) = run(sidekicks(&mark).args(args).args(["--lang", lang]));
            assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
            shown.push_str(&format!("{} {lang}\n{stderr}\n", args.join(" ")));
        }
    }
    insta::assert_snapshot!(shown);
    let (code, _, stderr) = run(sidekicks(&Mark::new()).args(["ask", "--no-such-option"]));
    assert_eq!(code, 2, "{stderr}");
}

#[test]
fn the_exit_code_tells_how_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let login = r#"printf '{"id":%s,"error":{"code":-32000,"message":"Log in","data":{"authMethods":[{"id":"b","name":"Browser"}]}}}\n' $id"#;
    let cases = [
        ("reply '{\"stopReason\":\"end_turn\"}'", 5),
        ("say hi; reply '{\"stopReason\":\"end_turn\"}'", 0),
        ("say hi; reply '{\"stopReason\":\"refusal\"}'", 5),
        ("say hi; reply '{\"stopReason\":\"pondering\"}'", 5),
        ("say hi; reply '{\"stopReason\":\"cancelled\"}'", 5),
        ("say hi; reply null", 5),
        ("say half; echo 'out of memory' >&2; exit 3", 1),
        ("say half; kill -9 $$", 1),
        (
            "printf '{\"id\":%s,\"error\":{\"code\":-32603,\"message\":\"Internal error\",\"data\":{\"error\":\"the model is gone\"}}}\\n' $id",
            1,
        ),
        (login, 4),
    ];
    let mut shown = String::new();
    for (script, expected) in cases {
        let mark = Mark::new();
        let agent = shell_agent(dir.path(), &format!("{script}; cat > /dev/null"));
        let (code, stdout, stderr) = run(sidekicks(&mark).args(["ask", "--agent-command", &agent, "hi"]));
        assert_eq!(code, expected, "{script}: {stdout} {stderr}");
        shown.push_str(&format!("{script}\n-- stdout\n{stdout}-- stderr\n{stderr}-- {code}\n\n"));
        mark.nothing_left();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn an_agent_that_does_not_start_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "no program").unwrap();
    let plain = plain.to_str().unwrap();
    let old = r#"sh -c 'echo "this agent is no longer maintained"; echo "use the other one" >&2'"#;
    let newer = r#"sh -c 'read -r line; echo "{\"id\":1,\"result\":{\"protocolVersion\":2}}"; cat >/dev/null'"#;
    let mut shown = String::new();
    for agent in ["no-such-agent --acp", plain, old, newer] {
        for lang in ["en", "fr"] {
            let mark = Mark::new();
            let mut ask = sidekicks(&mark);
            ask.args(["ask", "--lang", lang, "--agent-command", agent, "hi"]).env("PATH", "/usr/bin:/bin");
            let (code, stdout, stderr) = run(&mut ask);
            assert_eq!((code, stdout.as_str()), (4, ""), "{agent}: {stderr}");
            shown.push_str(&format!("{stderr}\n"));
            mark.nothing_left();
        }
    }
    insta::assert_snapshot!(shown.replace(plain, "/somewhere/plain"));
}

#[test]
fn without_a_terminal_nothing_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let mark = Mark::new();
    let (code, stdout, stderr) = run(sidekicks(&mark).args(["ask", "demo", "run: touch made"]).current_dir(dir.path()));
    assert_eq!(code, 0);
    assert!(stderr.contains("there is no terminal to ask on"), "{stderr}");
    assert!(stdout.contains("you said no"), "{stdout}");
    assert!(!dir.path().join("made").exists());
    mark.nothing_left();
}

#[test]
fn json_is_the_events_of_the_library_and_a_last_line() {
    let mark = Mark::new();
    let (code, stdout, stderr) = run(sidekicks(&mark).args(["--json", "ask", "demo", "hello"]));
    assert_eq!((code, stderr.as_str()), (0, ""));
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["event"], "conversation:reset");
    let text: String = events
        .iter()
        .filter(|event| event["event"] == "message:delta" && event["payload"]["kind"] == "text")
        .filter_map(|event| event["payload"]["text"].as_str())
        .collect();
    assert!(text.contains("> hello"), "{text}");
    let finished = events.iter().rev().find(|event| event["event"] == "message:updated").unwrap();
    assert_eq!(finished["payload"]["message"]["stopReason"], "end_turn");
    let parts = finished["payload"]["message"]["parts"].as_array().unwrap();
    let said: String =
        parts.iter().filter(|part| part["kind"] == "text").filter_map(|part| part["text"].as_str()).collect();
    assert_eq!(said, text);
    let done = r#"{"event":"done","payload":{"stopReason":"end_turn","error":null,"exitCode":0}}"#;
    assert_eq!(stdout.lines().last(), Some(done));
    assert!(events.iter().any(|event| event["event"] == "usage:changed"));

    let (code, stdout, _) = run(sidekicks(&mark).args(["--json", "ask", "demo", "fail: broken"]));
    let done: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!(code, 1);
    assert_eq!(done["payload"]["error"]["message"], "broken");
    assert_eq!((&done["payload"]["stopReason"], &done["payload"]["exitCode"]), (&Value::Null, &1.into()));
}

#[test]
fn a_signal_cancels_the_turn_and_leaves_nothing() {
    for (sent, expected) in
        [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGQUIT, 131)]
    {
        let mark = Mark::new();
        let mut child = sidekicks(&mark)
            .args(["--json", "ask", "demo", "stall"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        lines.find(|line| line.contains("message:delta")).expect("it begins to answer");
        signal(&child, sent);
        let rest: Vec<String> = lines.collect();
        assert_eq!(finish(child).0, expected);
        let done: Value = serde_json::from_str(rest.last().unwrap()).unwrap();
        assert_eq!(
            (&done["payload"]["stopReason"], &done["payload"]["exitCode"]),
            (&"cancelled".into(), &expected.into())
        );
        mark.nothing_left();
    }
}

#[test]
fn a_signal_while_the_agent_starts_leaves_nothing() {
    let mark = Mark::new();
    let child = sidekicks(&mark)
        .args(["ask", "--agent-command", "sh -c 'sleep 1000; :'", "hi"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    mark.until(|lines| lines.iter().any(|line| line.starts_with("sleep")));
    signal(&child, Signal::SIGINT);
    assert_eq!(finish(child).0, 130);
    mark.nothing_left();
}

/// Asks an agent, and waits until it has said that it is `working`.
fn working(mark: &Mark, agent: &str) -> Child {
    let mut child = sidekicks(mark)
        .args(["ask", "--agent-command", agent, "hi"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; "working".len()]).unwrap();
    child
}

#[test]
fn a_second_interrupt_hurries_an_agent_that_does_not_obey() {
    let dir = tempfile::tempdir().unwrap();
    let mark = Mark::new();
    let agent = shell_agent(dir.path(), "say working; trap '' TERM INT; while :; do sleep 1000; done");
    let mut child = working(&mark, &agent);
    let begun = Instant::now();
    signal(&child, Signal::SIGINT);
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(stderr.any(|line| line.unwrap().contains("Ctrl-C again")));
    signal(&child, Signal::SIGINT);
    // Whoever keeps pressing gets there: each interrupt takes the next step at once.
    let over = Arc::new(AtomicBool::new(false));
    let pressing = std::thread::spawn({
        let (over, program) = (Arc::clone(&over), Pid::from_raw(common::program(&child)));
        move || {
            while !over.load(Ordering::Acquire) && kill(program, Signal::SIGINT).is_ok() {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    });
    mark.nothing_left();
    over.store(true, Ordering::Release);
    pressing.join().unwrap();
    assert_eq!(finish(child).0, 130);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    mark.nothing_left();
}

#[test]
fn what_an_agent_that_ignores_a_cancel_started_is_ended_too() {
    let dir = tempfile::tempdir().unwrap();
    let mark = Mark::new();
    // It runs its command in a session of its own, as nearly all agents do, and never ends its turn.
    let agent = shell_agent(dir.path(), "setsid sleep 1000 & say working; while read -r line; do :; done");
    let child = working(&mark, &agent);
    mark.until(|lines| lines.iter().any(|line| line.starts_with("sleep")));
    signal(&child, Signal::SIGINT);
    let (code, _, stderr) = finish(child);
    assert_eq!(code, 130);
    assert!(stderr.contains("did not stop when told to"), "{stderr}");
    mark.nothing_left();
}

#[test]
fn when_the_program_is_killed_an_agent_that_obeys_nothing_is_ended() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    let agent = shell_agent(dir.path(), "trap '' TERM; setsid sleep 1000 & say working; sleep 1000; sleep 1000");
    let child = working(&mark, &agent);
    mark.until(|lines| lines.iter().filter(|line| line.starts_with("sleep")).count() == 2);
    signal(&child, Signal::SIGKILL);
    finish(child);
    mark.nothing_left();
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mark = Mark::new();
    let mut child = sidekicks(&mark)
        .args(["ask", "demo", "long: 1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "line 1\n");
    let (code, _, stderr) = finish(child);
    assert_eq!((code, stderr.as_str()), (0, ""));
    mark.nothing_left();
}

#[test]
fn an_output_that_takes_nothing_is_an_error() {
    let mark = Mark::new();
    for options in [&["ask"][..], &["--json", "ask"][..]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let child =
            sidekicks(&mark).args(options).args(["demo", "hi"]).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let (code, _, stderr) = finish(child);
        assert_eq!(code, 1);
        assert!(stderr.contains("stdout cannot be written to: No space left on device"), "{stderr}");
        mark.nothing_left();
    }
}

#[test]
fn a_reader_that_does_not_read_cannot_hold_an_interrupt_up() {
    let mark = Mark::new();
    let mut child = sidekicks(&mark)
        .args(["ask", "demo", "long: 10000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 1]).unwrap();
    let program = common::program(&child);
    common::until("the program to be stuck in a write", || common::waits_in(program, "pipe_w"));
    let begun = Instant::now();
    signal(&child, Signal::SIGINT);
    let unread = child.stdout.take();
    assert_eq!(finish(child).0, 130);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(unread);
    mark.nothing_left();
}

#[test]
fn a_long_answer_comes_whole_and_in_order() {
    let mark = Mark::new();
    let (code, stdout, _) = run(sidekicks(&mark).args(["ask", "demo", "long: 20000"]));
    assert_eq!(code, 0);
    let expected: String = (1..=20_000).map(|n| format!("line {n}\n")).collect();
    assert!(stdout.starts_with(&expected), "{}", &stdout[..200]);
}

#[test]
fn what_is_no_part_of_the_answer_goes_to_stderr() {
    let dir = tempfile::tempdir().unwrap();
    let notice = r#"{"sessionUpdate":"notice","severity":"warning","title":"A server is away","description":"two\nlines \u001b[31m"}"#;
    let compaction = |status| {
        format!(r#"{{"sessionUpdate":"compaction_update","compactionId":"c","status":"{status}","summary":[]}}"#)
    };
    let (running, done) = (compaction("in_progress"), compaction("completed"));
    let script = format!(
        "update '{notice}'; say 'The '; update '{running}'; say answer.; update '{done}'
         reply '{{\"stopReason\":\"end_turn\"}}'; cat > /dev/null"
    );
    let agent = shell_agent(dir.path(), &script);
    let mark = Mark::new();
    let (code, stdout, stderr) = run(sidekicks(&mark).args(["ask", "--agent-command", &agent, "hi"]));
    assert_eq!((code, &*stdout), (0, "The answer.\n"));
    insta::assert_snapshot!(stderr);
    mark.nothing_left();
}
