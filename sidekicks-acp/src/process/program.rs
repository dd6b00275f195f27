//! Which file the name of a program means, and what is amiss with it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};

use crate::start::StartFailure;

/// What is searched where the environment has no `PATH`.
pub(super) const DEFAULT_PATH: &str = "/usr/bin:/bin";

/// Why a program cannot be started, and which file it is where that is known.
#[derive(Debug)]
pub(super) struct Unusable {
    pub(super) failure: StartFailure,
    pub(super) resolved: Option<PathBuf>,
}

/// The file that `program` means where the folder is `folder` and the `PATH` is `path`, as POSIX has it (exec): a name
/// with a slash is a path; another is looked for, and what may not be executed is passed over.
///
/// We look ourselves since the standard library looks in our own `PATH` or in the child's, depending on how it starts
/// the child; so what is reported is what was searched.
pub(super) fn find(program: &OsStr, path: &OsStr, folder: &Path) -> Result<PathBuf, Unusable> {
    let unusable = |failure, resolved| Err(Unusable { failure, resolved });
    if program.as_bytes().contains(&b'/') {
        let file = absolute(folder.join(program))?;
        return match executable(&file) {
            Ok(()) => Ok(file),
            Err(error) if is_missing(&error) => unusable(StartFailure::NoSuchFile, Some(file)),
            Err(error) => unusable(StartFailure::NotExecutable(error), Some(file)),
        };
    }
    let mut passed_over = None;
    if !program.is_empty() {
        for candidate in env::split_paths(path).map(|entry| folder.join(entry).join(program)) {
            match executable(&candidate) {
                Ok(()) => return absolute(candidate),
                Err(error) if candidate.exists() => {
                    passed_over.get_or_insert((error, candidate));
                }
                Err(_) => {}
            }
        }
    }
    match passed_over {
        Some((error, file)) => unusable(StartFailure::NotExecutable(error), Some(absolute(file)?)),
        None => unusable(StartFailure::NotFound { path: path.to_owned() }, None),
    }
}

/// Why the system did not start `file` in `folder`: of its reason only a number is known.
pub(super) fn explained(error: io::Error, file: &Path, folder: Option<&Path>) -> StartFailure {
    // The number does not tell whether it is about the folder or the file, and either may have changed since we looked.
    if let Some(path) = folder
        && let Err(source) = enterable(path)
    {
        return StartFailure::BadCwd { path: path.to_owned(), source };
    }
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT | Errno::ENOTDIR | Errno::EACCES) => match (executable(file), interpreter(file)) {
            (Err(error), _) if is_missing(&error) => StartFailure::NoSuchFile,
            (Err(error), _) => StartFailure::NotExecutable(error),
            (Ok(()), Some(named)) => {
                let source = executable(&folder.unwrap_or(Path::new("")).join(&named)).err().unwrap_or(error);
                StartFailure::BadInterpreter { interpreter: Some(named), source }
            }
            // A program of another system or C library: it is there, and the loader that it names is not.
            (Ok(()), None) if is_missing(&error) => StartFailure::BadInterpreter { interpreter: None, source: error },
            (Ok(()), None) => StartFailure::NotExecutable(error),
        },
        Some(Errno::ENOEXEC) => StartFailure::NotAProgram,
        Some(Errno::E2BIG) => StartFailure::TooManyArguments,
        Some(Errno::EAGAIN | Errno::ENOMEM | Errno::EMFILE | Errno::ENFILE | Errno::ETXTBSY) => {
            StartFailure::Busy(error)
        }
        _ => StartFailure::Spawn(error),
    }
}

/// Whether a process can be in this folder.
pub(super) fn enterable(folder: &Path) -> io::Result<()> {
    match fs::metadata(folder)?.is_dir() {
        true => may_execute(folder),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

fn executable(file: &Path) -> io::Result<()> {
    let kind = fs::metadata(file)?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    may_execute(file)
}

/// Whether we may execute this file, or enter this folder.
fn may_execute(path: &Path) -> io::Result<()> {
    Ok(faccessat(AT_FDCWD, path, AccessFlags::X_OK, AtFlags::AT_EACCESS)?)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What the first line of a script names after its `#!`, as the system reads it: a carriage return belongs to it.
fn interpreter(file: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    BufReader::new(File::open(file).ok()?.take(256)).read_until(b'\n', &mut line).ok()?;
    let named = line.strip_prefix(b"#!")?;
    let named = named.strip_suffix(b"\n").unwrap_or(named).trim_ascii_start();
    let end = named.iter().position(|&byte| byte == b' ' || byte == b'\t').unwrap_or(named.len());
    (end > 0).then(|| PathBuf::from(OsString::from_vec(named[..end].to_vec())))
}

fn absolute(file: PathBuf) -> Result<PathBuf, Unusable> {
    std::path::absolute(file).map_err(|source| {
        let failure = StartFailure::BadCwd { path: PathBuf::from("."), source };
        Unusable { failure, resolved: None }
    })
}
