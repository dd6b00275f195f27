//! The helper that outlives us.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::process::family::Member;
use crate::process::listing;
use crate::process::marker;
use crate::process::sys;

const SCRIPT: &str = include_str!("guard.sh");

/// Where the tools of POSIX are, also on systems that keep them in places of their own.
const PATH: &str = "/usr/bin:/bin:/run/current-system/sw/bin";

/// A shell on a pipe. The system closes our end of it when we die, in whatever way.
pub(super) struct Shell {
    process: Option<Child>,
    /// Closed when another program is executed, as everything that the standard library opens, so no agent holds it.
    orders: ChildStdin,
}

impl Shell {
    pub(super) fn start() -> io::Result<Self> {
        let about = |error: io::Error| io::Error::new(error.kind(), format!("/bin/sh: {error}"));
        let mut command = Command::new("/bin/sh");
        // No marker of another program's agent in it, nor a folder that is held.
        command.args(["-c", SCRIPT, "sidekicks-guard", &marker::program(), listing::BY]);
        command.env_clear().env("PATH", PATH).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        sys::new_session(&mut command);
        let _spawning = sys::spawning();
        let mut process = command.spawn().map_err(about)?;
        let orders = process.stdin.take().ok_or_else(|| about(io::ErrorKind::BrokenPipe.into()))?;
        // A shell that somebody has stopped must not stop us.
        fcntl(&orders, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|error| about(error.into()))?;
        Ok(Self { process: Some(process), orders })
    }

    /// # Errors
    /// When the shell is gone, or has not read for very long.
    pub(super) fn add(&mut self, agent: Member) -> io::Result<()> {
        self.say(&format!("+ {} {}\n", agent.pid, agent.started))
    }

    /// # Errors
    /// The same. Then it must not be left with a group that is another's one day.
    pub(super) fn remove(&mut self, agent: Member) -> io::Result<()> {
        self.say(&format!("- {} {}\n", agent.pid, agent.started))
    }

    /// Short enough to be written whole or not at all (POSIX.1-2017, write, PIPE_BUF).
    fn say(&mut self, line: &str) -> io::Result<()> {
        self.orders.write_all(line.as_bytes())
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let heard = self.say("done\n").is_ok();
        if let Some(mut process) = self.process.take() {
            if !heard {
                // Somebody has stopped it and its pipe is full. It would take the end of the pipe for ours.
                let _ = process.kill();
            }
            // It leaves at once, and somebody has to reap it. Where no thread can be had it stays a zombie, no more.
            let reap = move || process.wait();
            let _ = std::thread::Builder::new().name("sidekicks-guard".to_owned()).spawn(reap);
        }
    }
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use super::*;

    #[test]
    fn one_that_was_stopped_does_not_take_our_letting_go_for_our_death() {
        let mut shell = Shell::start().unwrap();
        let pid = Pid::from_raw(shell.process.as_ref().unwrap().id().cast_signed());
        kill(pid, Signal::SIGSTOP).unwrap();
        let nobody = Member { pid: i32::MAX, started: 0 };
        while shell.add(nobody).is_ok() {}
        drop(shell);
        // It is killed and reaped, although it is stopped and has not read `done`.
        while Member::find(pid.as_raw()).is_some() {
            std::thread::yield_now();
        }
    }
}
