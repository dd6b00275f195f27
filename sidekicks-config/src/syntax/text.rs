//! Texts in quotes.

use std::ops::Range;

use super::trivia::is_blank;
use crate::Code;

/// A text as it is written.
#[derive(Debug)]
pub(super) struct Literal {
    pub(super) value: String,
    pub(super) span: Range<usize>,
    /// What is wrong with it; each once.
    pub(super) faults: Vec<(Code, Range<usize>)>,
    /// What was meant cannot be known.
    pub(super) broken: bool,
}

/// What stands after a text, and is given back where its closing quote is missing.
const FOLLOWS: [char; 5] = [',', '}', ']', ' ', '\t'];

/// What may close a text that begins so. Only the first is JSON.
pub(super) fn closers(open: char) -> Option<&'static [char]> {
    match open {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '`' => Some(&['`']),
        '“' | '”' | '„' => Some(&['”', '“']),
        '‘' | '’' => Some(&['’', '‘']),
        '«' => Some(&['»']),
        _ => None,
    }
}

/// Reads the text whose opening quote stands at `start`.
///
/// Without a closing quote it ends with the line; what is at the end of it and looks like what comes after a text (a
/// comma, closing brackets) is given back.
pub(super) fn read(text: &str, start: usize, closers: &[char]) -> Literal {
    let open = text[start..].chars().next().map_or(0, char::len_utf8);
    let mut literal = Literal { value: String::new(), span: start..start, faults: Vec::new(), broken: false };
    let mut at = start + open;
    loop {
        let Some(c) = text[at..].chars().next().filter(|c| !matches!(c, '\n' | '\r')) else {
            let kept = text[start + open..at].trim_end_matches(FOLLOWS);
            literal.breaks(Code::UnclosedText, start + open + kept.len());
            return literal;
        };
        let width = c.len_utf8();
        if closers.contains(&c) {
            literal.span = start..at + width;
            break;
        }
        if c == '\\' {
            match escape(&text[at + 1..]) {
                Some((meant, length)) => {
                    literal.value.push(meant);
                    at += 1 + length;
                }
                None => {
                    // The character after it, too: a quote there does not close the text.
                    let next = text[at + 1..].chars().next().filter(|c| !matches!(c, '\n' | '\r'));
                    let end = at + 1 + next.map_or(0, char::len_utf8);
                    literal.fault(Code::BadEscape, at..end);
                    literal.broken = true;
                    at = end;
                }
            }
            continue;
        }
        if (c as u32) < 0x20 {
            literal.fault(Code::ControlCharacter, at..at + width);
        }
        literal.value.push(c);
        at += width;
    }
    if closers != ['"'] {
        literal.faults.insert(0, (Code::WrongQuotes, literal.span.clone()));
    }
    literal
}

/// Reads a text that is a value, as [`read`] does, and mends what a quote too few or too many makes of it.
pub(super) fn read_value(text: &str, start: usize, closers: &[char]) -> Literal {
    let mut literal = read(text, start, closers);
    let end = literal.span.end;
    if closers == ['"'] && text[end..].starts_with('"') && closes(&text[end + 1..]) {
        literal.span.end += 1; // The closing quote twice.
        literal.faults.push((Code::Unexpected, end..end + 1));
        return literal;
    }
    if literal.faults.iter().any(|(code, _)| *code == Code::UnclosedText) || !joins(&text[end..]) {
        return literal;
    }
    let quote = text[..end].chars().next_back().map_or(0, char::len_utf8);
    let open = text[start..].chars().next().map_or(0, char::len_utf8);
    let inner = &text[(start + open).min(end - quote)..end - quote];
    let kept = inner.trim_end_matches(FOLLOWS);
    if inner[kept.len()..].contains(',') {
        // `"x, "args": …`: that was the first quote of the next text.
        literal.breaks(Code::UnclosedText, start + open + kept.len());
        return literal;
    }
    let rest = &text[end..];
    let word = || rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']')).unwrap_or(rest.len());
    if closers != ['"'] {
        literal.breaks(Code::WrongQuotes, end + word()); // `'it's'`
        return literal;
    }
    // `"say "hello" to them"`
    let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
    literal.breaks(Code::InnerQuote, end + closing_quote(line).unwrap_or_else(word));
    literal.faults[0].1 = end - quote..end;
    literal
}

/// Whether what comes after a closing quote hangs on to it, so that it hardly closes anything.
pub(super) fn joins(rest: &str) -> bool {
    let part = |c| is_blank(c) || closers(c).is_some() || ",:;=/#{}[]".contains(c);
    rest.chars().next().is_some_and(|c| !part(c))
}

/// Whether a text can end before this: at the end of the line, before a comma, a closing bracket or a comment.
pub(super) fn closes(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with([',', '}', ']', '\n', '\r']) || rest.starts_with("//") || rest.starts_with("/*")
}

/// The place after the first quote in this line that can close a text.
pub(super) fn closing_quote(line: &str) -> Option<usize> {
    line.match_indices('"').map(|(at, _)| at + 1).find(|end| closes(&line[*end..]))
}

impl Literal {
    /// Ends here, and what was meant is not known.
    fn breaks(&mut self, code: Code, end: usize) {
        self.span.end = end;
        self.faults = vec![(code, self.span.clone())];
        self.broken = true;
    }

    fn fault(&mut self, code: Code, span: Range<usize>) {
        if !self.faults.iter().any(|(other, _)| *other == code) {
            self.faults.push((code, span));
        }
    }
}

/// What the escape after a backslash means, and how many bytes it takes.
fn escape(rest: &str) -> Option<(char, usize)> {
    let c = match rest.bytes().next()? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = unit(&rest[1..])?;
            if let Some(c) = char::from_u32(first) {
                return Some((c, 5));
            }
            // One half of a pair of surrogates; the other has to follow.
            let second = unit(rest.get(5..)?.strip_prefix("\\u")?)?;
            let c = char::decode_utf16([u16::try_from(first).ok()?, u16::try_from(second).ok()?]).next()?.ok()?;
            return Some((c, 11));
        }
        _ => return None,
    };
    Some((c, 1))
}

fn unit(digits: &str) -> Option<u32> {
    let digits = digits.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_json_has_them() {
        let cases = [
            (r#""a""#, Some("a"), 3),
            (r#""a" b"#, Some("a"), 3),
            (r#""\"\\\/\b\f\n\r\té""#, Some("\"\\/\u{8}\u{c}\n\r\té"), 20),
            (r#""🦀\ud83e\udd80""#, Some("🦀🦀"), 18),
            (r#""\ud83e""#, None, 8),
            (r#""\ud83e\u0041""#, None, 14),
            (r#""\u00g0""#, None, 8),
            (r#""C:\bin\z""#, None, 10),
            (r#""a\"#, None, 3),
            ("\"opus },\n", None, 5),
            ("\"opus, \r\n", None, 5),
            ("\"", None, 1),
            ("'x'", Some("x"), 3),
            ("“x”", Some("x"), 7),
        ];
        for (text, value, end) in cases {
            let first = text.chars().next().expect("a quote");
            let literal = read(text, 0, closers(first).expect("a quote"));
            assert_eq!((!literal.broken).then_some(&*literal.value), value, "{text}");
            assert_eq!(literal.span, 0..end, "{text}");
            assert_eq!(literal.faults.is_empty(), value.is_some() && first == '"', "{text}: {literal:?}");
        }
    }
}
