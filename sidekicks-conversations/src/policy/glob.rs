//! The patterns of rules. Every text is one: nothing in it can be wrong, and what is no `*` or `?` stands for itself, as
//! brackets do, which commands are full of.

use std::path::{Component, Path};

use crate::danger::UNKNOWN;

/// Whether `pattern` stands for the whole command. `*` is any text, also of several lines; `?` is one character. Where the
/// pattern ends in a blank and `*`, the command may also end before that blank.
pub(super) fn is_command(pattern: &str, command: &str) -> bool {
    let is = |pattern: &str| is_text(pattern, command);
    is(pattern) || pattern.strip_suffix(" *").is_some_and(is)
}

/// Whether `pattern` stands for something that `text` may become, where each [`UNKNOWN`] of it becomes any text.
pub(super) fn may_be_command(pattern: &str, text: &str) -> bool {
    let may = |pattern: &str| meet(pattern, text);
    may(pattern) || pattern.strip_suffix(" *").is_some_and(may)
}

/// From the end on: whether what is left of both stands for something in common, for each place in `text`.
fn meet(pattern: &str, text: &str) -> bool {
    let literal = |&(part, letter): &(char, char)| !matches!(part, '*' | '?') && letter != UNKNOWN;
    if pattern.chars().zip(text.chars()).take_while(literal).any(|(part, letter)| part != letter) {
        return false;
    }
    let text: Vec<char> = text.chars().collect();
    let mut after: Vec<bool> =
        text.iter().rev().scan(true, |may, &it| Some(std::mem::replace(may, *may && it == UNKNOWN))).collect();
    after.push(text.iter().all(|&it| it == UNKNOWN));
    after.reverse();
    for part in pattern.chars().rev() {
        let mut row = vec![part == '*' && after[text.len()]; text.len() + 1];
        for (at, &letter) in text.iter().enumerate().rev() {
            row[at] = match (part, letter) {
                ('*', _) | (_, UNKNOWN) => after[at] || row[at + 1],
                _ => (part == '?' || part == letter) && after[at + 1],
            };
        }
        after = row;
    }
    after[0]
}

/// Whether `pattern` stands for the whole path; both have neither `.` nor `..`. `*` and `?` stay inside a name; `**` as a
/// whole name is any number of names, none too.
pub(super) fn is_path(pattern: &Path, path: &Path) -> bool {
    are_names(&names(pattern), &names(path))
}

fn are_names(pattern: &[String], path: &[String]) -> bool {
    stands_for(pattern, path, |name| name == "**", |pattern, name| is_text(pattern, name))
}

/// Whether `pattern` may stand for the path, where one of them is below a home and the other is below `/`.
pub(super) fn may_be_path(pattern: &Path, path: &Path) -> bool {
    match (below_home(pattern), below_home(path)) {
        // Out of a home, to wherever that is.
        (Some(pattern), _) if pattern.starts_with("..") => true,
        (_, Some(path)) if path.starts_with("..") => true,
        (Some(pattern), None) => is_path(&Path::new("/**").join(pattern), path),
        // Any beginning of the pattern may be that home.
        (None, Some(path)) => {
            let mut rest = pattern.components();
            std::iter::from_fn(|| rest.next().map(|_| is_path(rest.as_path(), path))).any(|is| is)
        }
        _ => false,
    }
}

/// Whether there may be something in the folder `path` that `pattern` stands for.
pub(super) fn may_be_in(pattern: &Path, path: &Path) -> bool {
    let (pattern, path) = (names(pattern), names(path));
    (0..pattern.len()).any(|end| are_names(&pattern[..end], &path))
}

fn below_home(path: &Path) -> Option<&Path> {
    let mut rest = path.components();
    rest.next().filter(|home| home.as_os_str().to_string_lossy().starts_with('~'))?;
    Some(rest.as_path())
}

fn is_text(pattern: &str, text: &str) -> bool {
    // Most patterns fit nothing of a line of thousands of commands, and this takes no memory.
    let literal = pattern.split(['*', '?']).next().unwrap_or_default();
    if !text.starts_with(literal) {
        return false;
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    stands_for(&pattern, &text, |&part| part == '*', |&part, &letter| part == '?' || part == letter)
}

/// What is no Unicode becomes a mark that nobody writes in a pattern.
fn names(path: &Path) -> Vec<String> {
    path.components().map(Component::as_os_str).map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Tries the last `*` at the next place as long as something else does not fit. That an earlier one need never be tried
/// again keeps the time to the product of the two lengths.
fn stands_for<P, T>(pattern: &[P], text: &[T], is_any: impl Fn(&P) -> bool, is: impl Fn(&P, &T) -> bool) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut last = None;
    while place < text.len() {
        match pattern.get(at) {
            Some(part) if is_any(part) => {
                at += 1;
                last = Some((at, place));
            }
            Some(part) if is(part, &text[place]) => (at, place) = (at + 1, place + 1),
            _ => {
                let Some((after, from)) = last else { return false };
                last = Some((after, from + 1));
                (at, place) = (after, from + 1);
            }
        }
    }
    pattern[at..].iter().all(is_any)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commands() {
        let expected: &[(&str, &[&str], &[&str])] = &[
            ("ls", &["ls"], &["ls -l", "l", "", "LS"]),
            ("", &[""], &["a"]),
            ("*", &["", "a", "a\nb/c"], &[]),
            ("git log *", &["git log", "git log -p", "git log "], &["git logs", "git", "sudo git log -p"]),
            ("git * --help", &["git x --help", "git  --help"], &["git --help", "git x --help y"]),
            ("npm run ?", &["npm run a", "npm run é"], &["npm run", "npm run ab"]),
            ("a*b*c", &["abc", "axbxc", "abcbc", "a\nb/c"], &["ab", "abcd", "acb"]),
            ("[ -f a ]", &["[ -f a ]"], &["f"]),
            ("**a**", &["a", "xax"], &["b"]),
            (" *", &["", " a"], &["a"]),
        ];
        for (pattern, yes, no) in expected {
            yes.iter().for_each(|command| assert!(is_command(pattern, command), "{pattern} is {command}"));
            no.iter().for_each(|command| assert!(!is_command(pattern, command), "{pattern} is not {command}"));
        }
    }

    #[test]
    fn paths() {
        let expected: &[(&str, &[&str], &[&str])] = &[
            ("/w/a", &["/w/a"], &["/w/a/b", "/w", "w/a"]),
            ("/w/*", &["/w/a", "/w/.env"], &["/w", "/w/a/b"]),
            ("/w/*.rs", &["/w/a.rs", "/w/.rs"], &["/w/a.rsx", "/w/a/b.rs"]),
            ("/w/**", &["/w", "/w/a", "/w/a/b"], &["/", "/wx"]),
            ("/w/**/*.rs", &["/w/a.rs", "/w/a/b/c.rs"], &["/w/a", "/a.rs"]),
            ("/**/.env", &["/.env", "/w/.env", "/w/a/.env"], &["/w/.env/a", ".env"]),
            ("/w/a**", &["/w/a", "/w/ab"], &["/w/a/b"]),
            ("/w/?", &["/w/a"], &["/w/ab"]),
            ("~/a/*", &["~/a/b"], &["/home/me/a/b"]),
        ];
        for (pattern, yes, no) in expected {
            let is = |path: &str| is_path(Path::new(pattern), Path::new(path));
            yes.iter().for_each(|path| assert!(is(path), "{pattern} is {path}"));
            no.iter().for_each(|path| assert!(!is(path), "{pattern} is not {path}"));
        }
    }

    #[test]
    fn what_may_be_a_home() {
        let expected = [
            ("~/.ssh/**", "/home/me/.ssh/id", true),
            ("~/.ssh/**", "/home/me/ssh/id", false),
            ("/home/me/.ssh/**", "~/.ssh/id", true),
            ("/w/**/.env", "~/.env", true),
            ("/w/src/*.rs", "~/lib/a", false),
            ("/etc/**", "~/../../etc/x", true),
            // Both, or neither: it is or is not.
            ("~/a", "~/a", false),
            ("/w/a", "/a", false),
        ];
        for (pattern, path, may) in expected {
            assert_eq!(may_be_path(Path::new(pattern), Path::new(path)), may, "{pattern} {path}");
        }
    }

    #[test]
    fn what_a_command_may_become() {
        let expected = [
            ("git push *", "git \0", true),
            ("git push *", "git \0 x", true),
            ("git push *", "git commit \0", false),
            ("git push", "git pull\0", false),
            ("rm *", "\0", true),
            ("*secret*", "cat \0", true),
            ("npm run ?", "npm run \0", true),
        ];
        for (pattern, command, may) in expected {
            assert_eq!(may_be_command(pattern, command), may, "{pattern} {command:?}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let (pattern, text) = ("a*".repeat(200) + "b", "a".repeat(20_000));
        assert!(!is_command(&pattern, &text));
    }

    /// What the words above say, at the cost of time without bound.
    fn by_trial(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|skip| by_trial(rest, &text[skip..])),
            Some((part, rest)) => text
                .split_first()
                .is_some_and(|(letter, text)| (*part == '?' || part == letter) && by_trial(rest, text)),
        }
    }

    proptest! {
        #[test]
        fn what_a_text_becomes_may_be_it(pattern in "[ab*?]{0,6}", text in "[ab\0]{0,5}", filling in "[ab]{0,3}") {
            let becomes = text.replace('\0', &filling);
            prop_assert!(meet(&pattern, &text) || !is_text(&pattern, &becomes), "{text:?} {becomes:?}");
            if !text.contains('\0') {
                prop_assert_eq!(meet(&pattern, &text), is_text(&pattern, &text));
            }
        }

        #[test]
        fn it_is_what_trying_everything_finds(pattern in "[ab*?]{0,8}", text in "[ab]{0,8}") {
            let (parts, letters): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
            prop_assert_eq!(is_text(&pattern, &text), by_trial(&parts, &letters));
        }
    }
}
