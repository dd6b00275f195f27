//! The editor of the person.

use std::io;
use std::path::Path;
use std::process::ExitStatus;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::Command;

use crate::say::Editing;
use crate::signals::Signals;
use crate::start::env;

/// What is looked for where nobody says anything.
const USUAL: [&str; 2] = ["vi", "nano"];

/// Editors that open a window and end at once, as if nothing had been written, unless they have one of these options.
const WINDOWS: [(&[&str], &[&str]); 5] = [
    (&["code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "zed", "zeditor"], &["--wait", "-w"]),
    (&["subl", "sublime_text", "atom", "pulsar", "mate", "gedit", "xed"], &["--wait", "-w"]),
    (&["gnome-text-editor"], &["--standalone", "-s"]),
    (&["kate"], &["--block", "-b"]),
    (&["gvim", "mvim"], &["--nofork", "-f"]),
];

/// An editor, as it is started.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Editor {
    pub(super) program: String,
    args: Vec<String>,
}

impl Editor {
    /// `$VISUAL`, else `$EDITOR`, both split into words as a shell would, else what is usual.
    pub(super) fn find() -> Result<Self, Editing<'static>> {
        for variable in ["VISUAL", "EDITOR"] {
            let Some(line) = env(variable).filter(|line| !line.is_empty()) else { continue };
            return Self::of(&line.to_string_lossy()).ok_or(Editing::BadEditor { variable });
        }
        let usual = USUAL.into_iter().find(|program| is_installed(program)).ok_or(Editing::NoEditor)?;
        Ok(Self { program: usual.to_owned(), args: Vec::new() })
    }

    fn of(line: &str) -> Option<Self> {
        let mut words = shlex::split(line)?.into_iter();
        let program = words.next().filter(|program| !program.is_empty())?;
        let mut args: Vec<String> = words.collect();
        let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
        let waiting = WINDOWS.iter().find(|(names, _)| names.contains(&&*name)).map_or(&[][..], |(_, options)| options);
        if let Some(wait) = waiting.first().filter(|_| !args.iter().any(|arg| waiting.contains(&&**arg))) {
            args.push((*wait).to_owned());
        }
        Some(Self { program, args })
    }

    /// Runs it on this file, to its end.
    ///
    /// Ctrl-C is the editor's own business. A signal that ends us ends the editor: it is passed on, and remembered.
    pub(super) async fn run(
        &self,
        file: &Path,
        signals: &mut Signals,
        ended_by: &mut Option<i32>,
    ) -> io::Result<ExitStatus> {
        let mut child = Command::new(&self.program).args(&self.args).arg(file).spawn()?;
        loop {
            tokio::select! {
                status = child.wait() => return status,
                signal = signals.next() => {
                    let signal = Signal::try_from(signal).unwrap_or(Signal::SIGTERM);
                    if !matches!(signal, Signal::SIGINT | Signal::SIGQUIT) {
                        *ended_by = Some(signal as i32);
                        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
                        let _ = pid.map(|pid| kill(pid, signal)); // It may have left by now.
                    }
                }
            }
        }
    }
}

fn is_installed(program: &str) -> bool {
    let path = env("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        let file = folder.join(program);
        file.is_file() && nix::unistd::access(&file, nix::unistd::AccessFlags::X_OK).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_may_have_arguments() {
        let cases = [
            ("vim", Some(("vim", &[][..]))),
            // One that does not wait is told to.
            ("code --wait", Some(("code", &["--wait"][..]))),
            ("code", Some(("code", &["--wait"]))),
            ("/usr/bin/code -n", Some(("/usr/bin/code", &["-n", "--wait"]))),
            ("subl -w", Some(("subl", &["-w"]))),
            ("kate -b", Some(("kate", &["-b"]))),
            ("kate", Some(("kate", &["--block"]))),
            ("gvim", Some(("gvim", &["--nofork"]))),
            ("gnome-text-editor", Some(("gnome-text-editor", &["--standalone"]))),
            ("'/opt/my editor/run' -x", Some(("/opt/my editor/run", &["-x"]))),
            ("  ", None),
            ("'' -x", None),
            ("vim '", None),
        ];
        for (line, expected) in cases {
            let expected = expected.map(|(program, args)| Editor {
                program: program.to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            });
            assert_eq!(Editor::of(line), expected, "{line}");
        }
    }
}
