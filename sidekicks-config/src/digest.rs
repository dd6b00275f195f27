//! Telling two contents of a file apart.

use std::hash::{DefaultHasher, Hasher};

/// What a file held, in 16 bytes: its length and a hash.
///
/// Times and inode numbers are not part of it: files that come out of a store all have one time, and two saves can fall
/// in one tick of the clock. The hash is not cryptographic and may differ between two builds, so keep it in memory only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    len: u64,
    hash: u64,
}

impl Digest {
    /// The digest of these bytes, a byte order mark and line ends included.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        Self { len: bytes.len() as u64, hash: hasher.finish() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_alone_have_equal_digests() {
        assert_eq!(Digest::of(b"{}"), Digest::of(b"{}"));
        for other in [&b"{ }"[..], b"{}\n", b"\xef\xbb\xbf{}", b"", b"[]"] {
            assert_ne!(Digest::of(b"{}"), Digest::of(other), "{other:?}");
        }
    }
}
