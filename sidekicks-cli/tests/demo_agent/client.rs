//! A client of few words, and what it looks for.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// Far longer than anything here takes, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The text of a tool call's first content.
pub(crate) fn output(update: &Value) -> &str {
    update["content"][0]["content"]["text"].as_str().unwrap_or_default()
}

/// All that came until a prompt was answered.
pub(crate) struct Turn {
    pub(crate) updates: Vec<Value>,
    pub(crate) questions: Vec<Value>,
    pub(crate) answer: Value,
}

impl Turn {
    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        let updates = self.updates.iter().map(|update| &update["params"]["update"]);
        updates.filter(|update| update["sessionUpdate"] == kind).collect()
    }

    pub(crate) fn last(&self, kind: &str) -> &Value {
        self.of(kind).last().unwrap_or_else(|| panic!("no {kind} in {:?}", self.kinds()))
    }

    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.updates.iter().filter_map(|update| update["params"]["update"]["sessionUpdate"].as_str()).collect()
    }

    pub(crate) fn text(&self) -> String {
        self.of("agent_message_chunk").iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
    }

    pub(crate) fn stop_reason(&self) -> &str {
        self.answer["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("not a result: {}", self.answer))
    }
}

/// The agent's process, and a client of few words on the other end.
pub(crate) struct Client {
    child: Option<Child>,
    pub(crate) process: Pid,
    pub(crate) stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    last_id: u64,
}

impl Client {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sidekicks"))
            .arg("demo-agent")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        // Bounded, so that a test that does not read leaves the agent with a full pipe.
        let (sender, lines) = sync_channel(16);
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let process = Pid::from_raw(child.id().try_into().unwrap());
        Self { stdin: child.stdin.take(), child: Some(child), process, lines, last_id: 0 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    pub(crate) fn open(&mut self, folder: &Path) -> String {
        let answer = self.call("session/new", json!({"cwd": folder, "mcpServers": []}));
        let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
        // What follows is about the turns.
        self.update("available_commands_update");
        session
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let block = json!({"type": "text", "text": text});
        self.request("session/prompt", json!({"sessionId": session, "prompt": [block]}))
    }

    pub(crate) fn play(&mut self, session: &str, text: &str, choose: fn(&Value) -> &'static str) -> Turn {
        let prompt = self.prompt(session, text);
        self.finish(prompt, choose)
    }

    pub(crate) fn play_blocks(&mut self, session: &str, blocks: Value, choose: fn(&Value) -> &'static str) -> Turn {
        let prompt = self.request("session/prompt", json!({"sessionId": session, "prompt": blocks}));
        self.finish(prompt, choose)
    }

    /// Collects what comes until the prompt is answered, and answers the questions.
    pub(crate) fn finish(&mut self, prompt: u64, choose: fn(&Value) -> &'static str) -> Turn {
        let (mut updates, mut questions) = (Vec::new(), Vec::new());
        loop {
            let message = self.next();
            match message["method"].as_str() {
                None if message["id"] == prompt => return Turn { updates, questions, answer: message },
                Some("session/update") => updates.push(message),
                Some("session/request_permission") => {
                    self.choose(&message, choose(&message));
                    questions.push(message);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn choose(&mut self, question: &Value, option: &str) {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
    }

    pub(crate) fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({"sessionId": session}));
    }

    pub(crate) fn update(&mut self, kind: &str) -> Value {
        let message = self.until(|message| message["params"]["update"]["sessionUpdate"] == kind);
        message["params"]["update"].clone()
    }

    pub(crate) fn question(&mut self) -> Value {
        self.until(|message| message["method"] == "session/request_permission")
    }

    pub(crate) fn answer(&mut self) -> Value {
        self.until(|message| message.get("method").is_none())
    }

    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next();
            if wanted(&message) {
                return message;
            }
        }
    }

    pub(crate) fn next(&mut self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("the agent said nothing for {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the agent left: {:?}", self.wait()),
        }
    }

    pub(crate) fn kill(&self, signal: Signal) {
        kill(self.process, signal).unwrap();
    }

    /// Closes stdin, and waits for the agent to leave by itself.
    pub(crate) fn leave(&mut self) -> ExitStatus {
        self.stdin = None;
        self.wait()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let mut child = self.child.take().unwrap();
        let (sender, ended) = sync_channel(1);
        std::thread::spawn(move || sender.send(child.wait().unwrap()));
        ended.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            self.kill(Signal::SIGKILL);
            panic!("the agent did not leave within {PATIENCE:?}");
        })
    }

    /// The most memory it ever had.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process)).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Some `sleep`s that can be told from all others on this machine.
pub(crate) struct Sleeps {
    marker: String,
}

impl Sleeps {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { marker: format!("1000.{}{count:03}", std::process::id()) }
    }

    /// One in the background and one in front.
    pub(crate) fn command(&self) -> String {
        format!("sleep {0} & echo up; sleep {0}; true", self.marker)
    }

    /// Allows the command, and waits for it to run.
    pub(crate) fn started(&self, client: &mut Client) {
        let question = client.question();
        client.choose(&question, "allow_once");
        client.until(|message| output(&message["params"]["update"]).contains("up"));
        assert!(self.running());
    }

    pub(crate) fn assert_gone(&self) {
        let since = Instant::now();
        while self.running() {
            assert!(since.elapsed() < PATIENCE, "a command outlived its turn");
            std::thread::yield_now();
        }
    }

    /// Whether any process has the marker in its command line.
    #[cfg(target_os = "linux")]
    pub(crate) fn running(&self) -> bool {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let mut commands = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        commands.any(|command| String::from_utf8_lossy(&command).contains(&self.marker))
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn running(&self) -> bool {
        let listed = Command::new("ps").args(["-A", "-o", "args"]).output().unwrap();
        String::from_utf8_lossy(&listed.stdout).contains(&self.marker)
    }
}
