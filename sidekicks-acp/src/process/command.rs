//! What to run, and how it is set apart.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::{Child, Command};

use super::KillOnDrop;
use super::family;
use super::group::Group;
use super::guard::{Guard, Watched};
use super::marker::{self, Marker};
use super::program::{self, Unusable};
use super::sys;
use crate::start::StartFailure;

/// The program that is an agent. Nothing here goes through a shell.
///
/// The environment is inherited, with the changes asked for here and one variable of ours: `SIDEKICKS_AGENT` names this
/// program, the start and [`ConnectOptions::label`](crate::ConnectOptions::label), and what the agent leaves behind is found
/// by it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentCommand {
    /// A path, or a name without a slash, which is looked for on the `PATH`.
    ///
    /// The `PATH` is the one that the agent has: [`env`](Self::env) and [`env_remove`](Self::env_remove) count, and
    /// without any it is `/usr/bin:/bin`. A relative path, here or on the `PATH`, starts at [`cwd`](Self::cwd), which
    /// is our own folder by default.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables that are set for it; a later one wins.
    pub env: Vec<(OsString, OsString)>,
    /// Variables of ours that it does not get.
    pub env_remove: Vec<OsString>,
    /// The folder it is started in; ours by default. A session has its own, see [`OpenSession`](crate::OpenSession).
    pub cwd: Option<PathBuf>,
    /// How it is set apart from us.
    pub isolation: Isolation,
}

/// How an agent is set apart, so that a key pressed in our terminal does not reach it and all of it can be signalled.
///
/// What a child inherits beside its environment depends on it, as the two are started in different ways:
///
/// | | [`Group`](Self::Group) | [`Session`](Self::Session) |
/// |---|---|---|
/// | cost of a start | that of the program | a fork as well, which grows with our memory |
/// | SIGPIPE | as in a fresh program | as in a fresh program |
/// | SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGCHLD that we ignore | ignored (under `nohup` only SIGKILL ends some) | as in a fresh program |
/// | signals that the starting thread blocks | blocked | not blocked |
/// | descriptors that we left open for children | open | closed on Linux 5.11 or newer, else open |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Isolation {
    /// A session of its own when we have a controlling terminal, else a group: in a mere group an agent that touches
    /// the terminal would be stopped for ever (SIGTTIN), and a session costs a fork of the whole program.
    #[default]
    Auto,
    /// A process group of its own.
    Group,
    /// A session of its own, and with it a group.
    Session,
}

/// A program that runs, before anybody looks after it.
pub(super) struct Spawned {
    /// Kills what was started if nobody takes it over. It stands before `process`, whose drop may reap.
    pub(super) kill: KillOnDrop,
    pub(super) process: Child,
    pub(super) pid: i32,
    /// It stands after `process`, which may be reaped by then.
    pub(super) watched: Option<Watched>,
    /// What was executed.
    pub(super) file: PathBuf,
}

impl AgentCommand {
    /// Runs `program`, without arguments.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            env_remove: Vec::new(),
            cwd: None,
            isolation: Isolation::default(),
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Keeps a variable of ours from it.
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env_remove.push(name.into());
        self
    }

    /// Starts it in this folder.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets it apart in this way.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Starts it with all three streams in pipes, marked and guarded. If the future is dropped, so is what was started.
    pub(super) async fn spawn(&self, marker: Marker, guard: Option<Guard>) -> Result<Spawned, Unusable> {
        let command = self.clone();
        // Starting forks where a session is made, which takes long in a large program: not on a thread of the runtime.
        // If the future is dropped meanwhile, what was started comes back to nobody, and is killed.
        tokio::task::spawn_blocking(move || command.spawn_here(marker, guard)).await.unwrap_or_else(|panic| {
            let failure = StartFailure::Spawn(io::Error::other(panic));
            Err(Unusable { failure, resolved: None })
        })
    }

    fn spawn_here(&self, marker: Marker, guard: Option<Guard>) -> Result<Spawned, Unusable> {
        if self.has_nul() {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "no program can be given a NUL byte");
            return Err(Unusable { failure: StartFailure::Spawn(error), resolved: None });
        }
        if let Some(path) = &self.cwd {
            program::enterable(path).map_err(|source| {
                let failure = StartFailure::BadCwd { path: path.clone(), source };
                Unusable { failure, resolved: None }
            })?;
        }
        let file = program::find(&self.program, &self.path(), self.cwd.as_deref().unwrap_or(Path::new("")))?;
        match self.execute(&file, &marker) {
            Ok((process, pid)) => {
                let kill = KillOnDrop(Arc::new(Group::new(pid, marker)));
                let watched = guard.map(|guard| guard.watch(pid));
                Ok(Spawned { kill, process, pid, watched, file })
            }
            Err(error) => {
                // The process may be there all the same: a runtime that ends refuses its pipes after the fork, and lets go
                // of it. Only its marker tells who it is.
                // Twice, since one that was forking just then has a child that the first look did not see.
                for _ in 0..2 {
                    for member in family::marked(marker.beginning()) {
                        member.kill();
                    }
                }
                let failure = program::explained(error, &file, self.cwd.as_deref());
                Err(Unusable { failure, resolved: Some(file) })
            }
        }
    }

    fn has_nul(&self) -> bool {
        let variables = self.env.iter().flat_map(|(name, value)| [name, value]);
        let cwd = self.cwd.iter().map(|cwd| cwd.as_os_str());
        let texts = self.args.iter().chain(variables).chain(&self.env_remove).chain([&self.program]);
        texts.map(OsString::as_os_str).chain(cwd).any(|text| text.as_bytes().contains(&0))
    }

    /// The `PATH` that the agent has, which is also the one that it is looked for in.
    fn path(&self) -> OsString {
        let set = self.env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let ours = || if self.env_remove.iter().any(|name| name == "PATH") { None } else { env::var_os("PATH") };
        set.or_else(ours).unwrap_or_else(|| program::DEFAULT_PATH.into())
    }

    fn execute(&self, file: &Path, marker: &Marker) -> io::Result<(Child, i32)> {
        let mut command = Command::new(file);
        // Programs with several names look at the one they were called by.
        command.arg0(&self.program).args(&self.args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in &self.env_remove {
            command.env_remove(name);
        }
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command.env(marker::NAME, marker.value(env::var(marker::NAME).ok().as_deref()));
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        match self.isolation {
            Isolation::Auto if sys::has_terminal() => sys::new_session(command.as_std_mut()),
            Isolation::Session => sys::new_session(command.as_std_mut()),
            Isolation::Auto | Isolation::Group => {
                command.process_group(0);
            }
        }
        let _spawning = sys::spawning();
        let process = command.spawn()?;
        let pid = process.id().and_then(|pid| i32::try_from(pid).ok()).ok_or(io::ErrorKind::NotFound)?;
        Ok((process, pid))
    }
}

impl fmt::Debug for AgentCommand {
    /// Without the values of its environment, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("AgentCommand")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("env_remove", &self.env_remove)
            .field("cwd", &self.cwd)
            .field("isolation", &self.isolation)
            .finish()
    }
}

impl From<&OsStr> for AgentCommand {
    fn from(program: &OsStr) -> Self {
        Self::new(program)
    }
}
