//! Disks whose files change without their times telling.

use std::path::Path;

/// Whether the size and the times of this file may be old: they are cached where the disk is in another machine.
#[cfg(target_os = "linux")]
pub(super) fn is_remote(path: &Path) -> bool {
    use nix::sys::statfs::{FsType, statfs};

    // NFS, SMB, FUSE, Coda, AFS, 9p, Ceph, CIFS, SMB 2.
    const REMOTE: [u32; 9] = [
        0x0000_6969,
        0x0000_517b,
        0x6573_5546,
        0x7375_7245,
        0x5346_414f,
        0x0102_1997,
        0x00c3_6400,
        0xff53_4d42,
        0xfe53_4d42,
    ];
    statfs(path).is_ok_and(|found| {
        let FsType(magic) = found.filesystem_type();
        REMOTE.contains(&(magic as u32)) // Its type differs between machines; its upper half means nothing.
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
