//! Reading what a path leads to, whatever that is.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;

/// How many bytes a configuration may have.
pub(crate) const MAX_LEN: u64 = 1024 * 1024;

/// Opens a regular file. Anything else is an error at once: opening a pipe without a writer would wait for one.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    let kind = file.metadata()?.file_type();
    match () {
        () if kind.is_file() => Ok(file),
        () if kind.is_dir() => Err(ErrorKind::IsADirectory.into()),
        () => Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// All bytes of a regular file; [`ErrorKind::FileTooLarge`] above [`MAX_LEN`].
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, OpenOptions::new().read(true))?.take(MAX_LEN + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_LEN {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_regular_files_of_at_most_a_mebibyte_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("full"), vec![b' '; MAX_LEN as usize]).unwrap();
        fs::write(at("over"), vec![b' '; MAX_LEN as usize + 1]).unwrap();
        fs::create_dir(at("folder")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();

        assert_eq!(read(&at("full")).unwrap().len() as u64, MAX_LEN);
        let cases = [
            ("over", Some(ErrorKind::FileTooLarge)),
            ("folder", Some(ErrorKind::IsADirectory)),
            ("pipe", Some(ErrorKind::InvalidInput)),
            ("none", Some(ErrorKind::NotFound)),
            ("full/below", Some(ErrorKind::NotADirectory)),
            ("loop", None), // Its kind has no stable name.
            ("socket", None),
        ];
        for (name, expected) in cases {
            let kind = read(&at(name)).expect_err(name).kind();
            assert!(expected.is_none_or(|expected| expected == kind), "{name}: {kind:?}");
        }
    }
}
