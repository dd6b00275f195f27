//! `sidekicks ask` with real agents of other people, offline, against a scripted model.
//!
//! They are looked for in the folder `SIDEKICKS_TEST_AGENTS`, each in a subfolder of its name; what runs them beside
//! their model, `with_agent.py`, is looked for in `SIDEKICKS_AGENT_TOOLS`, else in `../shared/agents` beside the
//! workspace. What is not there is skipped, and said.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use common::{Mark, Terminal};

struct RealAgent {
    name: &'static str,
    folder: PathBuf,
    tools: PathBuf,
    node22: Option<PathBuf>,
}

impl RealAgent {
    /// `None`, with a printed reason, where the agent is not installed.
    fn find(name: &'static str) -> Option<Self> {
        let tools = std::env::var_os("SIDEKICKS_AGENT_TOOLS")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/agents"), PathBuf::from);
        let reason = match std::env::var_os("SIDEKICKS_TEST_AGENTS").map(PathBuf::from) {
            None => "SIDEKICKS_TEST_AGENTS is not set".to_owned(),
            Some(agents) if !agents.join(name).is_dir() => format!("it is not installed in {}", agents.display()),
            Some(_) if !tools.join("with_agent.py").is_file() => format!("no with_agent.py in {}", tools.display()),
            Some(agents) => {
                let node22 = Some(agents.join("node22/node_modules/node/bin")).filter(|bin| bin.is_dir());
                return Some(Self { name, folder: agents.join(name), tools, node22 });
            }
        };
        // Not eprintln, which is shown for tests that fail only.
        let _ = writeln!(std::io::stderr(), "skipped: {name}: {reason}");
        None
    }

    /// `sidekicks` on a terminal, beside the agent and its model.
    fn ask(&self, mark: &Mark, options: &[&str], prompt: &str) -> Terminal {
        let mut words = vec!["--agent-command", "{agent}", "--cwd", "{cwd}"];
        words.extend(options);
        words.push(prompt);
        self.start(mark, &words)
    }

    fn start(&self, mark: &Mark, words: &[&str]) -> Terminal {
        let mut command = Command::new("python3");
        command.arg(self.tools.join("with_agent.py")).arg(self.name).arg(&self.folder);
        if let Some(node22) = &self.node22 {
            command.arg("--node22").arg(node22);
        }
        command.args(["--", "env", "AGENT_LINE={agent}"]).arg(mark.assignment());
        command.args(["setsid", "--ctty", "--wait", env!("CARGO_BIN_EXE_sidekicks"), "--lang", "en", "ask"]);
        command.args(words);
        Terminal::start(command)
    }
}

const CONFIGURATION: &str = r#"{
  "version": 1,
  "workspaces": { "here": { "path": "w" } },
  "agents": {
    "real": {
      "command": "sh", "args": ["-c", "exec ${AGENT_LINE}"], "workspace": "here", "start_timeout": "2min",
      "permission": "allow_all",
      "permission_rules": [{ "decide": "deny", "command": "touch *denied" }], // and a comma more
    },
  },
}"#;

/// Answers every card with the option of this label (some agents ask more than once), and waits for the end.
fn answer_all(mut terminal: Terminal, label: &str) -> (i32, String, usize) {
    let mut cards = 0;
    while let Some(card) = terminal.expect_or_end("└ ? ") {
        let at = card.rfind(label).unwrap_or_else(|| panic!("{label} is not on the card: {card}"));
        let key = card[..at].rsplit('[').next().and_then(|rest| rest.split(']').next()).unwrap_or_default();
        terminal.type_keys(&format!("{key}\n"));
        cards += 1;
    }
    let (code, shown) = terminal.finish();
    (code, shown, cards)
}

/// Everything that a first user does. One agent at a time: each takes a few hundred megabytes and both cores.
fn works(name: &'static str) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let Some(agent) = RealAgent::find(name) else { return };
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);

    // A plain answer streams.
    let mark = Mark::new();
    let (code, shown) = agent.ask(&mark, &[], "say: hello from the scripted model").finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("hello from the scripted model"), "{shown}");
    mark.nothing_left();

    // A command asks for permission, and does not run when it is rejected.
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made");
    let touch = format!("run: touch {}", made.display());
    let (code, shown, cards) = answer_all(agent.ask(&mark, &[], &touch), "reject once");
    assert!(code == 0 || code == 5, "{code}: {shown}"); // Some agents end the turn as cancelled.
    assert!(cards > 0 && !made.exists(), "{cards} {shown}");
    mark.nothing_left();

    // It runs when it is allowed.
    let (code, shown, cards) = answer_all(agent.ask(&mark, &[], &touch), "allow once");
    assert_eq!(code, 0, "{shown}");
    assert!(cards > 0 && made.exists(), "{cards} {shown}");
    mark.nothing_left();

    // What a configuration says of it is in force: where it is started, what it may do, and what it may not.
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("w")).unwrap();
    std::fs::write(at("sidekicks.jsonc"), CONFIGURATION).unwrap();
    let (config, denied, allowed) = (at("sidekicks.jsonc"), at("denied"), at("allowed"));
    for (file, is_made) in [(denied, false), (allowed, true)] {
        let prompt = format!("run: touch {}", file.display());
        let words = ["--config", config.to_str().unwrap(), "real", &prompt];
        let label = if is_made { "allow once" } else { "reject once" };
        let (code, shown, cards) = answer_all(agent.start(&mark, &words), label);
        assert!(code == 0 || (code == 5 && !is_made), "{code}: {shown}");
        // An agent that does not tell its command leaves a doubt, and a person is asked.
        assert!((cards == 0) == (name != "gemini-cli") && file.exists() == is_made, "{cards}: {shown}");
        mark.nothing_left();
    }

    // Ctrl-C in mid-stream ends with `cancelled` and leaves no process.
    let mut terminal = agent.ask(&mark, &["--json"], "long: 3000 10");
    terminal.expect(r#""event":"message:delta""#);
    terminal.type_keys("\x03");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 130, "{shown}");
    let done = shown.lines().rev().find(|line| line.contains(r#""event":"done""#)).unwrap_or_default();
    assert!(done.contains(r#""stopReason":"cancelled""#), "{shown}");
    mark.nothing_left();
}

#[test]
fn kimi_cli_in_python() {
    works("kimi-cli");
}

#[test]
fn codex_acp_zed_in_rust() {
    works("codex-acp-zed");
}

#[test]
fn gemini_cli_in_typescript() {
    works("gemini-cli");
}

#[test]
fn opencode_in_typescript_on_bun() {
    works("opencode");
}
