//! Asking a person on their terminal.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::select::{FdSet, select};
use nix::sys::termios::{FlushArg, tcflush};
use tokio::sync::oneshot;

/// The controlling terminal, whatever stdin and stdout are.
pub(crate) struct Terminal {
    file: File,
}

impl Terminal {
    /// `None` where there is nobody to ask.
    pub(crate) fn open() -> Option<Self> {
        OpenOptions::new().read(true).write(true).open("/dev/tty").ok().map(|file| Self { file })
    }

    /// How wide it is, in columns.
    pub(crate) fn width(&self) -> usize {
        terminal_size::terminal_size_of(&self.file).map_or(COLUMNS, |(terminal_size::Width(width), _)| width.into())
    }

    /// Shows `text` and waits for one line, in a thread of its own.
    ///
    /// What was typed before is thrown away: it was no answer to this.
    pub(crate) fn ask(&self, text: String) -> io::Result<Question> {
        let mut file = self.file.try_clone()?;
        let (cancelled, cancel) = io::pipe()?;
        let (sender, line) = oneshot::channel();
        std::thread::Builder::new().name("question".to_owned()).spawn(move || {
            let _ = tcflush(&file, FlushArg::TCIFLUSH);
            let answer = file.write_all(text.as_bytes()).and_then(|()| read_line(&mut file, &cancelled.into()));
            let _ = sender.send(answer.unwrap_or(None)); // Nobody waits for it any more.
        })?;
        Ok(Question { line, _cancel: cancel.into() })
    }

    /// Shows `text`, for what is no question, in a thread of its own: a terminal may be halted with Ctrl-S.
    pub(crate) fn show(&self, text: String) {
        if let Ok(mut file) = self.file.try_clone() {
            std::thread::spawn(move || file.write_all(text.as_bytes()));
        }
    }
}

/// The columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;

/// A question that a person was asked. Dropping it ends the waiting.
pub(crate) struct Question {
    line: oneshot::Receiver<Option<String>>,
    /// The thread that reads sees this closed.
    _cancel: OwnedFd,
}

impl Question {
    /// The line, without its end; `None` for the end of input. Cancel-safe.
    pub(crate) async fn answer(&mut self) -> Option<String> {
        (&mut self.line).await.unwrap_or(None)
    }
}

/// Reads one line, unless `cancelled` is closed before.
fn read_line(terminal: &mut File, cancelled: &OwnedFd) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut bytes = [0; 256];
    while !line.ends_with(b"\n") {
        // select, since poll does not know terminals everywhere.
        let mut ready = FdSet::new();
        ready.insert(terminal.as_fd());
        ready.insert(cancelled.as_fd());
        match select(None, &mut ready, None, None, None) {
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
            Ok(_) if ready.contains(cancelled.as_fd()) => return Ok(None),
            Ok(_) => {}
        }
        match terminal.read(&mut bytes)? {
            0 => return Ok(None),
            read => line.extend_from_slice(&bytes[..read]),
        }
    }
    Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
}
