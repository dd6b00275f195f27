//! Names of the file as they may be shown: a terminal obeys some characters, and a line has an end.

/// How many characters of a name are shown.
const MOST: usize = 80;

/// Whether this says something to a terminal, or turns the text around it, rather than standing there.
fn is_command(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{ad}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The beginning of a long name, with `…`.
pub(crate) fn cut(name: &str) -> String {
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// With escapes, as JSON writes them, for what a terminal would obey.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if is_command(c) {
            let units = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            escaped.push_str(&units);
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// A name in a sentence.
pub(super) fn shown(name: &str) -> String {
    escaped(&cut(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_say_nothing_to_a_terminal() {
        let cases = [
            ("command", "command"),
            ("équipe \"🦀\" \\", "équipe \"🦀\" \\"),
            ("a\u{1b}[2J\u{7}", "a\\u001b[2J\\u0007"),
            ("\u{7f}\u{9b}", "\\u007f\\u009b"),
            ("\u{202e}x\u{2066}\u{200f}\u{2029}", "\\u202ex\\u2066\\u200f\\u2029"),
            ("\u{e0041}", "\\udb40\\udc41"),
        ];
        for (name, expected) in cases {
            assert_eq!(shown(name), expected);
        }
        assert_eq!(shown(&"é".repeat(80)), "é".repeat(80));
        assert_eq!(shown(&"é".repeat(81)), "é".repeat(80) + "…");
    }
}
