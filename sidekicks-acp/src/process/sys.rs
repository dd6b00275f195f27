//! What needs the operating system directly. All of this crate's `unsafe` is here.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::libc;

use crate::error::ExitStatus;

/// Whether we have a controlling terminal (POSIX `/dev/tty`).
pub(super) fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// Makes the child the leader of a new session, without a terminal, and gives it back the signals that we ignore.
pub(super) fn new_session(command: &mut Command) {
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe functions may be
    // called: setsid and signal are (POSIX.1-2017, 2.4.3). It allocates nothing and touches no shared state.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
                libc::signal(signal, libc::SIG_DFL);
            }
            match libc::setsid() {
                -1 => Err(io::Error::last_os_error()),
                _ => Ok(()),
            }
        });
    }
}

/// How the child `pid` ended, if it has: looks without reaping, so that its number stays taken.
///
/// The status is unknown where this program ignores SIGCHLD or somebody else reaped the child.
pub(super) fn exited(pid: i32) -> Option<ExitStatus> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let id = pid as libc::id_t;
    // SAFETY: `info` is a writable siginfo_t, and waitid writes nothing else. Zeroed it is valid, and si_pid stays 0
    // where no child has ended (POSIX.1-2017, waitid).
    let (result, info) = unsafe {
        let result = libc::waitid(libc::P_PID, id, info.as_mut_ptr(), libc::WEXITED | libc::WNOHANG | libc::WNOWAIT);
        (result, info.assume_init())
    };
    if result == -1 {
        // EINTR cannot come with WNOHANG; ECHILD means that it is no child of ours any more.
        return Some(ExitStatus::Unknown);
    }
    // SAFETY: waitid filled the fields of a SIGCHLD, or left all of them zero.
    let (ended, status) = unsafe { (info.si_pid(), info.si_status()) };
    match (ended, info.si_code) {
        (0, _) => None,
        (_, libc::CLD_EXITED) => Some(ExitStatus::Code(status)),
        _ => Some(ExitStatus::Signal(status)),
    }
}
