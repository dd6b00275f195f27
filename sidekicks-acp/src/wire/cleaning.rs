//! Taking terminal decoration off a line.

/// The part of `line` between the decoration around it: white space, byte order marks and escape sequences.
pub(crate) fn undecorated(line: &[u8]) -> &[u8] {
    // What follows a message is at most white space and escape sequences; only the former is cheap to see from the end.
    line[decoration(line)..].trim_ascii_end()
}

/// The length of the decoration that `bytes` starts with.
pub(crate) fn decoration(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        at += match byte {
            b' ' | b'\t' | b'\r' | b'\n' => 1,
            0xEF if rest.starts_with(b"\xEF\xBB\xBF") => 3,
            0x1B => escape(rest),
            _ => break,
        };
    }
    at
}

/// The length of the escape sequence that `bytes` starts with (ECMA-48: CSI, and the strings that ST or BEL end).
fn escape(bytes: &[u8]) -> usize {
    match bytes.get(1) {
        // Parameter and intermediate bytes, then one final byte.
        Some(b'[') => bytes[2..].iter().position(|b| (0x40..=0x7E).contains(b)).map_or(bytes.len(), |end| end + 3),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let string = &bytes[2..];
            match string.iter().position(|&b| b == 0x07 || b == 0x1B) {
                Some(end) if string[end] == 0x07 => end + 3,
                Some(end) if string.get(end + 1) == Some(&b'\\') => end + 4,
                // It never ends: a message behind it is worth more than the rest of a title.
                _ => string.iter().position(|&byte| byte == b'{').map_or(bytes.len(), |brace| brace + 2),
            }
        }
        // Intermediate bytes (as in "ESC ( B"), then one final byte.
        Some(0x20..=0x2F) => {
            bytes[2..].iter().position(|b| (0x30..=0x7E).contains(b)).map_or(bytes.len(), |end| end + 3)
        }
        Some(_) => 2,
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoration_before_and_after_a_message() {
        let cases: [(&[u8], &[u8]); 11] = [
            (b"{}", b"{}"),
            (b"  {}\r", b"{}"),
            (b"\xEF\xBB\xBF{}", b"{}"),
            (b"\x1b[2K\x1b[1G{}", b"{}"),
            (b"\x1b]0;title\x07{}", b"{}"),
            (b"\x1b]8;;x\x1b\\\x1b(B{}", b"{}"),
            (b"\r\x1b[0m {\"a\":1}  \r", b"{\"a\":1}"),
            (b"\x1b[", b""),
            (b"\x1b]0;title", b""),
            (b"\x1b]0;title{\"a\":1}", b"{\"a\":1}"),
            (b"log {}", b"log {}"),
        ];
        for (line, expected) in cases {
            assert_eq!(undecorated(line), expected, "{:?}", String::from_utf8_lossy(line));
        }
        assert_eq!(decoration(b" \x1b[0m\x1b]0;unfinished"), 19);
        assert_eq!(decoration(b" \x1b[0mx"), 5);
    }
}
