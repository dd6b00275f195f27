//! A shell command that leaves nothing behind.

use std::io;
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until, timeout};

use super::tail::Tail;

/// Output is shown at most this often.
const SHOW_EVERY: Duration = Duration::from_millis(50);

/// How long a command may tidy up after SIGTERM.
pub(super) const GRACE: Duration = Duration::from_millis(200);

/// How long output may still come when everyone in the group is dead.
const ECHO: Duration = Duration::from_millis(100);

/// What the guard runs: it waits until its stdin closes, then kills the group it leads.
const GUARD: &str = "trap '' HUP INT TERM; read _; kill -s KILL 0";

/// A command that runs in a process group of its own. Dropping it kills the whole group at once.
///
/// What the shell leaves running in the background ends with it. Only a process that left the group by itself
/// (`setsid`) can outlive it.
#[derive(Debug)]
pub(super) struct Command {
    group: Group,
    shell: tokio::process::Child,
    output: pipe::Receiver,
    tail: Tail,
    output_ended: bool,
    /// When there is something to show, when to show it.
    show_at: Option<Instant>,
    shown_at: Option<Instant>,
}

/// What happened to a command.
#[derive(Debug)]
pub(super) enum Progress {
    /// It wrote something.
    Wrote,
    /// It ended, and so did everything it started.
    Ended(ExitStatus),
}

impl Command {
    /// Starts `command` in `cwd`, with no input, and with both outputs in one stream so that their order is kept.
    pub(super) fn start(command: &str, cwd: &Path) -> io::Result<Self> {
        let group = Group::open()?;
        let (reader, writer) = io::pipe()?;
        let shell = tokio::process::Command::new("/bin/sh")
            .arg("-c")
            .arg(command)
            .current_dir(cwd)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(group.id().as_raw())
            .spawn()?;
        Ok(Self {
            group,
            shell,
            output: pipe::Receiver::from_owned_fd(reader.into())?,
            tail: Tail::default(),
            output_ended: false,
            show_at: None,
            shown_at: None,
        })
    }

    /// Waits for something to tell. Cancel-safe.
    pub(super) async fn next(&mut self) -> io::Result<Progress> {
        let mut buffer = [0; 8 * 1024];
        loop {
            let show_at = self.show_at;
            tokio::select! {
                read = self.output.read(&mut buffer), if !self.output_ended => self.received(&buffer[..read?]),
                status = self.shell.wait() => {
                    let status = status?;
                    self.group.kill();
                    // Everyone who could write is dead, save who left the group: hence the limit.
                    let _ = timeout(ECHO, self.drain()).await;
                    return Ok(Progress::Ended(status));
                }
                () = sleep_until(show_at.unwrap_or_else(Instant::now)), if show_at.is_some() => {
                    self.show_at = None;
                    self.shown_at = Some(Instant::now());
                    return Ok(Progress::Wrote);
                }
            }
        }
    }

    /// Has what was told by the last [`Progress::Wrote`] told again.
    pub(super) fn show_again(&mut self) {
        self.show_at.get_or_insert(Instant::now() + SHOW_EVERY);
    }

    /// Asks the group to end, then kills it after `grace`, and returns what was written.
    pub(super) async fn stop(mut self, grace: Duration) -> Tail {
        self.group.signal(Signal::SIGTERM);
        let _ = timeout(grace, self.shell.wait()).await;
        self.group.kill();
        let _ = timeout(ECHO, async {
            self.drain().await;
            let _ = self.shell.wait().await;
        })
        .await;
        self.tail
    }

    /// What it wrote so far.
    pub(super) fn tail(&self) -> &Tail {
        &self.tail
    }

    /// The same, once nothing more comes.
    pub(super) fn take_tail(&mut self) -> Tail {
        std::mem::take(&mut self.tail)
    }

    fn received(&mut self, bytes: &[u8]) {
        self.tail.push(bytes);
        self.output_ended = bytes.is_empty();
        if !bytes.is_empty() {
            let earliest = self.shown_at.map(|shown| shown + SHOW_EVERY);
            self.show_at.get_or_insert(earliest.unwrap_or_else(Instant::now));
        }
    }

    async fn drain(&mut self) {
        let mut buffer = [0; 8 * 1024];
        while !self.output_ended {
            match self.output.read(&mut buffer).await {
                Ok(read) => self.received(&buffer[..read]),
                Err(_) => return,
            }
        }
    }
}

/// A process group whose number stays ours until it is dropped.
///
/// Its leader is a tiny shell that outlives the command. A group number may be given to strangers once its members
/// are gone and reaped; as the leader is reaped last, a signal never hits the wrong one. And should this process
/// be killed with no chance to clean up, the leader sees its stdin close and kills the group.
#[derive(Debug)]
struct Group {
    leader: Child,
    _alive: Option<ChildStdin>,
}

impl Group {
    fn open() -> io::Result<Self> {
        use std::os::unix::process::CommandExt;

        let mut leader = std::process::Command::new("/bin/sh")
            .args(["-c", GUARD])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let alive = leader.stdin.take();
        Ok(Self { leader, _alive: alive })
    }

    fn id(&self) -> Pid {
        // A process id always fits: the system hands them out as `pid_t`.
        Pid::from_raw(i32::try_from(self.leader.id()).unwrap_or(i32::MAX))
    }

    fn signal(&self, signal: Signal) {
        // Fails only when no member is left.
        let _ = killpg(self.id(), signal);
    }

    fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        // The leader was killed just now, and holds nothing that could delay its end.
        let _ = self.leader.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run(command: &str) -> (ExitStatus, String) {
        let mut command = Command::start(command, Path::new("/")).unwrap();
        let status = loop {
            if let Progress::Ended(status) = command.next().await.unwrap() {
                break status;
            }
        };
        (status, command.tail().text())
    }

    #[tokio::test]
    async fn both_outputs_come_in_order() {
        let (status, output) = run("echo a; echo b >&2; echo c; pwd; exit 3").await;
        assert_eq!((status.code(), output.as_str()), (Some(3), "a\nb\nc\n/\n"));
    }

    #[tokio::test]
    async fn there_is_no_input() {
        assert_eq!(run("cat; echo done").await.1, "done\n");
    }

    #[tokio::test]
    async fn what_runs_in_the_background_ends_too() {
        let (_, output) = run("sleep 1000 & echo $!").await;
        let sleep = Pid::from_raw(output.trim().parse().unwrap());
        assert_ends(sleep).await;
    }

    #[tokio::test]
    async fn a_command_that_ignores_sigterm_is_killed() {
        let mut command = Command::start("trap '' TERM; echo $$; while :; do sleep 1; done", Path::new("/")).unwrap();
        assert!(matches!(command.next().await.unwrap(), Progress::Wrote));
        let shell = Pid::from_raw(command.tail().text().trim().parse().unwrap());
        command.stop(Duration::ZERO).await;
        assert_ends(shell).await;
    }

    #[tokio::test]
    async fn a_command_may_tidy_up() {
        let mut command =
            Command::start("trap 'echo bye; exit' TERM; sleep 1000 & echo hi; wait", Path::new("/")).unwrap();
        assert!(matches!(command.next().await.unwrap(), Progress::Wrote));
        // The shell may tell of the sleep that was terminated, too.
        let output = command.stop(Duration::from_secs(20)).await.text();
        assert!(output.starts_with("hi\n") && output.ends_with("bye\n"), "{output}");
    }

    /// Waits for a process that is not our child to end and to be reaped by whoever has it now.
    async fn assert_ends(process: Pid) {
        let ended = async {
            let proc = format!("/proc/{process}/cmdline");
            while std::fs::read(&proc).is_ok_and(|command| !command.is_empty()) {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(20), ended).await.expect("the process is still there");
    }
}
