//! Questions of the agent: what they show.

mod common;

use std::sync::Arc;

use common::{ready, talk, tool_call, tool_update};
use serde_json::{Value, json};
use sidekicks_acp::testing::Peer;
use sidekicks_conversations::{Action, DANGER_CODES, DangerLevel, Permission};

/// What is asked after these updates.
async fn asked(updates: Vec<Value>, tool_call: Value, options: Value) -> (Arc<Permission>, Vec<String>) {
    let mut talk = talk(async move |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        for update in updates {
            peer.update("s1", update).await;
        }
        let params = json!({"sessionId": "s1", "toolCall": tool_call, "options": options});
        peer.send(json!({"id": 0, "method": "session/request_permission", "params": params})).await;
        assert_eq!(peer.answer(&json!(0)).await["outcome"]["outcome"], "selected");
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    let permission = talk.asked().await;
    assert_eq!(talk.with.messages().permissions, [Arc::clone(&permission)]);
    talk.with.answer(&permission.id, &permission.options[0].id).unwrap();
    talk.idle().await;
    let story = talk.story().await.split_off(5);
    (permission, story)
}

fn yes_or_no() -> Value {
    json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}])
}

#[tokio::test(start_paused = true)]
async fn options_come_in_one_order_with_all_their_ids() {
    let options = json!([
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "never", "name": "Never", "kind": "reject_once"},
        {"optionId": "policy", "name": "Always like this", "kind": "allow_always"},
        {"optionId": "maybe", "name": "Maybe", "kind": "allow_tomorrow"},
        {"optionId": "none"},
        {"optionId": "once", "name": "Once", "kind": "allow_once"},
        {"optionId": "risk", "name": "Once, and low risk always", "kind": "allow_once"},
        {"name": "no id"},
        {"optionId": "forbid", "name": "Forbid", "kind": "reject_always"}
    ]);
    let (permission, _) = asked(vec![], json!({"toolCallId": "t"}), options).await;
    let shown: Vec<_> = permission.options.iter().map(|option| (option.id.as_str(), option.kind.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("once", "allow_once"),
            ("risk", "allow_once"),
            ("always", "allow_always"),
            ("policy", "allow_always"),
            ("forbid", "reject_always"),
            ("never", "reject_once"),
            ("maybe", "allow_tomorrow"),
            ("none", "")
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn it_shows_what_there_is() {
    // A bare id of a tool that is known.
    let known = tool_call(
        "t",
        json!({"kind": "edit", "rawInput": {"path": "/a"}, "content":
        [{"type": "diff", "path": "/a", "oldText": null, "newText": "x"}]}),
    );
    let (permission, story) = asked(vec![known], json!({"toolCallId": "t"}), yes_or_no()).await;
    assert_eq!((permission.title.as_str(), permission.action), ("Tool t", Action::EditFile));
    assert_eq!((permission.paths.as_slice(), permission.diffs.len()), (["/a".to_owned()].as_slice(), 1));
    assert_eq!(story[..2], ["m2.0 tool t pending", "p3 asks: Tool t"]);

    // A bare id that nobody knows, a call that cannot be read, and none at all.
    for call in [json!({"toolCallId": "confirmation-7"}), json!({"toolCallId": 7}), json!("t"), json!(null)] {
        let (permission, story) = asked(vec![], call.clone(), yes_or_no()).await;
        assert_eq!((permission.title.as_str(), permission.action), ("", Action::Other), "{call}");
        assert_eq!(permission.tool_call_id.as_deref(), call["toolCallId"].as_str());
        assert_eq!(
            story,
            ["p3 asks: ", "asking", "p3 selected y by user", "answering", "m2 agent end_turn empty", "idle"]
        );
    }

    // Words that ACP does not know, beside those that it knows.
    let broken = json!({"toolCallId": "t", "title": "Run it", "kind": 7, "status": "soon", "rawInput":
        {"command": "make"}, "content": [{"type": "hologram"}], "locations": null});
    let (permission, story) = asked(vec![], broken, yes_or_no()).await;
    assert_eq!((permission.action, permission.command.as_deref()), (Action::RunCommand, Some("make")));
    assert_eq!(story[..2], ["m2.0 tool t soon", "p3 asks: Run it"]);
}

#[tokio::test(start_paused = true)]
async fn the_command_is_what_is_run_and_never_a_title() {
    // Only a title: it may be the command, or not.
    let call = json!({"toolCallId": "t", "title": "rm -r build", "kind": "execute"});
    let (permission, _) = asked(vec![], call, yes_or_no()).await;
    assert_eq!((permission.action, &permission.command), (Action::RunCommand, &None));
    assert_eq!(permission.title, "rm -r build");
    let [danger] = permission.dangers.as_slice() else { panic!("nothing is known of it: {permission:?}") };
    assert_eq!(
        (danger.code.as_str(), danger.level, danger.start, danger.end),
        ("not-analysed", DangerLevel::Unclear, 0, 0)
    );
    assert!(DANGER_CODES.contains(&danger.code.as_str()));

    // One that streams the input as content, and gives no kind: as kimi-cli does.
    let text = |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    let told = vec![
        tool_call("1/t", json!({"title": "Shell", "status": "in_progress", "content": text("")})),
        tool_update("1/t", json!({"title": "Shell: rm", "content": text(r#"{"command": "rm -r bu"#)})),
        tool_update("1/t", json!({"title": "Shell: rm -r build", "content": text(r#"{"command": "rm -r build"}"#)})),
    ];
    let call =
        json!({"toolCallId": "1/t", "title": "Shell: rm -r build", "content": text("Run command `rm -r build`")});
    let (permission, _) = asked(told, call, yes_or_no()).await;
    assert_eq!((permission.action, permission.command.as_deref()), (Action::RunCommand, Some("rm -r build")));
    let danger = &permission.dangers[0];
    let expected = if cfg!(feature = "dangers") { ("deletes-files", 0, 2) } else { ("not-analysed", 0, 11) };
    assert_eq!((&*danger.code, danger.start, danger.end), expected);

    // One that destroys nothing is not flagged.
    let call = json!({"toolCallId": "t", "kind": "execute", "rawInput": {"command": "grep -rn 'rm -rf' ."}});
    let (permission, _) = asked(vec![], call, yes_or_no()).await;
    assert_eq!(permission.dangers.is_empty(), cfg!(feature = "dangers"));
}

#[tokio::test(start_paused = true)]
async fn what_a_change_of_files_may_destroy_is_flagged() {
    let diff =
        |path: &str, old: Value, new: &str| json!({"type": "diff", "path": path, "oldText": old, "newText": new});
    let edit = |path: &str, old: Value, new: &str| json!({"kind": "edit", "content": [diff(path, old, new)]});
    // The agent works in /work.
    let cases: [(Value, &[&str]); 7] = [
        (edit("/work/src/a.rs", json!("a"), "b"), &[]),
        (edit("src/a.rs", json!(null), "b"), &[]),
        (edit("/work/a", json!("a"), ""), &["overwrites-file"]),
        (edit("/work/../etc/passwd", json!("a"), "b"), &["outside-workspace"]),
        (edit(".git/hooks/pre-commit", json!(null), "b"), &["touches-git"]),
        (
            json!({"kind": "edit", "rawInput": {"file_path": "/home/me/.bashrc"}}),
            &["outside-workspace", "touches-shell-start"],
        ),
        (json!({"kind": "delete", "rawInput": {"abs_path": "/work/a"}}), &["deletes-files"]),
    ];
    for (call, expected) in cases {
        let call = common::with(json!({"toolCallId": "t", "title": "T"}), call);
        let (permission, _) = asked(vec![], call.clone(), yes_or_no()).await;
        let codes: Vec<&str> = permission.dangers.iter().map(|danger| danger.code.as_str()).collect();
        assert_eq!(codes, expected, "{call}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_is_told_once_in_however_many_ways_it_is_written() {
    // As kimi-cli does. The agent works in /work.
    let content = json!([{"type": "diff", "path": "/work/a", "oldText": null, "newText": "x"}]);
    let input = json!({"path": "a", "paths": ["./a", "sub/../a", "b", "/work/b"]});
    let call = json!({"toolCallId": "t", "title": "T", "rawInput": input, "content": content});
    let (permission, _) = asked(vec![], call, yes_or_no()).await;
    assert_eq!(permission.paths, ["/work/a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_command_is_shown_whatever_the_agent_calls_the_tool() {
    for kind in ["read", "search", "think", "edit"] {
        let input = json!({"command": ["bash", "-lc", "rm -rf ~"]});
        let call = json!({"toolCallId": "t", "title": "Look", "kind": kind, "rawInput": input});
        let (permission, _) = asked(vec![], call, yes_or_no()).await;
        assert_eq!((permission.command.as_deref(), permission.dangers.len()), (Some("rm -rf ~"), 1), "{kind}");
    }
}

/// What a question shows: what is to be done, the command, the files and the description.
fn seen(permission: &Permission) -> (Action, Option<&str>, Vec<&str>, Option<&str>) {
    let paths = permission.paths.iter().map(String::as_str).collect();
    (permission.action, permission.command.as_deref(), paths, permission.description.as_deref())
}

/// A shape that an agent sends: its name, what it tells before, the question, and what is shown of it.
type Shape = (&'static str, Vec<Value>, Value, (Action, Option<&'static str>, Vec<&'static str>, Option<&'static str>));

#[tokio::test(start_paused = true)]
async fn every_agent_is_understood() {
    let text = |text: &str| json!({"type": "content", "content": {"type": "text", "text": text}});
    let diff = |path: &str| json!({"type": "diff", "path": path, "oldText": "one\n", "newText": "two\n"});
    let shapes: Vec<Shape> = vec![
        (
            "claude-agent-acp, a command",
            vec![],
            json!({"name": "Bash", "kind": "execute", "title": "make", "rawInput": {"command": "make", "description": "Builds it"},
                "content": [text("Builds it")], "locations": [{"path": "/work/out"}]}),
            (Action::RunCommand, Some("make"), vec!["/work/out"], Some("Builds it")),
        ),
        (
            "claude-agent-acp, an edit",
            vec![],
            json!({"name": "Edit", "kind": "edit", "title": "Edit a", "content": [diff("/work/a")], "rawInput":
                {"file_path": "/work/a", "old_string": "one", "new_string": "two", "replace_all": false},
                "locations": [{"path": "/work/a"}]}),
            (Action::EditFile, None, vec!["/work/a"], None),
        ),
        (
            "claude-agent-acp, a plan",
            vec![],
            json!({"kind": "switch_mode", "title": "Ready to code?", "rawInput": {"plan": "# Plan"}, "content": [text("# Plan")]}),
            (Action::SwitchMode, None, vec![], Some("# Plan")),
        ),
        (
            "codex-acp-zed, a command",
            vec![],
            json!({"kind": "execute", "title": "make it", "content": [text("It needs the network\nProposed Amendment: make")],
                "rawInput": {"call_id": "c", "command": ["/bin/bash", "-lc", "make it"], "cwd": "/work", "source": "startup",
                "reason": "It needs the network", "parsed_cmd": [{"type": "unknown", "cmd": "make it"}]}}),
            (Action::RunCommand, Some("make it"), vec![], Some("It needs the network\nProposed Amendment: make")),
        ),
        (
            "codex-acp-zed, a file that is made",
            vec![],
            json!({"kind": "edit", "title": "Edit /work/a", "content": [{"type": "diff", "path": "/work/a", "newText": "x"}],
                "locations": [{"path": "/work/a"}], "rawInput": {"changes": {"/work/a": {"type": "add", "content": "x"}}}}),
            (Action::EditFile, None, vec!["/work/a"], None),
        ),
        (
            "codex-acp-zed, a tool with its reason",
            vec![tool_call(
                "t",
                json!({"title": "Shell", "rawInput":
                {"cmd": "make", "justification": "It needs the network", "sandbox_permissions": "require_escalated"}}),
            )],
            json!({}),
            (Action::RunCommand, Some("make"), vec![], Some("It needs the network")),
        ),
        (
            "codex-acp, a command",
            vec![],
            json!({"kind": "execute", "title": "make", "rawInput": {"command": "make", "cwd": "/work"}}),
            (Action::RunCommand, Some("make"), vec![], None),
        ),
        (
            "codex-acp, an edit that is told before",
            vec![tool_call("t", json!({"kind": "edit", "content": [diff("/work/a")]}))],
            json!({"kind": "edit", "title": "Edit files", "locations": [{"path": "/work/a"}]}),
            (Action::EditFile, None, vec!["/work/a"], None),
        ),
        (
            "fast-agent, a file that is read",
            vec![],
            json!({"kind": "read", "title": "read_text_file", "rawInput": {"path": "/work/a"}}),
            (Action::ReadFile, None, vec!["/work/a"], None),
        ),
        (
            "gemini-cli, a command that only the title tells",
            vec![],
            json!({"kind": "execute", "title": "make", "locations": [], "content": [text("[in /work] (Builds it)")]}),
            (Action::RunCommand, None, vec![], Some("[in /work] (Builds it)")),
        ),
        (
            "gemini-cli, an edit",
            vec![],
            json!({"kind": "edit", "title": "a: one => two", "content": [diff("/work/a")], "locations": [{"path": "/work/a"}]}),
            (Action::EditFile, None, vec!["/work/a"], None),
        ),
        (
            "kimi-cli, a command that is streamed",
            vec![tool_call("t", json!({"title": "Shell", "content": [text(r#"{"command": "make"}"#)]}))],
            json!({"title": "Shell: make", "content": [text("Approve: Run command `make`")]}),
            (Action::RunCommand, Some("make"), vec![], Some("Approve: Run command `make`")),
        ),
        (
            "kimi-cli, an edit of no kind",
            vec![],
            json!({"title": "StrReplaceFile: a", "content": [diff("/work/a")]}),
            (Action::EditFile, None, vec!["/work/a"], None),
        ),
        (
            "mistral-vibe, no more than the id",
            vec![tool_call(
                "t",
                json!({"kind": "edit", "rawInput": {"filePath": "/work/a", "changes": [{"oldString": "one", "newString": "two"}]}}),
            )],
            json!({}),
            (Action::EditFile, None, vec!["/work/a"], None),
        ),
        (
            "opencode, an edit",
            vec![],
            json!({"kind": "edit", "title": "/work/a", "content": [diff("/work/a")], "locations": [{"path": "/work/a"}], "rawInput":
                {"filepath": "/work/a", "diff": "Index: /work/a\n===\n--- /work/a\n+++ /work/a\n@@ -1 +1 @@\n-one\n+two\n"}}),
            (Action::EditFile, None, vec!["/work/a"], None),
        ),
        (
            "sdk-example, a file that is written",
            vec![],
            json!({"kind": "edit", "title": "Write it", "locations": [{"path": "/work/a"}], "rawInput": {"path": "/work/a", "content": "{}"}}),
            (Action::EditFile, None, vec!["/work/a"], None),
        ),
        (
            "an editor, whose command is none of a shell",
            vec![],
            json!({"kind": "edit", "title": "Edit", "rawInput": {"command": "str_replace", "path": "/work/a", "old_str": "one"}}),
            (Action::EditFile, None, vec!["/work/a"], None),
        ),
        (
            "a tool behind another",
            vec![],
            json!({"title": "mcp", "rawInput": {"server": "shell", "arguments": {"commands": ["make", "ls"], "reason": "To see"}}}),
            (Action::RunCommand, Some("make\nls"), vec![], Some("To see")),
        ),
        (
            "a shape that nobody knows",
            vec![],
            json!({"title": "Do it", "rawInput": {"wish": ["x"]}}),
            (Action::Other, None, vec![], None),
        ),
    ];
    for (name, told, call, expected) in shapes {
        let call = common::with(json!({"toolCallId": "t"}), call);
        let (permission, _) = asked(told, call.clone(), yes_or_no()).await;
        assert_eq!(seen(&permission), expected, "{name}");
        assert!(call["title"].is_null() || call["title"] == permission.title, "{name}");
        assert!(call["rawInput"].is_null() || call["rawInput"] == *permission.raw_input, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_done_is_told_whatever_the_agent_calls_it() {
    let change = json!({"/work/a": {"type": "update", "unified_diff": "@@"}});
    let deletion = json!({"/work/a": {"type": "delete", "content": "x"}});
    let both = json!({"/work/a": {"type": "delete"}, "/work/b": {"type": "add"}});
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
    let here = format!("apply_patch <<'E'\n{patch}E");
    let emptied = json!([{"type": "diff", "path": "/work/a", "oldText": "x", "newText": ""}]);
    let other = json!([{"type": "diff", "path": "/work/b", "oldText": "x", "newText": "y"}]);
    let codes: [(Value, Action, &[&str], &[&str]); 18] = [
        (json!({"kind": "edit", "rawInput": {"command": "make"}}), Action::RunCommand, &[], &[]),
        (json!({"kind": "delete", "rawInput": {"command": "make"}}), Action::RunCommand, &[], &[]),
        (json!({"kind": "delete", "rawInput": {"command": " "}}), Action::DeleteFile, &[], &["deletes-files"]),
        (
            json!({"kind": "move", "rawInput": {"source": "a", "destination": "/b"}}),
            Action::MoveFile,
            &["a", "/b"],
            &["outside-workspace"],
        ),
        (json!({"kind": "read", "content": other}), Action::EditFile, &["/work/b"], &[]),
        (json!({"kind": "switch_mode", "content": other}), Action::EditFile, &["/work/b"], &[]),
        (json!({"kind": "think", "rawInput": {"changes": change}}), Action::EditFile, &["/work/a"], &[]),
        (
            json!({"kind": "edit", "rawInput": {"changes": deletion}}),
            Action::DeleteFile,
            &["/work/a"],
            &["deletes-files"],
        ),
        (
            json!({"kind": "edit", "rawInput": {"changes": deletion}, "content": emptied}),
            Action::DeleteFile,
            &["/work/a"],
            &["deletes-files"],
        ),
        (
            json!({"kind": "edit", "rawInput": {"changes": deletion}, "content": other}),
            Action::EditFile,
            &["/work/b", "/work/a"],
            &["deletes-files"],
        ),
        (
            json!({"kind": "edit", "rawInput": {"changes": both}}),
            Action::EditFile,
            &["/work/a", "/work/b"],
            &["deletes-files"],
        ),
        (json!({"rawInput": patch}), Action::DeleteFile, &["a"], &["deletes-files"]),
        (json!({"rawInput": {"input": patch}}), Action::DeleteFile, &["a"], &["deletes-files"]),
        (
            json!({"rawInput": {"diff": "diff --git a/x b/../../y\nrename from x\nrename to ../../y\n"}}),
            Action::EditFile,
            &["x", "../../y"],
            &["outside-workspace"],
        ),
        (json!({"kind": "execute", "rawInput": {"command": here}}), Action::RunCommand, &["a"], &["deletes-files"]),
        (
            json!({"kind": "read", "rawInput": {"file_path": "/home/me/.ssh/id_rsa"}}),
            Action::ReadFile,
            &["/home/me/.ssh/id_rsa"],
            &["touches-keys"],
        ),
        (json!({"kind": "read", "rawInput": {"file_path": "/etc/hosts"}}), Action::ReadFile, &["/etc/hosts"], &[]),
        (
            json!({"kind": "search", "rawInput": {"path": "/root/.gnupg"}}),
            Action::Search,
            &["/root/.gnupg"],
            &["touches-keys"],
        ),
    ];
    for (call, action, paths, dangers) in codes {
        let call = common::with(json!({"toolCallId": "t", "title": "T"}), call);
        let (permission, _) = asked(vec![], call.clone(), yes_or_no()).await;
        // Without the feature `dangers` nothing is known of a command.
        let found = permission.dangers.iter().map(|danger| danger.code.as_str());
        let found: Vec<&str> = found.filter(|code| *code != "not-analysed").collect();
        assert_eq!((permission.action, &*permission.paths, &*found), (action, &owned(paths)[..], dangers), "{call}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_command_hides_behind_another() {
    for input in [
        json!({"command": "ls", "cmd": "rm a"}),
        json!({"command": "ls", "arguments": {"command": "rm a"}}),
        json!({"command": "ls", "cmd": ["rm", 3]}),
        json!({"commands": ["cat <<E", "rm a", "E"]}),
        json!({"command": "rm", "args": null, "arguments": ["a"]}),
        json!({"command": "view", "path": "a", "cmd": "rm a"}),
    ] {
        let call = json!({"toolCallId": "t", "title": "T", "kind": "read", "rawInput": input});
        let (permission, _) = asked(vec![], call, yes_or_no()).await;
        assert_eq!(permission.action, Action::RunCommand, "{input}");
        assert!(!permission.dangers.is_empty(), "{input}");
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_deletion_by_a_patch_has_its_place_in_the_command() {
    let command =
        "apply_patch <<'E'\n*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Delete File: b\n*** End Patch\nE";
    let call = json!({"toolCallId": "t", "kind": "execute", "rawInput": {"command": ["bash", "-lc", command]}});
    let (permission, _) = asked(vec![], call, yes_or_no()).await;
    assert_eq!((permission.command.as_deref(), permission.diffs.len()), (Some(command), 0));
    let danger = permission.dangers.iter().find(|danger| danger.code == "deletes-files").unwrap();
    assert_eq!((danger.level, &command[danger.start..danger.end]), (DangerLevel::Destructive, "*** Delete File: b"));
}

#[tokio::test(start_paused = true)]
async fn a_description_is_there_only_where_something_is_said() {
    let call = json!({"toolCallId": "t", "title": "T", "rawInput": {"reason": "To see"}});
    let (permission, _) = asked(vec![], call, yes_or_no()).await;
    let json = serde_json::to_value(&*permission).unwrap();
    assert_eq!(json["description"], "To see");
    let (permission, _) = asked(vec![], json!({"toolCallId": "t", "title": "T"}), yes_or_no()).await;
    let json = serde_json::to_value(&*permission).unwrap();
    assert_eq!(json.get("description"), None);
    assert_eq!(serde_json::from_value::<Permission>(json).unwrap(), *permission);
}

#[tokio::test(start_paused = true)]
async fn what_is_said_to_the_person_hides_no_change() {
    let content = json!([{"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}]);
    let told = vec![tool_call("t", json!({"kind": "edit", "content": content}))];
    let say = json!([{"type": "content", "content": {"type": "text", "text": "Allow this edit?"}}]);
    let (permission, story) = asked(told, json!({"toolCallId": "t", "content": say}), yes_or_no()).await;
    assert_eq!((permission.diffs.len(), permission.paths.as_slice()), (1, ["/a".to_owned()].as_slice()));
    assert_eq!(story[1], "p3 asks: Tool t", "the tool is as it was");
}

#[tokio::test(start_paused = true)]
async fn an_agent_may_announce_its_tool_by_the_question_alone() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        let call = json!({"toolCallId": "w-1", "title": "Write /a", "kind": "edit", "status": "pending"});
        peer.ask(&json!(0), "s1", call, common::OPTIONS).await;
        peer.answer(&json!(0)).await;
        peer.update("s1", tool_update("w-1", json!({"status": "completed", "kind": "edit"}))).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    talk.with.send("Go").unwrap();
    let permission = talk.asked().await;
    assert_eq!(permission.message_id.as_ref().unwrap().as_str(), "m2");
    talk.with.answer(&permission.id, "yes").unwrap();
    talk.idle().await;
    assert_eq!(
        talk.story().await[5..],
        [
            "m2.0 tool w-1 pending",
            "p3 asks: Write /a",
            "asking",
            "p3 selected yes by user",
            "answering",
            "m2.0 tool w-1 completed",
            "m2 agent end_turn",
            "idle"
        ]
    );
}
