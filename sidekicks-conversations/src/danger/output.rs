//! What a command prints, where its words alone tell.

use super::parse::MAX_LEN;
use super::text::Text;
use super::tree::Word;

/// `cat` of nothing but its input.
pub(super) fn is_copy(words: &[Word]) -> bool {
    let mut words = words.iter().map(Word::text);
    words.next() == Some("cat") && words.all(|word| word == "-")
}

/// What `echo` or `printf` prints.
pub(super) fn of(words: &[Word]) -> Option<Text> {
    let (name, mut words) = words.split_first()?;
    match name.text() {
        "echo" => {
            let is_flag = |word: &Word| {
                let letters = word.text().strip_prefix('-').unwrap_or_default();
                !letters.is_empty() && letters.chars().all(|letter| "neE".contains(letter))
            };
            let mut verbatim = false;
            while let Some((flag, rest)) = words.split_first().filter(|(first, _)| is_flag(first)) {
                verbatim = flag.text().contains('E');
                words = rest;
            }
            let line = Text::joined(words.iter().map(|word| &word.value), " ");
            // Shells differ in whether they take escapes without `-e`.
            if verbatim { Some(line) } else { unescaped(&line) }
        }
        "printf" => {
            let words = if words.first().is_some_and(|word| word.text() == "--") { &words[1..] } else { words };
            let (format, arguments) = words.split_first()?;
            // An option, and so nothing that is printed.
            if format.text().starts_with('-') { None } else { formatted(&unescaped(&format.value)?, arguments) }
        }
        _ => None,
    }
}

/// The format is used again until no argument is left.
fn formatted(format: &Text, arguments: &[Word]) -> Option<Text> {
    let mut printed = Text::default();
    let mut arguments = arguments.iter();
    loop {
        let before = arguments.len();
        let text = format.as_str();
        let mut from = 0;
        for (at, _) in text.match_indices('%') {
            if at < from {
                continue;
            }
            let width = text[at + 1..].find(|c: char| !"-+ #0123456789.".contains(c)).unwrap_or(0);
            let Some(kind) = text[at + 1 + width..].chars().next() else { break };
            printed.push_piece(format, from..at);
            from = at + 1 + width + kind.len_utf8();
            match kind {
                '%' => printed.push_piece(format, at..at + 1),
                kind => {
                    let Some(word) = arguments.next() else { continue };
                    printed.push(&if kind == 'b' { unescaped(&word.value)? } else { word.value.clone() });
                }
            }
        }
        printed.push_piece(format, from..text.len());
        if arguments.len() == 0 || arguments.len() == before {
            return Some(printed);
        }
        if printed.as_str().len() > MAX_LEN {
            return None;
        }
    }
}

/// With the characters that escapes stand for; `None` where there are some that may stand for any letter.
fn unescaped(text: &Text) -> Option<Text> {
    let mut plain = Text::default();
    let mut from = 0;
    let bytes = text.as_str().as_bytes();
    for (at, _) in text.as_str().match_indices('\\') {
        if at < from {
            continue;
        }
        let character = match bytes.get(at + 1) {
            Some(b'n') => "\n",
            Some(b't') => "\t",
            Some(b'\\') => "\\",
            Some(b'x' | b'u' | b'U' | b'c' | b'0'..=b'7') => return None,
            _ => continue,
        };
        plain.push_piece(text, from..at);
        plain.push_str(character, text.span(at..at + 2));
        from = at + 2;
    }
    plain.push_piece(text, from..text.as_str().len());
    Some(plain)
}
