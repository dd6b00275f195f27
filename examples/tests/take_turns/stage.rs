//! Runs the program and sees what of it is there.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use crate::marked::Mark;

/// A run of the program. Killed with all that it started when a test fails.
pub(crate) struct Run {
    program: Child,
    mark: Mark,
    pub(crate) home: tempfile::TempDir,
}

impl Run {
    pub(crate) fn start(prompt: &str, agents: &[String]) -> Self {
        let mark = Mark::new();
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_take_turns"));
        command.arg(prompt).args(agents).env("HOME", home.path()).env("TMPDIR", home.path());
        mark.set(&mut command);
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
        self.mark.processes().iter().filter_map(agent).collect()
    }

    /// Waits until this is so.
    pub(crate) fn until(&self, what: &str, is: impl Fn(&Self) -> bool) {
        self.mark.until(what, || is(self));
    }

    /// Waits until nothing is left but what this test itself has to reap.
    pub(crate) fn nothing_is_left(&self) {
        self.mark.nothing_is_left();
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
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
