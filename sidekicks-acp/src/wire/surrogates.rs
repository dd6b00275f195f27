//! Half characters in JSON strings.

/// `json` with each escaped half of a surrogate pair (RFC 8259, 8.2) that stands alone made U+FFFD, or `None` where
/// there is none. Agents in languages with UTF-16 strings cut a text between the halves.
pub(crate) fn mended(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        at += match (unit(bytes, at), unit(bytes, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.get_or_insert_with(|| bytes.to_vec())[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            _ => 2, // Any other escape: what is escaped is passed over with it.
        };
        if at >= bytes.len() {
            break;
        }
    }
    mended.and_then(|mended| String::from_utf8(mended).ok())
}

/// The UTF-16 unit that is escaped at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_halves_are_mended() {
        let cases = [
            (r#""a\ud83d""#, Some(r#""a\ufffd""#)),
            (r#""\uDE00b""#, Some(r#""\ufffdb""#)),
            (r#""\ud83d\ud83d\ude00\ude00""#, Some(r#""\ufffd\ud83d\ude00\ufffd""#)),
            (r#""\ud83d\ude00 \\ud83d \n""#, None),
            (r#""\\\ud83d""#, Some(r#""\\\ufffd""#)),
            (r#""plain é""#, None),
            (r#""\ud8"#, None),
            ("\\", None),
        ];
        for (json, expected) in cases {
            assert_eq!(mended(json).as_deref(), expected, "{json}");
        }
    }
}
