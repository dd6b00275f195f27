//! One process at a time.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};

/// How often is tried.
const PAUSE: Duration = Duration::from_millis(20);

/// What the system says where a disk has no locks, as some network disks do.
const UNSUPPORTED: [Errno; 5] = [Errno::ENOLCK, Errno::EOPNOTSUPP, Errno::ENOTSUP, Errno::EINVAL, Errno::ENOSYS];

/// Held until it is dropped. The system gives it up when the process ends, however it does.
#[derive(Debug)]
pub(crate) struct Lock(Option<Flock<File>>);

impl Lock {
    /// Locks this file, which is made where it is missing and never removed. `None` where another process has held the
    /// lock all the time.
    pub(crate) fn take(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlag::O_NONBLOCK.bits())
            .open(path)?;
        wait(file, patience, |file| Flock::lock(file, FlockArg::LockExclusiveNonblock))
    }
}

impl Drop for Lock {
    /// Explicitly, since a child that is being started may have the file open for a moment more. A `Flock` that is
    /// dropped panics where that fails.
    fn drop(&mut self) {
        if let Some(Err((flock, _))) = self.0.take().map(Flock::unlock) {
            mem::forget(flock);
        }
    }
}

fn wait(
    mut file: File,
    patience: Duration,
    mut attempt: impl FnMut(File) -> Result<Flock<File>, (File, Errno)>,
) -> io::Result<Option<Lock>> {
    let start = Instant::now();
    loop {
        let (same, error) = match attempt(file) {
            Ok(lock) => return Ok(Some(Lock(Some(lock)))),
            Err(refused) => refused,
        };
        file = same;
        match error {
            Errno::EINTR => {}
            Errno::EAGAIN if start.elapsed() >= patience => return Ok(None),
            Errno::EAGAIN => thread::sleep(PAUSE),
            // One of two changes at the same moment may be lost then, which is better than to remember nothing.
            error if UNSUPPORTED.contains(&error) => return Ok(Some(Lock(None))),
            error => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a disk answers, one attempt after another; then it gives the lock.
    fn answers(errors: &[Errno], patience: Duration) -> io::Result<Option<Lock>> {
        let mut errors = errors.iter();
        wait(tempfile::tempfile()?, patience, |file| match errors.next() {
            Some(error) => Err((file, *error)),
            None => Flock::lock(file, FlockArg::LockExclusiveNonblock),
        })
    }

    #[test]
    fn what_a_disk_may_answer() {
        let long = Duration::from_secs(60);
        for (errors, patience, expected) in [
            (&[][..], long, "held"),
            (&[Errno::EINTR, Errno::EAGAIN, Errno::EAGAIN], long, "held"),
            (&[Errno::EAGAIN], Duration::ZERO, "busy"),
            (&[Errno::ENOLCK], long, "without"),
            (&[Errno::EOPNOTSUPP], long, "without"),
            (&[Errno::ENOTSUP], long, "without"),
            (&[Errno::EINVAL], long, "without"),
            (&[Errno::ENOSYS], long, "without"),
            (&[Errno::EAGAIN, Errno::ENOLCK], long, "without"),
            (&[Errno::EIO], long, "error"),
        ] {
            let found = match answers(errors, patience) {
                Ok(Some(Lock(Some(_)))) => "held",
                Ok(Some(Lock(None))) => "without",
                Ok(None) => "busy",
                Err(_) => "error",
            };
            assert_eq!(found, expected, "{errors:?}");
        }
    }

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Lock::take(&path, Duration::ZERO).unwrap();
        assert!(first.is_some());
        assert!(Lock::take(&path, Duration::ZERO).unwrap().is_none());
        drop(first);
        assert!(Lock::take(&path, Duration::ZERO).unwrap().is_some());
    }
}
