//! The sentences.

use super::codes;
use crate::problem::CODES;
use crate::{Code, Language};

/// What stands in sentences as it stands in files and commands, so that it keeps its own characters.
const CODE_TOKENS: [&str; 5] = ["http://", "https://", "//", "/usr/bin:/bin", "\\\""];

#[test]
fn none_is_left_out() {
    let mut ids: Vec<&str> = codes().iter().map(Code::id).collect();
    ids.dedup();
    assert_eq!(ids, CODES);
    let mut sorted = CODES.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), CODES.len(), "each has a name of its own");
    for id in CODES {
        assert!(id.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '8')), "{id}");
    }
}

/// No-break spaces are shown as `~`, narrow ones as `_~`.
#[test]
fn each_is_told_in_both_languages() {
    let mut shown = String::new();
    for code in codes() {
        let visible = |text: &str| text.replace('\u{a0}', "~").replace('\u{202f}', "_~");
        let severity = format!("{:?}", code.severity()).to_lowercase();
        let hint = code.hint().map(|hint| format!(", hint: {hint}")).unwrap_or_default();
        shown += &format!("{} ({severity}{hint})\n", code.id());
        shown += &format!("  {}\n", visible(&code.message(Language::En)));
        shown += &format!("  {}\n", visible(&code.message(Language::Fr)));
    }
    insta::assert_snapshot!("messages", shown);
}

#[test]
fn french_has_its_own_spaces_and_quotes() {
    for code in codes() {
        let sentence = code.message(Language::Fr);
        let mut words = sentence.clone();
        for token in CODE_TOKENS {
            words = words.replace(token, "x");
        }
        let chars: Vec<char> = words.chars().collect();
        for (at, c) in chars.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| chars[at]);
            let after = chars.get(at + 1).copied();
            let right = match c {
                ':' | '»' => before == Some('\u{a0}'),
                ';' | '!' | '?' => before == Some('\u{202f}'),
                '«' => after == Some('\u{a0}'),
                '\'' | '"' | '“' | '”' => false,
                ' ' => before != Some(' '),
                _ => true,
            };
            assert!(right, "{sentence}: {c} at {at}");
        }
    }
}

#[test]
fn a_sentence_begins_small_and_has_no_full_stop() {
    for code in codes() {
        for language in [Language::En, Language::Fr] {
            let sentence = code.message(language);
            let first = sentence.chars().next().expect("a sentence");
            assert!(!first.is_uppercase() && !sentence.ends_with('.') && !sentence.contains('\n'), "{sentence}");
            assert!(
                language == Language::Fr
                    || !sentence.contains(['«', '\u{a0}', '\u{202f}', '"', '\''])
                    || code == Code::InnerQuote
            );
        }
    }
}
