//! `parallel`, which gives a shell each command with something put into it.

use crate::danger::args::{Args, Spec, Until};
use crate::danger::reason::{Found, Reason};
use crate::danger::text::{HOLE, Text};
use crate::danger::tree::Word;
use crate::danger::walk::Stdin;

pub(super) fn look(words: &[Word], stdin: &Stdin, found: &mut Found) {
    let spec = Spec {
        short: "jnNPSIaCLsE",
        long: &["jobs", "delay", "joblog", "timeout", "results", "colsep", "arg-file", "tagstring", "retries", "load"],
        ..Spec::default()
    };
    let args = Args::of(words, 1, spec, Until::Operand);
    if args.has(&["dry-run", "dryrun"]) {
        return;
    }
    let from = args.operands.first().copied().unwrap_or(words.len());
    let end = from + words[from..].iter().take_while(|word| !word.text().starts_with(":::")).count();
    if from < end {
        let command = Text::joined(words[from..end].iter().map(|word| &word.value), " ");
        return found.code.push(filled(&command));
    }
    // Without a command, each argument is one.
    match stdin {
        _ if end < words.len() => found.code.extend(words[end + 1..].iter().map(|word| word.value.clone())),
        Stdin::Fixed(text) => found.code.push(Text::clone(text)),
        Stdin::Hidden => found.flag(Reason::RunsUnseenInput, words[0].span),
        Stdin::Unknown | Stdin::File => {}
    }
}

/// With a hole for each `{}`, `{.}`, `{1}` and their like; at the end, where there is none.
fn filled(command: &Text) -> Text {
    let text = command.as_str();
    let mut filled = Text::default();
    let mut from = 0;
    for (at, _) in text.match_indices('{') {
        let inner = text[at + 1..].find(|c: char| !"0123456789./#%+-".contains(c)).unwrap_or(0);
        let end = at + 1 + inner;
        if text[end..].starts_with('}') {
            filled.push_piece(command, from..at);
            from = end + 1;
            filled.push_str(HOLE, command.span(at..from));
        }
    }
    filled.push_piece(command, from..text.len());
    if from == 0 {
        filled.push_str(" ", command.span(text.len()..text.len()));
        filled.push_str(HOLE, command.span(text.len()..text.len()));
    }
    filled
}
