//! The built-in agent as a client sees it: the real program, over JSON lines.

mod client;

use std::time::{Duration, Instant};

use client::{Client, Sleeps, Turn, output};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

#[test]
fn it_introduces_itself_with_version_1_whatever_is_offered() {
    for offered in [0, 1, 2, 99] {
        let mut client = Client::start();
        let answer = client.call("initialize", json!({"protocolVersion": offered, "clientCapabilities": {}}));
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], 1);
        assert_eq!(result["agentInfo"]["name"], "sidekicks-demo");
        assert_eq!(result["agentInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(result["agentCapabilities"]["loadSession"], false);
        let prompts = json!({"image": true, "audio": true, "embeddedContext": true});
        assert_eq!(result["agentCapabilities"]["promptCapabilities"], prompts);
        assert_eq!(client.leave().code(), Some(0));
    }
}

#[test]
fn a_plain_turn_thinks_plans_answers_and_ends() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let turn = client.play(&session, "hello there", no_questions);
    assert_eq!(turn.answer["result"], json!({"stopReason": "end_turn"}));
    assert!(turn.of("agent_thought_chunk").len() >= 2);
    assert!(turn.of("agent_message_chunk").len() >= 5);
    let text = turn.text();
    assert!(text.contains("> hello there"), "{text}");
    for word in ["`run: COMMAND`", "`write: FILE`", "`fail`", "`stall`", "`long: N`"] {
        assert!(text.contains(word), "{text}");
    }
    let plans: Vec<Vec<&str>> = turn.of("plan").iter().map(|plan| statuses(plan)).collect();
    assert_eq!(
        plans,
        [["pending", "pending"], ["in_progress", "pending"], ["completed", "in_progress"], ["completed", "completed"]]
    );
    let usage = turn.of("usage_update");
    assert_eq!(usage.len(), 1);
    assert!(usage[0]["used"].as_u64() > Some(0) && usage[0]["used"].as_u64() <= usage[0]["size"].as_u64());
    assert_eq!(turn.kinds().last(), Some(&"usage_update"));
    // One message, and a thought that is none of it.
    let messages: Vec<&Value> = turn.of("agent_message_chunk").iter().map(|chunk| &chunk["messageId"]).collect();
    assert!(messages.iter().all(|id| **id == *messages[0] && id.is_string()));
    assert_ne!(turn.of("agent_thought_chunk")[0]["messageId"], *messages[0]);
}

#[test]
fn an_empty_prompt_is_answered_and_attachments_are_told_of() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let turn = client.play_blocks(&session, json!([]), no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert!(turn.text().contains("You said nothing"));
    let image = json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8="});
    let turn = client.play_blocks(&session, json!([image, {"type": "text", "text": "see"}]), no_questions);
    assert!(turn.text().contains("- an image (`image/png`, 5 bytes)"), "{}", turn.text());
}

#[test]
fn a_new_session_offers_modes_and_commands() {
    let (mut client, folder) = ready();
    let opened = client.call("session/new", json!({"cwd": folder.path(), "mcpServers": []}));
    assert_eq!(opened["result"]["modes"]["currentModeId"], "ask");
    let update = client.until(|message| message["method"] == "session/update");
    let update = &update["params"]["update"];
    assert_eq!(update["sessionUpdate"], "available_commands_update");
    let names = update["availableCommands"].as_array().unwrap().iter().map(|command| &command["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["run", "write", "fail", "stall", "long"]);
}

#[test]
fn an_allowed_command_runs_and_its_output_streams() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    // The second half waits for us, so the first one must have been shown before.
    let command = "echo one; until test -e go; do sleep 0.02; done; echo two >&2; exit 3";
    let prompt = client.prompt(&session, &format!("run: {command}"));

    let call = client.update("tool_call");
    assert_eq!(call["title"], command);
    assert_eq!(call["kind"], "execute");
    assert_eq!(call["rawInput"], json!({"command": command}));
    assert_eq!(call.get("status").unwrap_or(&json!("pending")), "pending");

    let question = client.question();
    assert_eq!(question["params"]["sessionId"], session.as_str());
    assert_eq!(question["params"]["toolCall"]["toolCallId"], call["toolCallId"]);
    assert_eq!(question["params"]["toolCall"]["title"], command);
    let kinds = question["params"]["options"].as_array().unwrap().iter().map(|option| &option["kind"]);
    assert_eq!(kinds.collect::<Vec<_>>(), ["allow_once", "allow_always", "reject_once", "reject_always"]);
    client.choose(&question, "allow_once");

    assert_eq!(client.update("tool_call_update")["status"], "in_progress");
    assert_eq!(output(&client.update("tool_call_update")), "```\none\n```");
    std::fs::write(folder.path().join("go"), "").unwrap();
    let turn = client.finish(prompt, no_questions);
    let end = turn.last("tool_call_update");
    assert_eq!(end["toolCallId"], call["toolCallId"]);
    assert_eq!(end["status"], "failed");
    assert_eq!(output(end), "```\none\ntwo\n```");
    assert_eq!(end["rawOutput"], json!({"exitCode": 3, "signal": null, "omittedBytes": 0}));
    assert!(turn.text().contains("ended with exit code 3:\n\n```\none\ntwo\n```"), "{}", turn.text());
    assert_eq!(turn.stop_reason(), "end_turn");
}

#[test]
fn much_output_is_cut_at_its_start() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let turn = client.play(&session, "run: seq 1 200000", |_| "allow_once");
    let end = turn.last("tool_call_update");
    assert_eq!(end["status"], "completed");
    let written: u64 = (1..=200_000).map(|line: u64| line.to_string().len() as u64 + 1).sum();
    let omitted = written - 64 * 1024;
    assert_eq!(end["rawOutput"]["omittedBytes"], omitted);
    assert_eq!(end["content"][0]["content"]["text"], format!("(the first {omitted} bytes are left out)"));
    assert!(end["content"][1]["content"]["text"].as_str().unwrap().ends_with("\n199999\n200000\n```"));
}

#[test]
fn a_refused_command_does_not_run() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let turn = client.play(&session, "run: touch done\nrun: touch other", |_| "reject_once");
    assert_eq!(turn.questions.len(), 1, "the rest is left out");
    assert_eq!(turn.last("tool_call_update")["status"], "failed");
    assert!(turn.text().contains("I did not run `touch done`: you said no."), "{}", turn.text());
    assert_eq!(statuses(turn.last("plan")), ["completed", "pending"]);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn always_and_never_are_remembered_for_the_session_and_the_tool() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let asked = |turn: Turn| (turn.questions.len(), turn.last("tool_call_update")["status"].clone());
    let done = |count| (count, json!("completed"));
    let failed = |count| (count, json!("failed"));
    assert_eq!(asked(client.play(&session, "run: true", |_| "allow_always")), done(1));
    assert_eq!(asked(client.play(&session, "run: touch b", no_questions)), done(0));
    assert_eq!(asked(client.play(&session, "write: c", |_| "reject_always")), failed(1));
    assert_eq!(asked(client.play(&session, "write: d", no_questions)), failed(0));
    // A "never" holds in a mode that asks nothing, too.
    let mode = json!({"sessionId": session, "modeId": "allow"});
    assert_eq!(client.call("session/set_mode", mode)["result"], json!({}));
    assert_eq!(asked(client.play(&session, "write: d", no_questions)), failed(0));
    let other = client.open(folder.path());
    assert_eq!(asked(client.play(&other, "run: true", |_| "reject_once")), failed(1));
    assert!(folder.path().join("b").exists());
    assert!(!folder.path().join("c").exists() && !folder.path().join("d").exists());
}

#[test]
fn the_mode_allow_asks_nothing() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let unknown = client.call("session/set_mode", json!({"sessionId": session, "modeId": "yolo"}));
    assert_eq!(unknown["error"]["code"], -32602);
    client.call("session/set_mode", json!({"sessionId": session, "modeId": "allow"}));
    let turn = client.play(&session, "run: touch a\nwrite: b", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert!(folder.path().join("a").exists() && folder.path().join("b").exists());
}

#[test]
fn a_file_is_shown_as_a_diff_and_then_written() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let path = folder.path().join("notes.txt");
    let turn = client.play(&session, "write: notes.txt\nfirst\n  second\n", |_| "allow_once");
    let call = turn.last("tool_call");
    assert_eq!(call["kind"], "edit");
    assert_eq!(call["locations"], json!([{"path": path}]));
    let diff = json!([{"type": "diff", "path": path, "newText": "first\n  second\n"}]);
    assert_eq!(call["content"], diff);
    assert_eq!(turn.questions[0]["params"]["toolCall"]["content"], diff);
    assert_eq!(turn.last("tool_call_update")["status"], "completed");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first\n  second\n");

    let turn = client.play(&session, "write: notes.txt\nthird", |_| "reject_once");
    let diff = json!([{"type": "diff", "path": path, "oldText": "first\n  second\n", "newText": "third\n"}]);
    assert_eq!(turn.last("tool_call")["content"], diff);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first\n  second\n");
}

#[test]
fn a_file_that_cannot_be_written_is_a_failed_tool() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let turn = client.play(&session, "write: no/such/file\nx\nrun: touch after", |_| "allow_once");
    let first = turn.of("tool_call_update")[0];
    assert_eq!(first["status"], "failed");
    assert!(output(first).starts_with("there is no folder"), "{first}");
    assert_eq!(turn.stop_reason(), "end_turn");
    assert!(folder.path().join("after").exists(), "a failure does not end the turn");
}

#[test]
fn fail_is_an_error_with_its_reason() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let turn = client.play(&session, "fail: the moon is full", no_questions);
    assert!(!turn.text().is_empty());
    let error = json!({"code": -32603, "message": "Internal error", "data": {"error": "the moon is full"}});
    assert_eq!(turn.answer["error"], error);
    let turn = client.play(&session, "fail", no_questions);
    assert_eq!(turn.answer["error"]["data"]["error"], "the demo agent was told to fail");
    assert_eq!(client.play(&session, "hi", no_questions).stop_reason(), "end_turn");
}

#[test]
fn stall_is_cancelled_and_the_session_goes_on() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    // Nothing runs yet: this one is without effect on the next turn.
    client.cancel(&session);
    let prompt = client.prompt(&session, "stall");
    client.update("agent_message_chunk");
    client.cancel(&session);
    assert_eq!(client.finish(prompt, no_questions).stop_reason(), "cancelled");
    assert_eq!(client.play(&session, "hi", no_questions).stop_reason(), "end_turn");
}

#[test]
fn a_prompt_can_be_withdrawn_as_a_request() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let prompt = client.prompt(&session, "stall");
    client.update("agent_message_chunk");
    client.notify("$/cancel_request", json!({"requestId": prompt}));
    assert_eq!(client.finish(prompt, no_questions).stop_reason(), "cancelled");
}

#[test]
fn a_pending_question_does_not_hold_up_a_cancel() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let prompt = client.prompt(&session, "run: touch done");
    let question = client.question();
    client.cancel(&session);
    let turn = client.finish(prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.last("tool_call_update")["status"], "failed");
    // The late answers must not hurt.
    client.choose(&question, "allow_once");
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": cancelled}));
    assert_eq!(client.play(&session, "hi", no_questions).stop_reason(), "end_turn");
    assert!(!folder.path().join("done").exists());
}

#[test]
fn a_question_answered_with_cancelled_ends_the_turn() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let prompt = client.prompt(&session, "run: touch done");
    let question = client.question();
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": cancelled}));
    let turn = client.finish(prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.last("tool_call_update")["status"], "failed");
    assert!(!folder.path().join("done").exists());
}

#[test]
fn a_client_that_cannot_ask_means_no() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let prompt = client.prompt(&session, "run: touch done");
    let question = client.question();
    let error = json!({"code": -32601, "message": "Method not found"});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error}));
    let turn = client.finish(prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert!(turn.text().contains("the client could not ask you"), "{}", turn.text());
    assert!(!folder.path().join("done").exists());
}

#[test]
fn a_cancelled_command_is_killed_with_all_it_started() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let sleeps = Sleeps::new();
    let prompt = client.prompt(&session, &format!("run: {}", sleeps.command()));
    sleeps.started(&mut client);
    client.cancel(&session);
    let turn = client.finish(prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    let end = turn.last("tool_call_update");
    assert_eq!(end["status"], "failed");
    assert!(output(end).contains("up"), "{end}");
    assert_eq!(end["rawOutput"]["cancelled"], true);
    sleeps.assert_gone();
    assert_eq!(client.play(&session, "hi", no_questions).stop_reason(), "end_turn");
}

#[test]
fn nothing_is_left_when_stdin_closes_in_mid_command() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let sleeps = Sleeps::new();
    client.prompt(&session, &format!("run: {}", sleeps.command()));
    sleeps.started(&mut client);
    assert_eq!(client.leave().code(), Some(0));
    sleeps.assert_gone();
}

#[test]
fn nothing_is_left_after_a_signal() {
    for (signal, code) in
        [(Signal::SIGTERM, Some(0)), (Signal::SIGINT, Some(0)), (Signal::SIGHUP, Some(0)), (Signal::SIGKILL, None)]
    {
        let (mut client, folder) = ready();
        let session = client.open(folder.path());
        let sleeps = Sleeps::new();
        client.prompt(&session, &format!("run: {}", sleeps.command()));
        sleeps.started(&mut client);
        client.kill(signal);
        assert_eq!(client.wait().code(), code, "{signal}");
        sleeps.assert_gone();
    }
}

#[test]
fn it_leaves_soon_even_when_nobody_reads() {
    let close: fn(&mut Client) = |client| client.stdin = None;
    let terminate: fn(&mut Client) = |client| client.kill(Signal::SIGTERM);
    for leave in [close, terminate] {
        let (mut client, folder) = ready();
        let session = client.open(folder.path());
        client.prompt(&session, "long: 10000000");
        client.until(|message| message["params"]["update"]["content"]["text"] == "line 100\n");
        // From here on nobody reads, and the pipe fills up.
        let asked = Instant::now();
        leave(&mut client);
        assert_eq!(client.wait().code(), Some(0));
        // A tenth of a second is promised; the rest is for busy machines.
        assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    }
}

#[test]
fn many_lines_come_in_order_and_in_little_memory() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    // The program's own pages count, and there are many in a debug build.
    #[cfg(target_os = "linux")]
    let before = client.peak_kib();
    let turn = client.play(&session, "long: 20000", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    let expected: String = (1..=20_000).map(|line| format!("line {line}\n")).collect();
    assert!(turn.text() == expected);
    // Ten thousand queued lines alone would be more than this.
    #[cfg(target_os = "linux")]
    assert!(client.peak_kib() - before < 8 * 1024, "{} KiB after {before}", client.peak_kib());

    let prompt = client.prompt(&session, "long: 10000000");
    client.until(|message| message["params"]["update"]["content"]["text"] == "line 500\n");
    client.cancel(&session);
    assert_eq!(client.finish(prompt, no_questions).stop_reason(), "cancelled");
    let turn = client.play(&session, "long: a few", no_questions);
    assert!(turn.text().contains("needs a whole number"), "{}", turn.text());
}

#[test]
fn a_second_prompt_is_refused_while_one_runs() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let first = client.prompt(&session, "stall");
    client.update("agent_message_chunk");
    let second = client.play(&session, "hi", no_questions);
    assert_eq!(second.answer["error"]["code"], -32600);
    assert!(second.answer["error"]["data"]["error"].as_str().unwrap().contains("a turn is running"));
    client.cancel(&session);
    assert_eq!(client.finish(first, no_questions).stop_reason(), "cancelled");
}

#[test]
fn two_sessions_do_not_disturb_each_other() {
    let (mut client, folder) = ready();
    let (first, second) = (client.open(folder.path()), client.open(folder.path()));
    assert_ne!(first, second);
    let stalled = client.prompt(&first, "stall");
    client.update("agent_message_chunk");
    let turn = client.play(&second, "hello", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert!(turn.updates.iter().all(|update| update["params"]["sessionId"] == second.as_str()));
    client.cancel(&first);
    assert_eq!(client.finish(stalled, no_questions).stop_reason(), "cancelled");
}

#[test]
fn a_closed_session_ends_its_turn_and_is_gone() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let prompt = client.prompt(&session, "stall");
    client.update("agent_message_chunk");
    let close = client.request("session/close", json!({"sessionId": session}));
    let mut answers = [client.answer(), client.answer()];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["id"], prompt);
    assert_eq!(answers[0]["result"]["stopReason"], "cancelled");
    assert_eq!(answers[1], json!({"jsonrpc": "2.0", "id": close, "result": {}}));
    let turn = client.play(&session, "hi", no_questions);
    assert_eq!(turn.answer["error"]["code"], -32602);
}

#[test]
fn bad_requests_are_explained_and_harmless() {
    let (mut client, folder) = ready();
    let session = client.open(folder.path());
    let unknown = client.play("no-such-session", "hi", no_questions);
    assert_eq!(unknown.answer["error"]["code"], -32602);
    assert_eq!(unknown.answer["error"]["data"]["sessionId"], "no-such-session");
    client.cancel("no-such-session");
    let relative = client.call("session/new", json!({"cwd": "somewhere", "mcpServers": []}));
    assert_eq!(relative["error"]["code"], -32602);
    assert_eq!(client.call("session/nonsense", json!({}))["error"]["code"], -32601);
    client.notify("nonsense", json!({}));
    client.send_line("this is no JSON");
    assert_eq!(client.until(|message| message["id"].is_null() && message["error"].is_object())["id"], json!(null));
    assert_eq!(client.play(&session, "hi", no_questions).stop_reason(), "end_turn");
    assert_eq!(client.leave().code(), Some(0));
}

/// A client that has said hello, and a folder to work in.
fn ready() -> (Client, tempfile::TempDir) {
    let mut client = Client::start();
    client.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}));
    (client, tempfile::tempdir().unwrap())
}

fn no_questions(question: &Value) -> &'static str {
    panic!("nothing was to be asked: {question}")
}

fn statuses(plan: &Value) -> Vec<&str> {
    plan["entries"].as_array().unwrap().iter().map(|entry| entry["status"].as_str().unwrap()).collect()
}
