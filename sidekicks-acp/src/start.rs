//! Why an agent could not be started.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{CallError, End, ExitStatus, Phase};

/// Why an agent could not be started, with everything that is known of the attempt.
///
/// Its text is one line for a log: which program, what went wrong, and the last line that it said. The
/// [source](std::error::Error::source) is the system's or the agent's own reason; [`stderr`](Self::stderr) and
/// [`noise`](Self::noise) usually tell a person what to do.
///
/// ```
/// # #[cfg(feature = "process")]
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use sidekicks_acp::{AgentCommand, AgentProcess, ConnectOptions, StopPolicy};
///
/// let command = AgentCommand::new("sh").args(["-c", "echo 'no API key' >&2; exit 2"]);
/// let error = AgentProcess::start(&command, &ConnectOptions::default(), &StopPolicy::default()).await.unwrap_err();
///
/// assert_eq!(error.code(), "agent-exited");
/// assert_eq!(error.exit.and_then(|exit| exit.code()), Some(2));
/// assert!(error.resolved.as_ref().is_some_and(|file| file.ends_with("sh")));
/// assert!(error.to_string().ends_with("it left before it was ready: the agent exited (exit code 2); no API key"));
/// assert!(error.is_transient()); // Next time it may have its key.
/// # });
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct StartError {
    /// What went wrong. In a box, so that a result with this error stays small.
    pub failure: Box<StartFailure>,
    /// The program that was asked for, where there was one.
    pub program: Option<OsString>,
    /// The file that it was found to be, as an absolute path.
    pub resolved: Option<PathBuf>,
    /// How it ended, if it ended by itself.
    pub exit: Option<ExitStatus>,
    /// The end of what it wrote to stderr. The agent's text, control characters and all.
    pub stderr: String,
    /// The first lines on its stdout that were no messages; an agent may print one sentence and leave.
    pub noise: Vec<String>,
}

/// What went wrong in a start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartFailure {
    /// No folder of the `PATH` has a program of this name.
    #[error("the program was not found in {}", .path.display())]
    NotFound {
        /// The `PATH` that was searched: the one that the agent would have had.
        path: OsString,
    },
    /// The program is given as a path, and no file is there.
    #[error("there is no such file")]
    NoSuchFile,
    /// The file may not be executed: it is a folder, or there is no right to.
    ///
    /// On the `PATH` this is the first of its name, and no other was better.
    #[error("the program cannot be executed")]
    NotExecutable(#[source] io::Error),
    /// The file is there, and what is to run it is not, or may not be executed.
    #[error("the interpreter {} of the program cannot be used", named(.interpreter.as_deref()))]
    BadInterpreter {
        /// What the script's first line names after `#!`, to the letter: a carriage return at its end is the line's.
        /// `None` for a program that is no script; it needs a loader that this system does not have.
        interpreter: Option<PathBuf>,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file is neither a program of this system nor a script with `#!` on its first line. Only told where the agent is
    /// in a mere group: in a session of its own such a file is handed to `/bin/sh`, as at a terminal.
    #[error("the file is neither a program of this system nor a script that begins with #!")]
    NotAProgram,
    /// The working folder is missing or may not be entered.
    #[error("the working folder {} cannot be used", .path.display())]
    BadCwd {
        /// The folder.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Arguments and environment are together longer than the system takes.
    #[error("its arguments and its environment are too long")]
    TooManyArguments,
    /// The system is out of processes, descriptors or memory, or somebody is writing the program at this moment.
    #[error("the system cannot start a program at the moment")]
    Busy(#[source] io::Error),
    /// The operating system could not start it for another reason.
    #[error("the program could not be started")]
    Spawn(#[source] io::Error),
    /// It left before it answered the handshake.
    #[error("it left before it was ready: {0}")]
    Left(End),
    /// It did not answer the handshake in time.
    #[error("it was not ready within {} seconds", .0.as_secs_f32())]
    TimedOut(Duration),
    /// Whoever started it gave it up before it was ready.
    #[error("it was given up before it was ready")]
    GivenUp,
    /// It refused the handshake, or its answer makes no sense.
    #[error("the handshake failed")]
    Handshake(#[source] CallError),
    /// It speaks another version of the protocol. We speak version 1.
    #[error("it speaks version {theirs} of the protocol, and this program speaks version 1")]
    UnsupportedVersion {
        /// The version it answered, as it wrote it.
        theirs: String,
    },
}

/// Quoted, since what is wrong with it may be a character that is not seen.
fn named(interpreter: Option<&Path>) -> String {
    interpreter.map_or_else(|| "(its loader)".to_owned(), |path| format!("{path:?}"))
}

impl StartError {
    /// The code of this error, one of [`CODES`](crate::CODES).
    pub fn code(&self) -> &'static str {
        match &*self.failure {
            StartFailure::NotFound { .. } => "program-not-found",
            StartFailure::NoSuchFile => "program-missing",
            StartFailure::NotExecutable(_) => "not-executable",
            StartFailure::BadInterpreter { .. } => "bad-interpreter",
            StartFailure::NotAProgram => "not-a-program",
            StartFailure::BadCwd { .. } => "bad-workspace",
            StartFailure::TooManyArguments => "too-many-arguments",
            StartFailure::Busy(_) => "system-busy",
            StartFailure::Spawn(_) => "start-failed",
            StartFailure::Left(end) => end.code(),
            StartFailure::TimedOut(_) => "start-timeout",
            StartFailure::GivenUp => "agent-stopped",
            StartFailure::Handshake(error) => error.code(),
            StartFailure::UnsupportedVersion { .. } => "unsupported-version",
        }
    }

    /// How far it came.
    pub fn phase(&self) -> Phase {
        match &*self.failure {
            StartFailure::NotFound { .. }
            | StartFailure::NoSuchFile
            | StartFailure::NotExecutable(_)
            | StartFailure::BadInterpreter { .. }
            | StartFailure::NotAProgram
            | StartFailure::BadCwd { .. }
            | StartFailure::TooManyArguments
            | StartFailure::Busy(_)
            | StartFailure::Spawn(_) => Phase::Spawn,
            StartFailure::Left(_)
            | StartFailure::TimedOut(_)
            | StartFailure::GivenUp
            | StartFailure::Handshake(_)
            | StartFailure::UnsupportedVersion { .. } => Phase::Initialize,
        }
    }

    /// Whether the same start may succeed another time although nobody changes anything.
    ///
    /// What ran and did not become ready may (a download went wrong, a server was away); a program that is missing, or
    /// that speaks another version, does not come right by itself.
    pub fn is_transient(&self) -> bool {
        match &*self.failure {
            StartFailure::Busy(_) | StartFailure::Left(_) | StartFailure::TimedOut(_) => true,
            StartFailure::Handshake(error) => error.code() != "login-required",
            _ => false,
        }
    }

    /// The last thing it said, on one line of harmless characters.
    fn last_words(&self) -> Option<String> {
        let mut lines = self.noise.iter().map(String::as_str).chain(self.stderr.lines()).rev();
        let harmless = |line: &str| line.replace(char::is_control, " ").trim().chars().take(200).collect::<String>();
        lines.find_map(|line| Some(harmless(line)).filter(|line| !line.is_empty()))
    }
}

impl From<StartFailure> for StartError {
    fn from(failure: StartFailure) -> Self {
        Self {
            failure: Box::new(failure),
            program: None,
            resolved: None,
            exit: None,
            stderr: String::new(),
            noise: Vec::new(),
        }
    }
}

impl From<CallError> for StartFailure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Ended { end, .. } => Self::Left(end),
            CallError::TimedOut(after) => Self::TimedOut(after),
            other => Self::Handshake(other),
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.resolved.as_ref().map(|file| file.as_os_str());
        if let Some(program) = file.or(self.program.as_deref()) {
            write!(f, "{}: ", program.display())?;
        }
        self.failure.fmt(f)?;
        match self.last_words() {
            Some(words) => write!(f, "; {words}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.failure.source()
    }
}
