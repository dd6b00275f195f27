//! Runs the programs, and looks for what they leave behind.

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use crate::marked::Mark;

/// Where a test runs its programs.
pub(crate) struct Stage {
    mark: Mark,
    home: tempfile::TempDir,
}

/// How a program ended, for a person to read.
pub(crate) struct Ended(Output);

impl Stage {
    pub(crate) fn new() -> Self {
        let this = Self { mark: Mark::new(), home: tempfile::tempdir().unwrap() };
        fs::create_dir(this.folder()).unwrap();
        this
    }

    /// Where the programs run: a folder whose name is always the same.
    pub(crate) fn folder(&self) -> PathBuf {
        self.home.path().join("here")
    }

    /// Starts a program, given by `env!("CARGO_BIN_EXE_…")`.
    pub(crate) fn start(&self, program: &str, arguments: &[&str]) -> Child {
        let mut command = Command::new(program);
        self.mark.set(&mut command);
        command.args(arguments).current_dir(self.folder());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs a program to its end.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Ended {
        self.run_with(program, arguments, "")
    }

    /// The same, with something on stdin.
    pub(crate) fn run_with(&self, program: &str, arguments: &[&str], stdin: &str) -> Ended {
        let mut child = self.start(program, arguments);
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        self.nothing_is_left();
        Ended(output)
    }

    /// Waits until nothing is left but what the test itself has to reap.
    pub(crate) fn nothing_is_left(&self) {
        self.mark.nothing_is_left();
    }
}

impl Ended {
    pub(crate) fn stdout(&self) -> &str {
        str::from_utf8(&self.0.stdout).unwrap()
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stderr = String::from_utf8_lossy(&self.0.stderr);
        let code = self.0.status.code().map_or_else(|| "none".to_owned(), |code| code.to_string());
        write!(f, "-- stdout\n{}-- stderr\n{stderr}-- exit code {code}", self.stdout())
    }
}

/// The command of the scripted agent that plays this part.
pub(crate) fn agent(part: &str, word: &str) -> String {
    shlex::try_join([env!("CARGO_BIN_EXE_scripted-agent"), part, word]).unwrap()
}
