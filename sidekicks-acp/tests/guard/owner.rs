//! A program that has agents under a guard.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::real::{Listed, listed};

/// The program, whose agents are ready.
pub(crate) struct Owner(Child, BufReader<ChildStdout>);

impl Owner {
    /// Starts it with an agent for each script.
    pub(crate) fn start(state: &Path, scripts: &[String]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_guarded-owner"));
        command.arg(state).args(scripts).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        let mut owner = Self(process, stdout);
        owner.is_ready();
        owner
    }

    /// Lets it start one more agent.
    pub(crate) fn start_another(&mut self, script: &str) {
        writeln!(self.0.stdin.as_ref().unwrap(), "{script}").unwrap();
        self.is_ready();
    }

    fn is_ready(&mut self) {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
    }

    /// The shells that guard it. Looked for by its number, so before it is reaped and another may have it.
    pub(crate) fn shells(&self) -> Vec<Listed> {
        let name = format!("sidekicks-guard {}.", self.0.id());
        listed().into_iter().filter(|process| process.args.contains(&name)).collect()
    }

    /// SIGKILL; its shells do not come along.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.is_gone();
    }

    /// SIGKILL to its shells.
    pub(crate) fn kill_shells(&self) {
        for shell in self.shells() {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(shell.pid), nix::sys::signal::Signal::SIGKILL).unwrap();
        }
        self.no_shell_left();
    }

    pub(crate) fn no_shell_left(&self) {
        let begun = Instant::now();
        while !self.shells().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", self.shells());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Lets it end its agents and itself.
    pub(crate) fn finish(&mut self) {
        drop(self.0.stdin.take());
        self.is_gone();
    }

    /// Waits until it is a zombie: not yet reaped, so that its number stays taken.
    fn is_gone(&self) {
        let begun = Instant::now();
        let pid = i32::try_from(self.0.id()).unwrap();
        while listed().iter().any(|process| process.pid == pid) {
            assert!(begun.elapsed() < Duration::from_secs(30), "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
