//! `sidekicks ask` with agents of a configuration file.

mod common;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Mark, finish, run, shell_agent, sidekicks, signal};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// A folder with a configuration in it.
struct Place {
    mark: Mark,
    dir: tempfile::TempDir,
}

impl Place {
    /// With these agents, and whatever else the file says.
    fn new(agents: Value, more: Value) -> Self {
        let place = Self { mark: Mark::new(), dir: tempfile::tempdir().unwrap() };
        let mut config = json!({ "version": 1, "agents": agents });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        place.write(&config.to_string());
        place
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path(), text).unwrap();
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("sidekicks.jsonc")
    }

    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.dir.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap()
    }

    fn ask(&self, args: &[&str]) -> Command {
        let mut command = sidekicks(&self.mark);
        command.arg("--config").arg(self.path()).arg("ask").args(args).current_dir(self.dir.path());
        command
    }
}

/// The entry of the demo agent, with `more` in it.
fn demo(more: Value) -> Value {
    let mut entry = json!({ "command": env!("CARGO_BIN_EXE_sidekicks"), "args": ["demo-agent"] });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

/// The entry of an agent that is this script.
fn script(dir: &Path, script: &str) -> Value {
    let command = shell_agent(dir, script);
    json!({ "command": "sh", "args": [command.strip_prefix("sh ").unwrap()] })
}

#[test]
fn everything_that_an_entry_says_is_in_force() {
    let place = Place::new(json!({}), json!({}));
    let folder = place.folder("api");
    let said =
        "say \"$A $B $(printenv REMOVED || echo gone) $(pwd)\"; reply '{\"stopReason\":\"end_turn\"}'; cat >/dev/null";
    let mut entry = script(place.dir.path(), said);
    entry["env"] = json!({ "A": "${FROM_OUTSIDE}" });
    entry["env_remove"] = json!(["REMOVED"]);
    entry["workspace"] = json!("api");
    let config = json!({
        "version": 1,
        "defaults": { "env": { "A": "default", "B": "default" } },
        "workspaces": { "api": { "path": "./api" } },
        "agents": { "riker": entry },
    });
    place.write(&config.to_string());
    let ask = |more: &[&str]| {
        let mut ask = place.ask(&["riker", "hi"]);
        run(ask.args(more).env("FROM_OUTSIDE", "outside").env("REMOVED", "still there"))
    };
    let (code, stdout, stderr) = ask(&[]);
    assert_eq!((code, &*stdout), (0, &*format!("outside default gone {}\n", folder.display())), "{stderr}");
    // The folder that is given goes before.
    let other = place.folder("other");
    let (code, stdout, stderr) = ask(&["--cwd", "other"]);
    assert_eq!((code, &*stdout), (0, &*format!("outside default gone {}\n", other.display())), "{stderr}");
    place.mark.nothing_left();
}

#[test]
fn a_variable_that_is_not_set_is_told() {
    let said = "say \"$(printenv A || echo none)\"; reply '{\"stopReason\":\"end_turn\"}'; cat >/dev/null";
    let place = Place::new(json!({}), json!({}));
    let mut riker = script(place.dir.path(), said);
    riker["env"] = json!({ "A": "x${NOT_SET}" });
    let mut data = riker.clone();
    data["env"] = json!({ "B": "${NOR_THIS}" });
    place.write(&json!({ "version": 1, "agents": { "riker": riker, "data": data } }).to_string());
    let (code, stdout, stderr) = run(&mut place.ask(&["riker", "hi"]));
    assert_eq!((code, &*stdout), (0, "none\n"));
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(matches!(&lines[..], [line] if line.ends_with(": the variable NOT_SET is not set")), "{stderr}");
}

#[test]
fn rules_and_policies_decide() {
    let deny = json!({ "permission_rules": [{ "decide": "deny", "command": "touch *" }] });
    let allow = json!({ "permission_rules": [{ "decide": "allow", "command": "touch *" }] });
    let agents = json!({
        "denied": demo(deny), "allowed": demo(allow), "refused": demo(json!({ "permission": "deny_all" })),
        "trusted": demo(json!({ "permission": "allow_all" })),
    });
    let place = Place::new(agents, json!({}));
    for (name, runs) in [("denied", false), ("allowed", true), ("refused", false), ("trusted", true)] {
        let (code, stdout, stderr) = run(&mut place.ask(&[name, &format!("run: touch {name}")]));
        assert_eq!(code, 0, "{name}: {stderr}");
        assert_eq!(place.dir.path().join(name).exists(), runs, "{name}: {stdout}");
        assert!(!stderr.contains("no terminal"), "{name}: nobody is asked: {stderr}");
    }
    place.mark.nothing_left();
}

#[test]
fn a_mode_is_set_and_one_that_is_not_offered_is_an_error() {
    let agents = json!({ "riker": demo(json!({ "mode": "no-such-mode" })) });
    let place = Place::new(agents, json!({}));
    let (code, stdout, stderr) = run(&mut place.ask(&["riker", "hi"]));
    assert_eq!((code, stdout.as_str()), (4, ""), "{stderr}");
    assert!(stderr.contains("refuses the mode that is configured"), "{stderr}");
    place.mark.nothing_left();
}

#[test]
fn tool_servers_are_passed_on() {
    let place = Place::new(json!({}), json!({}));
    let mut entry = script(place.dir.path(), "say ok; reply '{\"stopReason\":\"end_turn\"}'; cat >/dev/null");
    // What the agent is told of its session goes to a file.
    let agent = place.dir.path().join("agent.sh");
    let text = std::fs::read_to_string(&agent).unwrap();
    let second = "read -r line; id; reply '{\"sessionId\":\"s\"}'";
    assert!(text.contains(second));
    std::fs::write(&agent, text.replace(second, &second.replace("id;", "echo \"$line\" > session; id;"))).unwrap();
    entry["mcp_servers"] = json!(["files"]);
    let servers = json!({ "files": { "command": "mcp-files", "env": { "LEVEL": "1" } } });
    place.write(&json!({ "version": 1, "mcp_servers": servers, "agents": { "riker": entry } }).to_string());
    let (code, _, stderr) = run(&mut place.ask(&["riker", "hi"]));
    assert_eq!(code, 0, "{stderr}");
    let session: Value =
        serde_json::from_str(&std::fs::read_to_string(place.dir.path().join("session")).unwrap()).unwrap();
    let server = &session["params"]["mcpServers"][0];
    assert_eq!((&server["name"], &server["command"]), (&json!("files"), &json!("mcp-files")));
    assert_eq!(server["env"], json!([{ "name": "LEVEL", "value": "1" }]));
}

#[test]
fn who_cannot_be_asked_is_told() {
    let place = Place::new(json!({}), json!({}));
    place.write(
        r#"{
  "version": 1,
  "workspaces": { "api": {} },
  "agents": {
    "riker": { "command": "sh", "enabled": false },
    "data": { "command": "sh", "permision": "ask", "env": { "KEY": "sk-secret" } },
    "troi": { "command": "sh", "workspace": "api" },
    "worf": { "command": "sh" }
  }
}"#,
    );
    let mut shown = String::new();
    for (name, expected) in [("riker", 2), ("data", 3), ("troi", 3), ("wolf", 2), ("date", 2), ("somebody", 2)] {
        for lang in ["en", "fr"] {
            let (code, stdout, stderr) = run(&mut place.ask(&[name, "hi", "--lang", lang]));
            assert_eq!((code, stdout.as_str()), (expected, ""), "{name}: {stderr}");
            assert!(!stderr.contains("secret"), "{stderr}");
            shown.push_str(&format!("ask {name} => {code}\n{stderr}\n"));
        }
    }
    insta::assert_snapshot!(shown.replace(place.dir.path().to_str().unwrap(), "/somewhere"));
    // Errors elsewhere prevent nothing.
    let (code, stdout, stderr) = run(&mut place.ask(&["demo", "hi"]));
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("> hi") && stderr.contains("has errors"), "{stderr}");
    // Where nothing can be read, somebody may be there.
    place.write("[]");
    assert_eq!(run(&mut place.ask(&["riker", "hi"])).0, 3);
    assert_eq!(run(&mut place.ask(&["demo", "hi"])).0, 0);
    place.mark.nothing_left();
}

#[test]
fn a_configured_demo_goes_before_the_built_in_one() {
    let place = Place::new(json!({}), json!({}));
    let mine = script(place.dir.path(), "say mine; reply '{\"stopReason\":\"end_turn\"}'; cat >/dev/null");
    place.write(&json!({ "version": 1, "agents": { "demo": mine } }).to_string());
    assert_eq!(run(&mut place.ask(&["demo", "hi"])).1, "mine\n");
    // Also where it cannot be used: nobody should get another agent than they named.
    place.write(r#"{ "version": 1, "agents": { "demo": { "comand": "x" } } }"#);
    assert_eq!(run(&mut place.ask(&["demo", "hi"])).0, 3);
    // What is named on the command line needs no configuration.
    let agent = format!("{} demo-agent", env!("CARGO_BIN_EXE_sidekicks"));
    let (code, _, stderr) = run(&mut place.ask(&["--agent-command", &agent, "hi"]));
    assert_eq!((code, stderr.as_str()), (0, ""));
}

#[test]
fn an_agent_that_cannot_be_started_is_explained() {
    let agents = json!({
        "missing": { "command": "no-such-agent" },
        "slow": { "command": "sh", "args": ["-c", "sleep 1000; :"], "start_timeout": "1s" },
        "nowhere": demo(json!({ "cwd": "./no/such/folder" })),
        "words": { "command": "no-such-agent --key sk-secret" },
        "variable": { "command": "KEY=sk-secret" },
        "unset": { "command": "$HOME/no-such-agent", "args": ["${NO_SUCH_VARIABLE}"] },
    });
    let place = Place::new(agents, json!({}));
    for (name, said) in [
        ("missing", "is no-such-agent installed?"),
        ("slow", "was not ready in time"),
        ("nowhere", "cannot work in its folder"),
        ("words", "the arguments of a command belong in “args”"),
        ("words", "is no-such-agent… installed?"),
        ("variable", "is KEY… installed?"),
        ("unset", "this looks like a variable, which is written ${NAME}"),
        ("unset", "the variable NO_SUCH_VARIABLE is not set"),
    ] {
        let (code, stdout, stderr) = run(&mut place.ask(&[name, "hi"]));
        assert_eq!((code, stdout.as_str()), (4, ""), "{name}: {stderr}");
        assert!(stderr.contains(said) && !stderr.contains("secret"), "{stderr}");
    }
    place.mark.nothing_left();
}

#[test]
fn nothing_is_left_when_it_is_interrupted() {
    let place = Place::new(json!({ "riker": demo(json!({})) }), json!({}));
    let mut ask = place.ask(&["riker", "stall"]);
    let mut child = ask.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 1]).unwrap();
    signal(&child, Signal::SIGINT);
    assert_eq!(finish(child).0, 130);
    place.mark.nothing_left();
}

#[test]
fn nothing_is_left_when_it_is_killed() {
    let place = Place::new(json!({}), json!({}));
    let entry = script(place.dir.path(), "setsid sleep 1000 & say working; sleep 1000; sleep 1000");
    place.write(&json!({ "version": 1, "agents": { "riker": entry } }).to_string());
    let mut ask = place.ask(&["riker", "hi"]);
    let child = ask.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    place.mark.until(|lines| lines.iter().filter(|line| line.starts_with("sleep")).count() == 2);
    signal(&child, Signal::SIGKILL);
    finish(child);
    place.mark.nothing_left();
}
