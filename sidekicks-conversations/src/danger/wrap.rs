//! Commands that run another command, or text as code.

use std::rc::Rc;

mod find;
mod parallel;
mod remote;
mod shell;
mod table;

use super::args::{Args, Spec, Until};
use super::reason::Found;
use super::text::{HOLE, Text};
use super::tree::Word;
use super::walk::Stdin;

pub(super) use remote::{COMPOSE, DOCKER, KUBECTL, operand};

/// Adds what `words` run to what is `found`. Gives what that reads, where it is not what the command itself reads.
pub(super) fn unwrap(words: &[Word], stdin: &Stdin, found: &mut Found) -> Option<Stdin> {
    let name = name(words);
    if shell::look(name, words, stdin, found)
        || remote::look(name, words, stdin, found)
        || find::look(name, words, found)
    {
        return None;
    }
    match name {
        "command" if Args::of(words, 1, Spec::default(), Until::Operand).has(&["v", "V"]) => {}
        "sudo" | "doas" => sudo(words, stdin, found),
        "env" => env(words, found),
        "xargs" => {
            xargs(words, found);
            return Some(Stdin::Unknown);
        }
        "parallel" => {
            parallel::look(words, stdin, found);
            return Some(Stdin::Unknown);
        }
        "flock" => flock(words, found),
        _ => table::look(name, words, found),
    }
    None
}

/// The command without its path.
pub(super) fn name(words: &[Word]) -> &str {
    let text = words.first().map_or("", Word::text);
    text.rsplit('/').next().unwrap_or_default()
}

fn sudo(words: &[Word], stdin: &Stdin, found: &mut Found) {
    let spec = Spec {
        short: "ughpCTrtDRUa",
        long: &[
            "user",
            "group",
            "host",
            "prompt",
            "close-from",
            "command-timeout",
            "role",
            "type",
            "chdir",
            "chroot",
            "other-user",
        ],
        ..Spec::default()
    };
    let args = Args::of(words, 1, spec, Until::Operand);
    if args.has(&["e", "edit", "l", "list"]) {
        return;
    }
    let from = args.operands.first().copied().unwrap_or(words.len());
    let from = after_assignments(words, from);
    found.run(&words[from..]);
    if from == words.len() && args.has(&["s", "i", "shell", "login"]) {
        shell::reads(words, stdin, found);
    }
}

fn env(words: &[Word], found: &mut Found) {
    let spec = Spec { short: "uCS", long: &["unset", "chdir", "split-string", "argv0"], ..Spec::default() };
    let args = Args::of(words, 1, spec, Until::Operand);
    let from = args.operands.first().copied().unwrap_or(words.len());
    if let Some(split) = args.values(&["S", "split-string"]).last() {
        let rest = words[from..].iter().map(|word| &word.value);
        return found.code.push(Text::joined(std::iter::once(split).chain(rest), " "));
    }
    // A lone dash is `-i`.
    let from = from + usize::from(words.get(from).is_some_and(|word| word.text() == "-"));
    found.run(&words[after_assignments(words, from)..]);
}

/// The first word from `from` on that is not `NAME=value`.
fn after_assignments(words: &[Word], from: usize) -> usize {
    let is = |word: &Word| {
        let name = word.text().split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    from + words[from..].iter().take_while(|word| is(word)).count()
}

fn xargs(words: &[Word], found: &mut Found) {
    let spec = Spec {
        short: "aEILnPsdJRS",
        attached: "eil",
        long: &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "max-lines", "process-slot-var"],
    };
    let args = Args::of(words, 1, spec, Until::Operand);
    let Some(&from) = args.operands.first() else { return };
    let mark = args.find(&["I", "i", "J", "replace"]).map(|option| option.value.as_ref().map_or("{}", Text::as_str));
    let mut inner: Vec<Word> = words[from..].iter().map(|word| word.filled(mark.unwrap_or_default())).collect();
    if mark.is_none() {
        inner.push(unknown(&words[0]));
    }
    found.run(&inner);
}

/// What is only known when it is run.
fn unknown(at: &Word) -> Word {
    let mut value = Text::default();
    value.push_str(HOLE, at.span);
    Word { value, hidden: true, process: false, span: at.span, source: HOLE.to_owned() }
}

fn flock(words: &[Word], found: &mut Found) {
    let args = Args::of(words, 1, Spec { short: "wE", long: &["wait", "timeout"], ..Spec::default() }, Until::Operand);
    let Some(&file) = args.operands.first() else { return };
    match words.get(file + 1).map(Word::text) {
        Some("-c" | "--command") => found.code.extend(words.get(file + 2).map(|word| word.value.clone())),
        _ => found.run(&words[file + 1..]),
    }
}

/// The text that is given to a shell: nothing but what is fixed counts as known.
fn fixed(stdin: &Stdin) -> Option<Text> {
    if let Stdin::Fixed(text) = stdin { Some(Text::clone(Rc::as_ref(text))) } else { None }
}
