//! Disks whose files change without their times telling.

use std::path::Path;

/// Whether the size and the times of this file may be old: they are cached where the disk is in another machine.
#[cfg(target_os = "linux")]
pub(super) fn is_remote(path: &Path) -> bool {
    use nix::sys::statfs::{self, FsType};

    // The last two, of CIFS and SMB 2, have no name in `nix`.
    const REMOTE: [i64; 9] = [
        statfs::NFS_SUPER_MAGIC.0 as i64,
        statfs::SMB_SUPER_MAGIC.0 as i64,
        statfs::FUSE_SUPER_MAGIC.0 as i64,
        statfs::CODA_SUPER_MAGIC.0 as i64,
        statfs::AFS_SUPER_MAGIC.0 as i64,
        0x0102_1997, // 9p
        0x00c3_6400, // Ceph
        0xff53_4d42,
        0xfe53_4d42,
    ];
    statfs::statfs(path).is_ok_and(|found| {
        let FsType(magic) = found.filesystem_type();
        REMOTE.contains(&(magic as i64 & 0xffff_ffff))
    })
}

/// Not known here, so it is taken for granted.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_remote(_: &Path) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_local_disk_is_not_remote() {
        assert!(!is_remote(Path::new("/proc")));
        assert!(!is_remote(Path::new("/no such directory")));
    }
}
