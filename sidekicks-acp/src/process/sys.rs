//! What needs the operating system directly. All of this crate's `unsafe` is here.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use nix::libc;
use tokio::process::Command;

use crate::error::ExitStatus;

/// Whether we have a controlling terminal (POSIX `/dev/tty`).
pub(super) fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// Whether we may execute this file, or enter this folder.
pub(super) fn may_execute(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `path` ends with a NUL and lives until the call is over; faccessat only reads it.
    match unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes the child the leader of a new session, without a terminal. It does not get what we have by accident: signals
/// that are ignored or blocked, and descriptors that were not marked to be closed.
///
/// To be called last: the child executes what `command` is by now, as `arg0`.
pub(super) fn new_session(command: &mut Command, arg0: &OsStr) -> io::Result<()> {
    let execution = Execution::of(command.as_std(), arg0)?;
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe functions may be
    // called: signal, sigemptyset, sigprocmask, setsid and execve are (POSIX.1-2017, 2.4.3), and close_range is a bare
    // system call. It allocates nothing and touches no shared state; `execution` was made before the fork.
    unsafe {
        command.pre_exec(move || {
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
            if libc::setsid() == -1 {
                return Err(io::Error::last_os_error());
            }
            Err(execution.begin())
        });
    }
    Ok(())
}

/// A call of execve, ready to be made.
///
/// The standard library would use execvp after a `pre_exec`, which hands what is no program to `/bin/sh`: a file of
/// any kind would be run as commands.
struct Execution {
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
    program: CString,
    /// What the pointers point to.
    _texts: [Vec<CString>; 2],
}

// SAFETY: the pointers lead to texts on the heap that belong to the same value and are never changed.
unsafe impl Send for Execution {}
// SAFETY: as above; nothing here can be changed through a shared reference.
unsafe impl Sync for Execution {}

impl Execution {
    fn of(command: &std::process::Command, arg0: &OsStr) -> io::Result<Self> {
        let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => variables.insert(name.to_owned(), value.to_owned()),
                None => variables.remove(name),
            };
        }
        let args = std::iter::once(arg0).chain(command.get_args()).map(|arg| CString::new(arg.as_bytes()));
        let args = args.collect::<Result<Vec<_>, _>>()?;
        let variables = variables.into_iter().map(|(mut variable, value)| {
            variable.push("=");
            variable.push(value);
            CString::new(variable.into_vec())
        });
        let variables = variables.collect::<Result<Vec<_>, _>>()?;
        let pointers = |texts: &[CString]| -> Vec<_> {
            texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let program = CString::new(command.get_program().as_bytes())?;
        Ok(Self { argv: pointers(&args), envp: pointers(&variables), program, _texts: [args, variables] })
    }

    /// Becomes the program; returns only if that fails. Async-signal-safe.
    fn begin(&self) -> io::Error {
        // SAFETY: both lists end with a null pointer, and all texts with a NUL; execve only reads them.
        unsafe { libc::execve(self.program.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr()) };
        io::Error::last_os_error()
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
