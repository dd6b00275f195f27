//! What to run, and how it is set apart.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::{Child, Command};

use super::KillOnDrop;
use super::group::Group;
use super::guard::{Guard, Watched};
use super::marker::{self, Marker};
use super::sys;
use crate::start::StartFailure;

/// The program that is an agent. Nothing here goes through a shell.
///
/// The environment is inherited, with the changes asked for here.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentCommand {
    /// A path, or a name that is looked for on the `PATH`.
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
    pub(super) async fn spawn(&self, marker: Marker, guard: Option<Guard>) -> Result<Spawned, StartFailure> {
        if let Some(path) = &self.cwd {
            let usable = std::fs::metadata(path).and_then(|about| match about.is_dir() {
                true => Ok(()),
                false => Err(io::ErrorKind::NotADirectory.into()),
            });
            usable.map_err(|source| StartFailure::BadCwd { path: path.clone(), source })?;
        }
        let mut command = Command::new(&self.program);
        command.args(&self.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in &self.env_remove {
            command.env_remove(name);
        }
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command.env(marker::NAME, marker.value());
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
        // Starting forks where a session is made, which takes long in a large program: not on a thread of the runtime.
        let started = tokio::task::spawn_blocking(move || {
            let process = command.spawn()?;
            let pid = process.id().and_then(|pid| i32::try_from(pid).ok()).ok_or(io::ErrorKind::NotFound)?;
            // If the future is dropped meanwhile, this comes back to nobody, and is killed.
            let kill = KillOnDrop(Arc::new(Group::new(pid, marker)));
            let watched = guard.map(|guard| guard.watch(pid));
            io::Result::Ok(Spawned { kill, process, pid, watched })
        });
        let started = started.await.unwrap_or_else(|panic| Err(io::Error::other(panic)));
        started.map_err(|error| self.explained(error))
    }

    fn explained(&self, error: io::Error) -> StartFailure {
        match error.kind() {
            io::ErrorKind::NotFound => StartFailure::NotFound,
            io::ErrorKind::PermissionDenied => StartFailure::NotExecutable(error),
            _ => StartFailure::Spawn(error),
        }
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
