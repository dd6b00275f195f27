//! The throw-away home of an agent of other people, beside a scripted model.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use sidekicks_acp::AgentCommand;

use crate::PATIENCE;

/// Writes the agent's command, the project folder, the mode that asks and the whole environment, each with a NUL behind
/// it, then an empty one, and waits for the end of its input.
const HOST: &str = r#"printf '%s\0' "$1" "$2" "$3"; env -0; printf '\0'; exec cat >/dev/null"#;

/// What an agent lives in, for as long as several of its processes. It is cleared away when this is dropped, and also when
/// we are killed, since then the input of the host ends; but for what a dying agent writes after that.
pub(crate) struct Home {
    host: Child,
    agent: String,
    /// The project folder.
    pub(crate) cwd: PathBuf,
    /// The mode in which the agent asks, where that is not its default.
    pub(crate) mode: Option<String>,
    env: Vec<(String, String)>,
}

impl Home {
    /// A home for the agent of this name; an error is why there is none.
    pub(crate) fn of(name: &str) -> Result<Self, String> {
        let tools = std::env::var_os("SIDEKICKS_AGENT_TOOLS")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/agents"), PathBuf::from);
        let agents = std::env::var_os("SIDEKICKS_TEST_AGENTS").ok_or("SIDEKICKS_TEST_AGENTS is not set")?;
        let agents = PathBuf::from(agents);
        let (with_agent, installed) = (tools.join("with_agent.py"), agents.join(name));
        if !installed.is_dir() {
            return Err(format!("it is not installed in {}", agents.display()));
        }
        if !with_agent.is_file() {
            return Err(format!("there is no {}", with_agent.display()));
        }
        let mut command = Command::new("python3");
        command.arg(with_agent).arg(name).arg(installed);
        let node22 = agents.join("node22/node_modules/node/bin");
        if node22.is_dir() {
            command.arg("--node22").arg(node22);
        }
        command.args(["--", "sh", "-c", HOST, "sh", "{agent}", "{cwd}", "{mode}"]);
        let host = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut home = Self {
            host: host.map_err(|error| format!("python3: {error}"))?,
            agent: String::new(),
            cwd: PathBuf::new(),
            mode: None,
            env: Vec::new(),
        };
        home.furnish();
        Ok(home)
    }

    fn furnish(&mut self) {
        let told = BufReader::new(self.host.stdout.take().expect("its output is piped"));
        let mut told = told.split(0).map(|word| String::from_utf8(word.expect("the host tells")).expect("in UTF-8"));
        let mut next = || told.next().expect("the host tells all");
        self.agent = next();
        self.cwd = next().into();
        self.mode = Some(next()).filter(|mode| !mode.is_empty());
        let variables = told.take_while(|variable| !variable.is_empty());
        self.env = variables
            .map(|variable| {
                let (name, value) = variable.split_once('=').expect("a variable has a value");
                (name.to_owned(), value.to_owned())
            })
            .collect();
    }

    /// How the agent is started here, with nothing of our environment.
    pub(crate) fn command(&self) -> AgentCommand {
        let command = AgentCommand::new("sh").args(["-c", &format!("exec {}", self.agent)]).cwd(&self.cwd);
        let command = std::env::vars_os().fold(command, |command, (name, _)| command.env_remove(name));
        self.env.iter().fold(command, |command, (name, value)| command.env(name, value))
    }

    /// Leaves it, and looks that it is cleared away and that nobody lives there any more.
    pub(crate) fn leave(mut self) {
        self.clear();
        let home = self.cwd.parent().expect("the project is in it");
        assert!(!home.exists(), "{} is left", home.display());
        let begun = Instant::now();
        loop {
            let alive = alive(home);
            if alive.is_empty() {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "alive: {alive:?}"); // Death takes a moment.
            std::thread::yield_now();
        }
    }

    fn clear(&mut self) {
        drop(self.host.stdin.take());
        let _ = self.host.wait();
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The command lines of the processes that have this home.
fn alive(home: &Path) -> Vec<String> {
    let wanted = format!("HOME={}\0", home.display());
    let processes = std::fs::read_dir("/proc").expect("processes can be listed").flatten().map(|entry| entry.path());
    let here = processes.filter(|process| {
        std::fs::read(process.join("environ")).is_ok_and(|environ| String::from_utf8_lossy(&environ).contains(&wanted))
    });
    let lines = here.filter_map(|process| std::fs::read(process.join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).filter(|line| !line.is_empty()).collect()
}
