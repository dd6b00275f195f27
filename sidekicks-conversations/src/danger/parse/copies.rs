//! What the parser is given: the code, and where it stumbles, copies without what it stumbles over.
//!
//! Each has a byte for each of the code, and only characters that stand for themselves are hidden in it, so that its tree is
//! the tree of the code.

/// The code first, then what else may be tried; nothing is made before it is asked for.
pub(super) fn of(ascii: &str) -> impl Iterator<Item = String> {
    let copies: [fn(&str) -> Option<String>; 4] = [
        |ascii| Some(ascii.to_owned()),
        without_escaped,
        |ascii| Some(without_glued(ascii)),
        |ascii| without_escaped(ascii).map(|copy| without_glued(&copy)),
    ];
    copies.into_iter().filter_map(move |copy| copy(ascii))
}

/// The parser stumbles over `a}`, which is a word as any other: that brace is hidden from it.
fn without_glued(ascii: &str) -> String {
    let mut open = 0_usize;
    let mut last = ' ';
    let hidden = |character: char| {
        let closes_nothing = character == '}' && open == 0;
        match character {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        let glued = last.is_ascii_alphanumeric() || "_-/.=:,}\"'".contains(last);
        last = character;
        if closes_nothing && glued { 'x' } else { character }
    };
    ascii.chars().map(hidden).collect()
}

/// The parser counts wrong after `\"` and `\$(` in double quotes, which are characters as any other: they are hidden from
/// it. `None` where they might be no such characters, or where there is none.
fn without_escaped(ascii: &str) -> Option<String> {
    let names_end = |after: &str| {
        after
            .trim_start_matches(['-', ' ', '\t'])
            .split_ascii_whitespace()
            .next()
            .is_some_and(|word| word.contains('\\'))
    };
    if ascii.contains("$'") || ascii.split("<<").skip(1).any(names_end) {
        return None;
    }
    let mut hidden = String::with_capacity(ascii.len());
    let mut rest = ascii;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        // Two bytes, so that a backslash that is quoted itself quotes nothing.
        let (pair, after) = escape.split_at(escape.len().min(2));
        let counts_wrong = pair == "\\\"" || (pair == "\\$" && after.starts_with('('));
        hidden.extend([before, if counts_wrong { "xx" } else { pair }]);
        rest = after;
    }
    hidden.push_str(rest);
    (hidden != ascii).then_some(hidden)
}
