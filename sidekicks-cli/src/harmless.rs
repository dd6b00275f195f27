//! Making an agent's text harmless for a terminal, and for those who read it there.

use std::borrow::Cow;
use std::fmt::Write;

/// What a text is read for. What a person approves has to look like what it is, so more of it is made visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reading {
    /// What an agent says. Nobody approves anything by it, so what a script or an emoji is made of stays: joiners
    /// (👩‍💻 is three characters), variation selectors, soft hyphens.
    Prose,
    /// What a file is to say: nothing in it may be invisible. Blanks other than the space stay: French is full of them.
    Content,
    /// A command or a path: a blank that is no space is part of a word there, and a joiner may change which program is
    /// run, so all of them are shown.
    Exact,
}

/// `text` without what a terminal would obey: control characters but line feeds and tabs, and the characters that turn
/// the direction of writing around. Each stands as a visible sign instead.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| stays(c, Reading::Prose)) {
        return Cow::Borrowed(text);
    }
    // A line that ends as on Windows is no harm, and shows nothing.
    Cow::Owned(visible(&text.replace("\r\n", "\n"), Reading::Prose))
}

/// `text` with a visible sign for each character that may not stay.
pub(crate) fn visible(text: &str, reading: Reading) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match stays(c, reading) {
            true => shown.push(c),
            false => push_sign(&mut shown, c),
        }
    }
    shown
}

/// `text` with a sign for each character that nobody would see, or that would end the line: a path, say.
pub(crate) fn exact_line(text: &str) -> String {
    visible(text, Reading::Exact).replace('\n', "␊").replace('\t', "␉")
}

/// Harmless on one line of at most `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let mut words = harmless(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() > width {
        words = words.chars().take(width.saturating_sub(1)).chain(['…']).collect();
    }
    words
}

/// Adds what stands for `c`: its picture where Unicode has one, else its number, as `less` shows it.
pub(crate) fn push_sign(shown: &mut String, c: char) {
    match c {
        '\u{00}'..='\u{1F}' => shown.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{FFFD}')),
        '\u{7F}' => shown.push('\u{2421}'),
        // Writing to a String cannot fail.
        c => drop(write!(shown, "<U+{:04X}>", u32::from(c))),
    }
}

/// Whether `c` may be shown as it is.
pub(crate) fn stays(c: char, reading: Reading) -> bool {
    match c {
        '\n' | '\t' | ' '..='~' => true,
        c if c.is_control() => false,
        // Marks, embeddings, overrides and isolates of the direction (Unicode TR9); line and paragraph separators.
        '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => false,
        c if is_invisible(c) => reading < Reading::Content,
        c if c.is_whitespace() || c == '\u{2800}' => reading < Reading::Exact,
        _ => true,
    }
}

/// Whether nothing is shown of `c`: `Default_Ignorable_Code_Point` of Unicode, and the annotation marks, which most
/// terminals leave out too. Those of the direction are dealt with above.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
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
            ("\u{9b}31m\u{202e}txt.exe", "<U+009B>31m<U+202E>txt.exe"),
            ("a\u{2028}b", "a<U+2028>b"),
            (
                "👩\u{200d}💻 ❤\u{fe0f} co\u{ad}op à\u{a0}: می\u{200c}خواهم",
                "👩\u{200d}💻 ❤\u{fe0f} co\u{ad}op à\u{a0}: می\u{200c}خواهم",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(harmless(text), expected);
        }
        assert_eq!(one_line("  two\nlines \x1b ", 20), "two lines ␛");
        assert_eq!(one_line("a long line of words", 8), "a long …");
    }

    #[test]
    fn what_is_approved_hides_nothing() {
        let cases = [
            ("rm -rf ./x", "rm -rf ./x", "rm -rf ./x"),
            ("l\u{200b}s", "l<U+200B>s", "l<U+200B>s"),
            (
                "a\u{200c}b\u{200d}c\u{2060}d\u{feff}e",
                "a<U+200C>b<U+200D>c<U+2060>d<U+FEFF>e",
                "a<U+200C>b<U+200D>c<U+2060>d<U+FEFF>e",
            ),
            ("\u{e0001}\u{e0072}\u{e006d}", "<U+E0001><U+E0072><U+E006D>", "<U+E0001><U+E0072><U+E006D>"),
            ("co\u{ad}op\u{202e}\u{9b}", "co<U+00AD>op<U+202E><U+009B>", "co<U+00AD>op<U+202E><U+009B>"),
            ("été\u{a0}: 日本\u{3000}x", "été\u{a0}: 日本\u{3000}x", "été<U+00A0>: 日本<U+3000>x"),
            ("a\u{2800}b\u{2009}c", "a\u{2800}b\u{2009}c", "a<U+2800>b<U+2009>c"),
        ];
        for (text, content, exact) in cases {
            assert_eq!(visible(text, Reading::Content), content);
            assert_eq!(visible(text, Reading::Exact), exact);
        }
    }
}
