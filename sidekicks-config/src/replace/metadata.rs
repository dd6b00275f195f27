//! Who may do what with a file.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};

/// Whether this process may write the file, which exists. A user who may do anything may write a read-only file too.
pub(super) fn writable(path: &Path) -> io::Result<bool> {
    match faccessat(AT_FDCWD, path, AccessFlags::W_OK, AtFlags::AT_EACCESS) {
        Ok(()) => Ok(true),
        Err(Errno::EACCES | Errno::EPERM | Errno::EROFS) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Gives a new file the mode of the old one, and its owner and group where that is allowed.
pub(super) fn copy(old: Option<&Metadata>, new: &File) -> io::Result<()> {
    let Some(old) = old else { return new.set_permissions(Permissions::from_mode(0o600)) };
    let made = new.metadata()?;
    if made.uid() != old.uid() {
        let _ = fchown(new, Some(old.uid()), None);
    }
    let same_group = made.gid() == old.gid() || fchown(new, None, Some(old.gid())).is_ok();
    new.set_permissions(Permissions::from_mode(mode(old.mode(), same_group)))
}

/// The old mode, less what another group must not get: what was shared with the old group is not for any other.
fn mode(old: u32, same_group: bool) -> u32 {
    let everybody = old & 0o007;
    if same_group { old & 0o777 } else { old & (0o707 | everybody << 3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_group_gets_no_more_than_everybody() {
        let cases =
            [(0o100_640, true, 0o640), (0o100_640, false, 0o600), (0o100_664, false, 0o644), (0o104_755, true, 0o755)];
        for (old, same_group, expected) in cases {
            assert_eq!(mode(old, same_group), expected, "{old:o}");
        }
    }
}
