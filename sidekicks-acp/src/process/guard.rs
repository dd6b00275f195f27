//! Ends agents although this program is killed.

mod dead;
mod record;
mod shell;

use std::fmt;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::family::Member;
use record::Record;
use shell::Shell;

/// Ends the agents of this program even if it is killed: give it to
/// [`ConnectOptions::guard`](crate::ConnectOptions::guard).
///
/// It is two nets, one under the other. A small `/bin/sh` outlives us by a moment: it hears that we are gone, however that
/// came about, sends SIGTERM to the process group of each agent, and SIGKILL after 3 seconds; on Linux it then kills what
/// carries the marker of this program, so commands in sessions of their own and daemons too. And a file in the state folder
/// says which agents run, for as long as they do; [`start`](Self::start) reads the files of programs that are dead and ends
/// what they left within a second, should their shell have been killed as well.
///
/// What has left its agent's group and cannot be known by its environment survives: it was cleared, or the process hardened
/// itself or belongs to another user. A child that this program forks without executing another holds up both nets for as
/// long as it lives.
///
/// One is enough for a program. A clone is the same guard. Agents hold it until they are reaped, so it may be dropped at
/// any time; when the last one is gone, the shell leaves and the file is removed.
#[derive(Clone)]
pub struct Guard(Arc<Inner>);

/// When is looked again for programs that were dying.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

struct Inner {
    swept: Mutex<Swept>,
    nets: Mutex<Nets>,
}

/// What a [`Guard`] found when it started, and ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Swept {
    /// How many programs had died and left something running.
    pub programs: usize,
    /// How many processes of their agents were ended.
    pub processes: usize,
}

impl Guard {
    /// Ends what dead programs left, and starts. `state_dir` is a folder for our files alone, the same for all programs
    /// that are to look after one another; it is made if it is not there, for our user only. It should be on a local disk,
    /// since a lock in it tells that a program lives.
    ///
    /// Must be called in a tokio runtime. Takes about a millisecond, and some seconds where something is to be ended.
    /// Files that are not ours or cannot be read are passed over.
    ///
    /// # Errors
    /// When the folder or the file in it cannot be made or written, or `/bin/sh` cannot be started. The text names which.
    pub async fn start(state_dir: impl AsRef<Path>) -> io::Result<Self> {
        let folder = state_dir.as_ref().to_owned();
        let started = tokio::task::spawn_blocking(move || {
            DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|error| about(&folder, &error))?;
            let swept = dead::sweep(&folder).map_err(|error| about(&folder, &error))?;
            let record = Record::create(&folder)?;
            let shell = Shell::start()?;
            let nets = Nets { agents: Vec::new(), record, shell };
            let guard = Self(Arc::new(Inner { swept: Mutex::new(swept), nets: Mutex::new(nets) }));
            io::Result::Ok((guard, folder))
        });
        let (guard, folder) = started.await.unwrap_or_else(|panic| Err(io::Error::other(panic)))?;
        tokio::spawn(look_again(Arc::downgrade(&guard.0), folder));
        Ok(guard)
    }

    /// What was found so far, and ended. It looks when it starts, and a second later again.
    pub fn swept(&self) -> Swept {
        *self.0.swept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks after the group of `leader` until what is returned is dropped. May block for a moment.
    pub(super) fn watch(&self, leader: i32) -> Watched {
        let agent = Member::find(leader).unwrap_or(Member { pid: leader, started: 0 });
        self.nets().add(agent);
        Watched { guard: self.clone(), agent }
    }

    fn nets(&self) -> MutexGuard<'_, Nets> {
        self.0.nets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("agents", &self.nets().agents).finish_non_exhaustive()
    }
}

/// An agent that is looked after.
pub(super) struct Watched {
    guard: Guard,
    agent: Member,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.guard.nets().remove(self.agent);
    }
}

struct Nets {
    agents: Vec<Member>,
    record: Record,
    shell: Shell,
}

impl Nets {
    fn add(&mut self, agent: Member) {
        self.agents.push(agent);
        self.record.add(agent);
        if self.shell.add(agent).is_err() {
            self.replace_shell();
        }
    }

    fn remove(&mut self, agent: Member) {
        self.agents.retain(|other| *other != agent);
        if self.shell.remove(agent).is_err() && !self.agents.is_empty() {
            self.replace_shell();
        }
        self.record.remove(agent, self.agents.is_empty());
    }

    /// Somebody has killed or stopped it. If there can be no other, the record is still there.
    fn replace_shell(&mut self) {
        match Shell::start() {
            Ok(shell) => {
                self.shell = shell;
                self.agents.iter().for_each(|agent| drop(self.shell.add(*agent)));
            }
            Err(error) => tracing::debug!(%error, "agents are not guarded by a shell any more"),
        }
    }
}

/// A program that was killed just before we started may not have been dead yet.
async fn look_again(guard: Weak<Inner>, folder: PathBuf) {
    tokio::time::sleep(LOOK_AGAIN).await;
    let swept = tokio::task::spawn_blocking(move || dead::sweep(&folder)).await;
    if let (Some(guard), Ok(Ok(more))) = (guard.upgrade(), swept) {
        let mut swept = guard.swept.lock().unwrap_or_else(PoisonError::into_inner);
        swept.programs += more.programs;
        swept.processes += more.processes;
    }
}

/// `error` with the path in its text.
fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
