//! Reading and writing the file.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use tempfile::NamedTempFile;

use crate::notice::Notice;

/// More than preferences ever have.
pub(crate) const MOST_BYTES: u64 = 1024 * 1024;
/// As many as Linux follows.
const MOST_LINKS: usize = 40;
/// A temporary file this old was left by a process that was killed.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);
/// So many letters tell one temporary file from another.
const RANDOM: usize = 16;

/// The file that the links at `path` lead to. It need not be there: someone may have made the link first.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = folder(&path)?.join(link),
            // Not a link.
            Err(error) if error.kind() == ErrorKind::InvalidInput => return Ok(path),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(path),
            Err(error) => return Err(error),
        }
    }
    Err(Errno::ELOOP.into())
}

/// The bytes of a file, or `None` where it is missing. Waits for no pipe.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, Notice> {
    let unreadable = |error| Notice::unreadable(path, error);
    let file = match OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(Notice::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Notice::TooLarge { path: path.to_owned(), limit: MOST_BYTES });
    }
    Ok(Some(bytes))
}

/// Makes the folder of a file for our user only, and leaves one that is there as it is.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder(path)?)
}

/// Replaces a file as a whole: whoever reads it sees the old or the new one, also after a crash. Its mode is 0600.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = folder(path)?;
    let lead = format!(".{}.", stem(path));
    remove_stale(folder, &lead);
    let mut temporary = temporary(folder, &lead)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    temporary.persist(path)?;
    // The new file is in its place, whether or not this kind of disk can make that durable.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

pub(crate) fn temporary(folder: &Path, lead: &str) -> io::Result<NamedTempFile> {
    let lead = format!("{lead}{}.", std::process::id());
    tempfile::Builder::new().prefix(&lead).rand_bytes(RANDOM).suffix(".tmp").tempfile_in(folder)
}

fn remove_stale(folder: &Path, lead: &str) {
    let now = SystemTime::now();
    for (_, path) in named(folder, lead, ".tmp").into_iter().filter(|(between, _)| is_ours(between)) {
        let changed = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
        if changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > STALE)) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether this is what a temporary file of ours is called by: a process and letters. Others keep such files too.
fn is_ours(between: &str) -> bool {
    between.split_once('.').is_some_and(|(pid, random)| {
        pid.parse::<u32>().is_ok() && random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// What is in a folder under names that begin and end so, with what is between.
pub(crate) fn named(folder: &Path, lead: &str, tail: &str) -> Vec<(String, PathBuf)> {
    let between = |name: &str| Some(name.strip_prefix(lead)?.strip_suffix(tail)?.to_owned());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((between(entry.file_name().to_str()?)?, entry.path()))).collect()
}

pub(crate) fn folder(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| ErrorKind::InvalidInput.into())
}

/// The file beside this one that is locked instead of it. No file is its own lock, whatever it is called.
pub(crate) fn lock_of(path: &Path) -> PathBuf {
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    lock.into()
}

/// The name of a file without what follows the last point; what is kept beside it is named after it.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
