//! What needs the operating system directly. All of this crate's `unsafe` is here.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::libc;

use crate::error::ExitStatus;

/// Whether we have a controlling terminal (POSIX `/dev/tty`).
pub(super) fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// Held while a child is started with pipes, where a pipe cannot be made and marked in one call: another that is started
/// between the two would keep it open, and its end would never be seen.
pub(super) fn spawning() -> Option<MutexGuard<'static, ()>> {
    static SPAWNING: Mutex<()> = Mutex::new(());
    (!cfg!(target_os = "linux")).then(|| SPAWNING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Makes the child the leader of a new session, without a terminal. It does not get what we have by accident: signals
/// that are ignored or blocked, and descriptors that were not marked to be closed.
pub(super) fn new_session(command: &mut Command) {
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe functions may be
    // called: signal, sigemptyset, sigprocmask and setsid are (POSIX.1-2017, 2.4.3), and close_range is a bare system
    // call. It allocates nothing and touches no shared state.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGCHLD] {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none = MaybeUninit::<libc::sigset_t>::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
            // Marked and not closed: the standard library still tells the parent of a failure through one of them.
            // Linux before 5.11 does not know it (ENOSYS, EINVAL); the descriptors are inherited there.
            #[cfg(target_os = "linux")]
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
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
