//! Runs the program and sees what of it is there.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The variable by which everything that a test starts is found.
const MARK: &str = "TAKE_TURNS_MARK";

/// A run of the program. Killed with all that it started when a test fails.
pub(crate) struct Run {
    program: Child,
    mark: String,
    pub(crate) home: tempfile::TempDir,
}

impl Run {
    pub(crate) fn start(prompt: &str, agents: &[String]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_take_turns"));
        command.arg(prompt).args(agents).env(MARK, &mark).env("HOME", home.path()).env("TMPDIR", home.path());
        command.current_dir(home.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        Self { program: command.spawn().unwrap(), mark, home }
    }

    /// Waits for the end, and looks all the while at how many agents there are; gives the most that were seen at once, and
    /// what was printed.
    pub(crate) fn watched(&mut self) -> (ExitStatus, usize, String) {
        let mut stdout = self.program.stdout.take().unwrap();
        let printed = thread::spawn(move || {
            let mut printed = String::new();
            stdout.read_to_string(&mut printed).map(|_| printed)
        });
        let mut most = 0;
        let status = loop {
            most = most.max(self.agents().len());
            if let Some(status) = self.program.try_wait().unwrap() {
                break status;
            }
        };
        (status, most, printed.join().unwrap().unwrap())
    }

    /// Waits until it has printed this, on the lines after the one that names the agent.
    pub(crate) fn prints(&mut self, text: &str) {
        let stdout = self.program.stdout.as_mut().unwrap();
        let mut printed = Vec::new();
        let mut buffer = [0; 1024];
        loop {
            let length = stdout.read(&mut buffer).unwrap();
            printed.extend_from_slice(&buffer[..length]);
            let so_far = String::from_utf8_lossy(&printed);
            if so_far.split_once('\n').is_some_and(|(_, answer)| answer.contains(text)) {
                return;
            }
            assert!(length > 0, "{so_far}");
        }
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.program.wait().unwrap()
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.program.try_wait().unwrap().is_some()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.program.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// The starts of agents of which something is there.
    pub(crate) fn agents(&self) -> BTreeSet<String> {
        let agent = |entry: &Vec<String>| {
            entry.iter().find_map(|entry| entry.strip_prefix("SIDEKICKS_AGENT=").map(str::to_owned))
        };
        self.processes().iter().filter_map(agent).collect()
    }

    /// Waits until this is so.
    pub(crate) fn until(&self, what: &str, is: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is(self) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}: {:?}", self.processes());
            thread::yield_now();
        }
    }

    /// Waits until nothing is left but what this test itself has to reap.
    pub(crate) fn nothing_is_left(&self) {
        self.until("left behind", |run| run.processes().is_empty());
    }

    /// The environments of the program and of all that stems from it.
    fn processes(&self) -> Vec<Vec<String>> {
        let mark = format!("{MARK}={}", self.mark);
        let environments = fs::read_dir("/proc").unwrap().flatten().map(|entry| environment(&entry.path()));
        environments.filter(|environment| environment.contains(&mark)).collect()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn environment(process: &Path) -> Vec<String> {
    let bytes = fs::read(process.join("environ")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).split('\0').map(str::to_owned).collect()
}

/// An agent whose script runs `at_prompt` for each prompt, and `at_end` when its stdin is closed.
pub(crate) fn agent(name: &str, at_prompt: &str, at_end: &str) -> String {
    let script = format!(
        r#"reply() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
while read -r line; do
  id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
  case $line in
    *initialize*) reply '{{"protocolVersion":1}}' ;;
    *session/new*) reply '{{"sessionId":"s"}}' ;;
    *session/prompt*) {at_prompt}
      printf '{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"I am {name}"}}}}}}}}\n'
      reply '{{"stopReason":"end_turn"}}' ;;
  esac
done
{at_end}"#
    );
    shlex::try_join(["sh", "-c", &script]).unwrap()
}
