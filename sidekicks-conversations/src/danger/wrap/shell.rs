//! Shells, and what has the shell itself run a text.

use crate::danger::args::{Args, Spec, Until};
use crate::danger::reason::{Found, Reason};
use crate::danger::text::{HOLE, Text};
use crate::danger::tree::Word;
use crate::danger::walk::Stdin;

use super::fixed;

/// Tells whether `name` is one of these.
pub(super) fn look(name: &str, words: &[Word], stdin: &Stdin, found: &mut Found) -> bool {
    match name {
        "sh" | "bash" | "zsh" | "dash" | "ash" | "ksh" | "mksh" | "rbash" | "fish" | "csh" | "tcsh" => {
            shell(words, stdin, found);
        }
        "su" | "runuser" | "sg" | "script" => user(name, words, stdin, found),
        "eval" => {
            let from = 1 + usize::from(words.get(1).is_some_and(|word| word.text() == "--"));
            found.code.extend(joined(words.get(from..).unwrap_or_default()));
        }
        "trap" => {
            let args = Args::of(words, 1, Spec::default(), Until::Operand);
            let code = args.operands.first().map(|&at| &words[at]).filter(|word| !matches!(word.text(), "-" | ""));
            if !args.has(&["l", "p"]) {
                found.code.extend(code.map(|word| word.value.clone()));
            }
        }
        "source" | "." => match words.get(1) {
            Some(word) if word.process => found.flag(Reason::RunsUnseenInput, word.span),
            Some(word) if is_stdin(word) => reads(words, stdin, found),
            _ => {}
        },
        _ => return false,
    }
    true
}

fn shell(words: &[Word], stdin: &Stdin, found: &mut Found) {
    let spec = Spec { short: "oO", long: &["rcfile", "init-file", "init-command"], ..Spec::default() };
    let mut args = Args::of(words, 1, spec, Until::Operand);
    // `+x` takes an option away.
    while let Some(&at) = args.operands.first().filter(|&&at| words[at].text().starts_with('+')) {
        args.operands = Args::of(words, at + 1, spec, Until::Operand).operands;
    }
    let operand = args.operands.first().map(|&at| &words[at]);
    if args.options.iter().any(|option| option.name == "c" || option.name == "command") {
        return found.code.extend(operand.map(|word| word.value.clone()));
    }
    // What an expansion leaves may be no word at all.
    if operand.is_some_and(|word| word.text() == HOLE) {
        reads(words, stdin, found);
    }
    match operand {
        Some(word) if word.process => found.flag(Reason::RunsUnseenInput, word.span),
        Some(word) if !is_stdin(word) && !args.options.iter().any(|option| option.name == "s") => {} // A script.
        _ => reads(words, stdin, found),
    }
}

fn is_stdin(word: &Word) -> bool {
    matches!(word.text(), "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// The command reads code from its input.
pub(super) fn reads(words: &[Word], stdin: &Stdin, found: &mut Found) {
    match stdin {
        Stdin::Hidden => found.flag(Reason::RunsUnseenInput, words[0].span),
        stdin => found.code.extend(fixed(stdin)),
    }
}

/// A shell for another user, another group or a recording.
fn user(name: &str, words: &[Word], stdin: &Stdin, found: &mut Found) {
    let spec = Spec {
        short: if name == "runuser" { "csgGwu" } else { "csgGw" },
        long: &["command", "session-command", "shell", "group", "supp-group", "whitelist-environment", "user"],
        ..Spec::default()
    };
    let until = if name == "runuser" { Until::Operand } else { Until::Separator };
    let args = Args::of(words, 1, spec, until);
    let code: Vec<Text> = args.values(&["c", "command", "session-command"]).cloned().collect();
    match (name, code.is_empty()) {
        (_, false) => found.code.extend(code),
        ("runuser", true) if args.has(&["u", "user"]) => {
            found.run(args.operands.first().map_or(&[], |&at| &words[at..]));
        }
        ("sg", true) => found.code.extend(joined(words.get(2..).unwrap_or_default())),
        _ => reads(words, stdin, found),
    }
}

/// The words as one text, as `eval` and remote shells take them.
pub(super) fn joined(words: &[Word]) -> Option<Text> {
    (!words.is_empty()).then(|| Text::joined(words.iter().map(|word| &word.value), " "))
}
