//! Programs that look for files and run a command for them.

use crate::danger::reason::Found;
use crate::danger::tree::Word;

/// Tells whether `name` is one of these.
pub(super) fn look(name: &str, words: &[Word], found: &mut Found) -> bool {
    let (starts, joins): (&[&str], bool) = match name {
        "find" | "gfind" => (&["-exec", "-execdir", "-ok", "-okdir"], false),
        "fd" | "fdfind" => (&["-x", "-X", "--exec", "--exec-batch"], true),
        _ => return false,
    };
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        if !starts.contains(&word.text()) {
            continue;
        }
        let ends = |(place, word): (usize, &Word)| match word.text() {
            ";" => true,
            // A plus ends it only where the files stand.
            "+" => !joins && place > 0 && words[at + place - 1].text() == "{}",
            _ => false,
        };
        let end = words[at..].iter().enumerate().position(ends).map_or(words.len(), |place| at + place);
        let command: Vec<Word> = words[at..end].iter().map(|word| word.filled("{}")).collect();
        found.run(&command);
        at = end + 1;
    }
    true
}
