//! Running the real program, with and without a terminal.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Longer than anything takes, also on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A value in the environment of one test's processes, and of nobody else's.
pub(crate) struct Mark(String);

const MARK: &str = "SIDEKICKS_TEST_MARK";

impl Mark {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// What sets it, for `env`.
    pub(crate) fn assignment(&self) -> String {
        format!("{MARK}={}", self.0)
    }

    /// The home of one test, so that no other test's start cleans up what this one leaves.
    pub(crate) fn home(&self) -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(&self.0)
    }

    /// The command lines of those that are alive.
    pub(crate) fn alive(&self) -> Vec<String> {
        let wanted = format!("{}\0", self.assignment());
        let pids = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let marked = pids.filter(|path| {
            std::fs::read(path.join("environ")).is_ok_and(|environ| String::from_utf8_lossy(&environ).contains(&wanted))
        });
        let lines = marked.filter_map(|path| std::fs::read(path.join("cmdline")).ok());
        lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).filter(|line| !line.is_empty()).collect()
    }

    /// Waits until `there` is true of those that are alive.
    pub(crate) fn until(&self, there: impl Fn(&[String]) -> bool) {
        let begun = Instant::now();
        loop {
            let alive = self.alive();
            if there(&alive) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "alive: {alive:?}");
            std::thread::yield_now();
        }
    }

    /// Fails if anything is left; death takes a moment.
    pub(crate) fn nothing_left(&self) {
        self.until(<[String]>::is_empty);
    }
}

/// `sidekicks`, in English, without a terminal to ask on.
pub(crate) fn sidekicks(mark: &Mark) -> Command {
    let mut command = Command::new("setsid");
    command.arg("--wait").arg(env!("CARGO_BIN_EXE_sidekicks"));
    surroundings(&mut command, mark);
    command
}

fn surroundings(command: &mut Command, mark: &Mark) {
    let home = mark.home();
    command.env(MARK, &mark.0).env("NO_COLOR", "1").stdin(Stdio::null());
    command.env("XDG_STATE_HOME", &home).env("XDG_CONFIG_HOME", home.join("config")).env("HOME", home);
    for name in ["SIDEKICKS_LANG", "LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"] {
        command.env_remove(name);
    }
    for name in ["SIDEKICKS_CONFIG", "SIDEKICKS_PREFS", "VISUAL", "EDITOR"] {
        command.env_remove(name);
    }
}

/// Runs it to its end: exit code, stdout, stderr.
pub(crate) fn run(command: &mut Command) -> (i32, String, String) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    finish(child)
}

pub(crate) fn finish(child: Child) -> (i32, String, String) {
    let Output { status, stdout, stderr } = within(move || child.wait_with_output().unwrap());
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

/// Waits until `there` is true.
pub(crate) fn until(what: &str, there: impl Fn() -> bool) {
    let begun = Instant::now();
    while !there() {
        assert!(begun.elapsed() < PATIENCE, "waited for {what}");
        std::thread::yield_now();
    }
}

/// Whether a thread of `pid` waits in a function of the kernel with this in its name (proc(5), wchan).
pub(crate) fn waits_in(pid: i32, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    threads
        .map(|thread| std::fs::read_to_string(thread.path().join("wchan")))
        .any(|wchan| wchan.is_ok_and(|at| at.contains(name)))
}

/// Runs `work` in a thread and waits for it, but not for ever.
pub(crate) fn within<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(PATIENCE).expect("it ends in time")
}

/// Signals the program itself: it is the child of `setsid`.
pub(crate) fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(program(child)), signal).unwrap();
}

/// The number of the program that `setsid` runs, or of `setsid` where that became it.
pub(crate) fn program(child: &Child) -> i32 {
    let own = i32::try_from(child.id()).unwrap();
    if std::fs::read_link(format!("/proc/{own}/exe")).is_ok_and(|exe| exe == Path::new(env!("CARGO_BIN_EXE_sidekicks")))
    {
        return own;
    }
    let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    children.split_whitespace().next().and_then(|pid| pid.parse().ok()).unwrap_or(own)
}

/// An agent that is a shell script: the handshake and the session are answered, then `script` is run for each line it
/// gets. `$id` is the number of the last request.
pub(crate) fn shell_agent(dir: &Path, script: &str) -> String {
    let path = dir.join("agent.sh");
    let text = format!(
        r#"id() {{ id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'); }}
reply() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
update() {{ printf '{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":%s}}}}\n' "$1"; }}
say() {{ update "{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"$1\"}}}}"; }}
read -r line; id; reply '{{"protocolVersion":1}}'
read -r line; id; reply '{{"sessionId":"s"}}'
read -r line; id
{script}
"#
    );
    std::fs::write(&path, text).unwrap();
    format!("sh {}", path.display())
}

/// The program on a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<(Mutex<String>, Condvar)>,
    /// Whether everything that was written was read.
    ended: Arc<AtomicBool>,
    seen: usize,
}

impl Terminal {
    /// Runs `sidekicks` with `args` as the leader of a session on a new terminal.
    pub(crate) fn run(mark: &Mark, args: &[&str], cwd: &Path) -> Self {
        Self::run_with(mark, args, cwd, &[])
    }

    /// The same with these variables.
    pub(crate) fn run_with(mark: &Mark, args: &[&str], cwd: &Path, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_sidekicks")]).args(args).current_dir(cwd);
        surroundings(&mut command, mark);
        command.envs(variables.iter().copied());
        Self::start(command)
    }

    /// Runs `command` with its streams on a new terminal.
    pub(crate) fn start(mut command: Command) -> Self {
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        // The copies are not inherited, as the originals are: whoever holds the terminal keeps it from hanging up.
        let (keys, side) = (File::from(pty.master.try_clone().unwrap()), pty.slave.try_clone().unwrap());
        drop(pty);
        let side = || Stdio::from(side.try_clone().unwrap());
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        drop(command);
        let screen = Arc::new((Mutex::new(String::new()), Condvar::new()));
        let (mut output, shown) = (keys.try_clone().unwrap(), Arc::clone(&screen));
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal that nobody holds any more gives EIO.
            while let Ok(length @ 1..) = output.read(&mut bytes) {
                shown.0.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..length]));
                shown.1.notify_all();
            }
            end.store(true, Ordering::Release);
            shown.1.notify_all();
        });
        Self { child, keys, screen, ended, seen: 0 }
    }

    /// Waits until `text` is shown after what was waited for before, and gives everything up to it.
    pub(crate) fn expect(&mut self, text: &str) -> String {
        self.expect_or_end(text)
            .unwrap_or_else(|| panic!("it ended without {text:?}: {}", self.screen.0.lock().unwrap()))
    }

    /// The same; `None` where the program ends before.
    pub(crate) fn expect_or_end(&mut self, text: &str) -> Option<String> {
        let begun = Instant::now();
        let mut screen = self.screen.0.lock().unwrap();
        loop {
            if let Some(at) = screen[self.seen..].find(text) {
                let end = self.seen + at + text.len();
                let shown = screen[self.seen..end].to_owned();
                self.seen = end;
                return Some(shown);
            }
            if self.child.try_wait().unwrap().is_some() && self.ended.load(Ordering::Acquire) {
                return None;
            }
            assert!(begun.elapsed() < PATIENCE, "never shown: {text:?}; shown was: {screen}");
            screen = self.screen.1.wait_timeout(screen, Duration::from_millis(500)).unwrap().0;
        }
    }

    pub(crate) fn type_keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// The number of the program.
    pub(crate) fn program(&self) -> i32 {
        program(&self.child)
    }

    /// Waits for the end: exit code and everything that was shown.
    pub(crate) fn finish(self) -> (i32, String) {
        let Self { mut child, screen, ended, .. } = self;
        let status = within(move || child.wait().unwrap());
        until("the last words to be read", || ended.load(Ordering::Acquire));
        let text = screen.0.lock().unwrap().clone();
        (status.code().unwrap_or(-1), text)
    }
}
