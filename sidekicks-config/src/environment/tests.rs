use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

/// A folder with a file, its programs and its environment.
struct Machine {
    dir: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Machine {
    /// `bin` is on the `PATH`, with the program `agent`; `other/tool` is not, and `bin/plain` may not be run.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in ["bin", "other", "src", "home"] {
            fs::create_dir(at(folder)).unwrap();
        }
        for (name, mode) in [("bin/agent", 0o755), ("other/tool", 0o755), ("bin/plain", 0o644), ("home/mine", 0o700)] {
            fs::write(at(name), "").unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(at("bin/folder")).unwrap();
        let path = |name: &str| at(name).to_str().unwrap().to_owned();
        let variables = vec![
            ("PATH", path("bin")),
            ("HOME", path("home")),
            ("OTHER", path("other")),
            ("SET", "x".into()),
            ("EMPTY", "".into()),
        ];
        Self { dir, variables }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("sidekicks.jsonc")
    }

    /// What is told of this text: `id path`, and what there is to know.
    fn told(&self, text: &str) -> Vec<String> {
        let env =
            |name: &str| self.variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let line = |problem: Problem| {
            assert_eq!(problem.severity(), crate::Severity::Warning);
            assert!(!problem.span.is_empty());
            match &problem.code {
                Code::CommandNotFound { command, path } => {
                    assert!(path.iter().all(|path| *path == self.variables[0].1));
                    format!("{} {} {command}{}", problem.id(), problem.path, if path.is_some() { " PATH" } else { "" })
                }
                Code::VariableNotSet { name } => format!("{} {} {name}", problem.id(), problem.path),
                _ => format!("{} {}", problem.id(), problem.path),
            }
        };
        check_environment(text, &self.file(), &env).into_iter().map(line).collect()
    }
}

fn agent(settings: &str) -> String {
    format!(r#"{{"version":1,"agents":{{"a":{{{settings}}},"agent":{{"command":"agent"}}}}}}"#)
}

#[test]
fn programs() {
    let machine = Machine::new();
    let cases: [(&str, &[&str]); 18] = [
        (r#""command":"agent""#, &[]),
        (r#""command":"gone""#, &["command-not-found agents.a.command gone PATH"]),
        (r#""command":"tool""#, &["command-not-found agents.a.command tool PATH"]),
        // What may not be run, and a folder, are no programs.
        (r#""command":"plain""#, &["command-not-found agents.a.command plain PATH"]),
        (r#""command":"folder""#, &["command-not-found agents.a.command folder PATH"]),
        // The agent's own PATH is searched, and that one alone; it is not named, for it stands in the file.
        (r#""command":"tool","env":{"PATH":"${OTHER}"}"#, &[]),
        (r#""command":"agent","env":{"PATH":"${OTHER}"}"#, &["command-not-found agents.a.command agent"]),
        // With a variable that is not set it is left out.
        (r#""command":"agent","env":{"PATH":"${NO}/bin"}"#, &["variable-not-set agents.a.env.PATH NO"]),
        // Paths begin at the folder of the file, or at the home.
        (r#""command":"./other/tool""#, &[]),
        (r#""command":"other/tool""#, &[]),
        (r#""command":"~/mine""#, &[]),
        (r#""command":"./tool""#, &["command-not-found agents.a.command ./tool"]),
        (r#""command":"${OTHER}/tool""#, &[]),
        (r#""command":"${NO}/tool""#, &["variable-not-set agents.a.command NO"]),
        // Arguments are no part of it. They may be secrets, as what is given to a variable.
        (r#""command":"agent --acp""#, &["command-with-arguments agents.a.command"]),
        (r#""command":"KEY=x gone --acp""#, &["command-with-arguments agents.a.command"]),
        (r#""command":"KEY=x""#, &["command-not-found agents.a.command KEY PATH"]),
        (r#""command":"gone","enabled":false"#, &[]),
    ];
    for (settings, expected) in cases {
        assert_eq!(machine.told(&agent(settings)), expected, "{settings}");
    }
    // Without our PATH the usual folders are searched.
    assert_eq!(machine.told(&agent(r#""command":"sh","env_remove":["PATH"]"#)), [""; 0]);
    // That of the defaults counts for every agent; the agent's own one goes before.
    let text = |path: &str| {
        let agents = r#""a":{"command":"tool"},"b":{"command":"agent","env":{"PATH":"bin:${PATH}"}}"#;
        format!(r#"{{"version":1,"defaults":{{"env":{{"PATH":"{path}"}}}},"agents":{{{agents}}}}}"#)
    };
    assert_eq!(machine.told(&text("${OTHER}")), [""; 0]);
    assert_eq!(machine.told(&text("/nowhere")), ["command-not-found agents.a.command tool"]);
}

#[test]
fn tool_servers_are_looked_for_where_they_are_used() {
    let machine = Machine::new();
    let text = |agents: &str| {
        let servers = r#""m":{"command":"gone"},"n":{"type":"http","url":"http://${NO}","headers":{"A":"${NO}"}}"#;
        format!(r#"{{"version":1,"mcp_servers":{{{servers}}},"agents":{{{agents}}}}}"#)
    };
    let variables = ["variable-not-set mcp_servers.n.url NO", "variable-not-set mcp_servers.n.headers.A NO"];
    assert_eq!(machine.told(&text(r#""a":{"command":"agent"}"#)), variables);
    assert_eq!(machine.told(&text(r#""a":{"command":"agent","mcp_servers":["m"],"enabled":false}"#)), variables);
    let told = machine.told(&text(r#""a":{"command":"agent","mcp_servers":["m"]}"#));
    assert_eq!(told[0], "command-not-found mcp_servers.m.command gone PATH");
    assert_eq!(told[1..], variables);
}

#[test]
fn folders() {
    let machine = Machine::new();
    let cases: [(&str, &[&str]); 8] = [
        ("src", &[]),
        ("./src/", &[]),
        ("~", &[]),
        ("/", &[]),
        ("gone", &["no-such-folder"]),
        ("bin/agent", &["no-such-folder"]),
        ("~/gone", &["no-such-folder"]),
        ("${NO}", &["variable-not-set"]),
    ];
    for (folder, expected) in cases {
        let ids = |told: Vec<String>, path: &str| -> Vec<String> {
            assert!(told.iter().all(|line| line.split(' ').nth(1) == Some(path)), "{told:?}");
            told.into_iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
        };
        let cwd = agent(&format!(r#""command":"agent","cwd":"{folder}""#));
        assert_eq!(ids(machine.told(&cwd), "agents.a.cwd"), expected, "{folder}");
        let workspace = format!(
            r#"{{"version":1,"workspaces":{{"w":{{"path":"{folder}"}}}},"agents":{{"a":{{"command":"agent","workspace":"w"}}}}}}"#
        );
        assert_eq!(ids(machine.told(&workspace), "workspaces.w.path"), expected, "{folder}");
    }
}

#[test]
fn variables_that_are_not_set() {
    let machine = Machine::new();
    let text = agent(
        r#""command":"agent","args":["${SET}","${A}${B}","$${C}","$D"],"env":{"X":"${SET}${E}"},"display_name":"${F}","model":"${G}","permission_rules":[{"decide":"ask","path":"${H}"}]"#,
    );
    let expected = [
        "variable-not-set agents.a.args[1] A",
        "variable-not-set agents.a.args[1] B",
        "variable-not-set agents.a.env.X E",
        "variable-not-set agents.a.permission_rules[0].path H",
    ];
    assert_eq!(machine.told(&text), expected);
    let text = r#"{"version":1,"defaults":{"env":{"X":"${E}"}},"agents":{"a":{"command":"agent"}}}"#;
    assert_eq!(machine.told(text), ["variable-not-set defaults.env.X E"]);
}

#[test]
fn what_was_meant_as_a_variable_and_is_none() {
    let machine = Machine::new();
    let cases: [(&str, &[&str]); 9] = [
        (r#""command":"${OTHER:-x}/tool""#, &["not-a-variable agents.a.command"]),
        (r#""command":"$OTHER/tool""#, &["not-a-variable agents.a.command"]),
        (r#""command":"agent","cwd":"$HOME/x""#, &["not-a-variable agents.a.cwd"]),
        (r#""command":"agent","args":["${1}","$X","$${X:-y}"]"#, &["not-a-variable agents.a.args[0]"]),
        (r#""command":"agent","env":{"X":"${","Y":"$HOME/x"}"#, &["not-a-variable agents.a.env.X"]),
        (
            r#""command":"agent","permission_rules":[{"decide":"deny","path":"$HOME/.aws/**"}]"#,
            &["not-a-variable agents.a.permission_rules[0].path"],
        ),
        // An empty one is none in a path, and is one in a text.
        (r#""command":"${EMPTY}/x""#, &["variable-not-set agents.a.command EMPTY"]),
        (r#""command":"agent","cwd":"/${EMPTY}""#, &["variable-not-set agents.a.cwd EMPTY"]),
        (r#""command":"agent","args":["${EMPTY}"]"#, &[]),
    ];
    for (settings, expected) in cases {
        assert_eq!(machine.told(&agent(settings)), expected, "{settings}");
    }
}

/// Relative folders of the `PATH` begin where the agent works.
#[test]
fn a_path_may_have_relative_folders() {
    let machine = Machine::new();
    let text = |settings: &str| {
        let workspaces = r#""other":{"path":"other"},"src":{"path":"src"}"#;
        let servers = r#""m":{"command":"tool","env":{"PATH":"."}}"#;
        let more = format!(r#""workspaces":{{{workspaces}}},"mcp_servers":{{{servers}}}"#);
        let agent = format!(r#"{{"command":"tool","env":{{"PATH":"."}},{settings}}}"#);
        format!(r#"{{"version":1,{more},"agents":{{"a":{agent}}}}}"#)
    };
    let gone = "command-not-found agents.a.command tool";
    assert_eq!(machine.told(&text(r#""cwd":"other""#)), [""; 0]);
    assert_eq!(machine.told(&text(r#""workspace":"other""#)), [""; 0]);
    assert_eq!(machine.told(&text(r#""workspace":"src""#)), [gone]);
    assert_eq!(machine.told(&text(r#""cwd":"src""#)), [gone]);
    // Nobody knows where a tool server will work.
    let told = machine.told(&text(r#""cwd":"other","mcp_servers":["m"]"#));
    assert_eq!(told, ["command-not-found mcp_servers.m.command tool"]);
}

#[test]
fn secrets_in_a_file_that_others_can_read() {
    let machine = Machine::new();
    let text = r#"{"version":1,"defaults":{"env":{"A_TOKEN":"x"}},"mcp_servers":{"m":{"type":"sse","url":"http://x",
        "headers":{"Authorization":"Bearer x","X-Api-Key":"x","Accept":"x"}}},"agents":{"a":{"command":"agent",
        "env":{"API_KEY":"x","client_secret":"x","EMPTY_KEY":"","SAFE_KEY":"${SET}","KEYBOARD":"x"},"mcp_servers":["m"]}}}"#;
    let public = [
        "readable-secret defaults.env.A_TOKEN",
        "readable-secret mcp_servers.m.headers.Authorization",
        "readable-secret mcp_servers.m.headers.X-Api-Key",
        "readable-secret agents.a.env.API_KEY",
        "readable-secret agents.a.env.client_secret",
    ];
    assert_eq!(machine.told(text), [""; 0], "there is no file yet");
    fs::write(machine.file(), text).unwrap();
    for (mode, told) in [(0o600, &[][..]), (0o640, &public), (0o604, &public), (0o700, &[]), (0o611, &[])] {
        fs::set_permissions(machine.file(), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(machine.told(text), told, "{mode:o}");
    }
}

#[test]
fn what_has_errors_is_not_looked_at() {
    let machine = Machine::new();
    assert_eq!(machine.told(&agent(r#""command":"gone","model":1"#)), [""; 0]);
    assert_eq!(machine.told(r#"{"version":2,"agents":{"a":{"command":"gone"}}}"#), [""; 0]);
    assert_eq!(machine.told(r#"{"version":1,"defaults":{"env":{"A":"${NO}"},"x":1},"agents":{}}"#), [""; 0]);
    for text in ["", "[]", "{", "{\"agents\": 1}"] {
        assert_eq!(machine.told(text), [""; 0], "{text}");
    }
    // Errors that are too many to be told count as well; warnings that are too many are no error.
    let bad: String = (0..200).map(|n| format!(r#""bad{n}":{{"command":"gone","x":1}},"#)).collect();
    assert_eq!(machine.told(&format!(r#"{{"version":1,"agents":{{{bad}"a":{{"command":"agent"}}}}}}"#)), [""; 0]);
    let gone: String = (0..200).map(|n| format!(r#","a{n}":{{"command":"gone"}}"#)).collect();
    assert_eq!(machine.told(&format!(r#"{{"version":1,"agents":{{{}}}}}"#, &gone[1..])).len(), crate::MAX_PROBLEMS);
}
