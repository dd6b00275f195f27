//! Characters that say nothing.

/// A space to the eye, or nothing at all, that JSON does not have. It comes along when text is copied from a page.
pub(super) fn is_odd_space(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{b}' | '\u{c}')
        || (c.is_whitespace() && !c.is_ascii())
}

/// A blank of JSON or another one.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r') || is_odd_space(c)
}
