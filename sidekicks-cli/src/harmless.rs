//! Making an agent's text harmless for a terminal.

use std::borrow::Cow;

/// `text` without what a terminal would obey: control characters but line feeds and tabs, and the characters that turn
/// the direction of writing around. Each stands as a visible sign instead.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\u{00}'..='\u{1F}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{FFFD}'),
        '\u{7F}' => '\u{2421}',
        c if is_harmful(c) => '\u{FFFD}',
        c => c,
    };
    // A line that ends as on Windows is no harm, and shows nothing.
    Cow::Owned(text.replace("\r\n", "\n").chars().map(shown).collect())
}

/// The same on one line of at most `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let mut words = harmless(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() > width {
        words = words.chars().take(width.saturating_sub(1)).chain(['…']).collect();
    }
    words
}

fn is_harmful(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of the direction (Unicode TR9).
        '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let cases = [
            ("plain ünïcode\n\ttext 😀", "plain ünïcode\n\ttext 😀"),
            ("\x1b[2J\x1b]0;title\x07", "␛[2J␛]0;title␇"),
            ("a\rb\x08\x7f", "a␍b␈␡"),
            ("dos\r\nline", "dos\nline"),
            ("\u{9b}31m\u{202e}txt.exe", "\u{FFFD}31m\u{FFFD}txt.exe"),
        ];
        for (text, expected) in cases {
            assert_eq!(harmless(text), expected);
        }
        assert_eq!(one_line("  two\nlines \x1b ", 20), "two lines ␛");
        assert_eq!(one_line("a long line of words", 8), "a long …");
    }
}
