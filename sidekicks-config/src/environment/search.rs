//! Where a program is.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

/// What is searched where there is no `PATH`.
const DEFAULT_PATH: &str = "/usr/bin:/bin";

/// The `PATH` that programs of an agent are looked for on: the one that it is given, or ours.
pub(crate) fn search_path(own: Option<&str>, env: &dyn Fn(&str) -> Option<OsString>) -> OsString {
    own.map(OsString::from).or_else(|| env("PATH")).unwrap_or_else(|| DEFAULT_PATH.into())
}

/// The file that this program is, if there is one that may be run: a name without a slash is looked for on `path`, whose
/// relative folders begin at `folder`, or are left out where that is not known.
pub(crate) fn find_program(program: &str, path: &OsStr, folder: Option<&Path>) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| is_program(file));
    }
    let entries = std::env::split_paths(path).filter(|entry| folder.is_some() || entry.is_absolute());
    let folder = folder.unwrap_or(Path::new("/"));
    entries.map(|entry| folder.join(entry).join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, AccessFlags::X_OK).is_ok()
}
