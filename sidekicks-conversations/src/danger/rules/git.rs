//! Git: work that is not committed, and history that others have.

mod settings;

use crate::danger::args::{Args, Spec, Until};
use crate::danger::reason::{Found, Reason};
use crate::danger::text::Text;
use crate::danger::tree::Word;

const GLOBAL: Spec = Spec {
    short: "Cc",
    attached: "",
    long: &["git-dir", "work-tree", "namespace", "super-prefix", "config-env", "attr-source", "list-cmds"],
};

const FILTERS: &[&str] =
    &["env-filter", "tree-filter", "index-filter", "parent-filter", "msg-filter", "commit-filter", "tag-name-filter"];

/// Where the verb stands, after the options of Git itself.
pub(in crate::danger) fn verb(words: &[Word]) -> usize {
    Args::of(words, 1, GLOBAL, Until::Operand).operands.first().copied().unwrap_or(words.len())
}

pub(super) fn look(words: &[Word], found: &mut Found) {
    let global = Args::of(words, 1, GLOBAL, Until::Operand);
    global.values(&["c"]).for_each(|setting| settings::look(setting, found));
    global.values(&["config-env"]).for_each(|setting| settings::look_in_environment(setting, found));
    let Some(&verb) = global.operands.first() else { return };
    let verb = Verb { words, at: verb };
    match words[verb.at].text() {
        "reset" => reset(&verb, found),
        "clean" => {
            let dry = verb.args("e", &["exclude"]).has(&["n", "dry-run"]);
            verb.flag((!dry).then_some(verb.at), Reason::DiscardsChanges, found);
        }
        "checkout" => checkout(&verb, found),
        "restore" => {
            let args = verb.args("s", &["source", "conflict", "pathspec-from-file"]);
            let only_staged = args.has(&["S", "staged"]) && !args.has(&["W", "worktree"]);
            verb.flag((!only_staged).then_some(verb.at), Reason::DiscardsChanges, found);
        }
        "switch" => verb.flag(
            verb.args("cC", &["orphan"]).at(&["f", "force", "discard-changes"]),
            Reason::DiscardsChanges,
            found,
        ),
        "push" => push(&verb, found),
        "branch" => branch(&verb, found),
        "stash" => {
            let dropped = verb.subverb().filter(|&(_, word)| matches!(word, "drop" | "clear"));
            verb.flag(dropped.map(|(at, _)| at), Reason::DropsStash, found);
        }
        "worktree" => {
            let removed = verb.subverb().filter(|&(_, word)| word == "remove");
            let forced = removed.and_then(|_| verb.args("", &[]).at(&["f", "force"]));
            verb.flag(forced, Reason::DiscardsChanges, found);
        }
        "rm" => {
            let args = verb.args("", &["pathspec-from-file"]);
            verb.flag(
                args.at(&["f", "force"]).filter(|_| !args.has(&["cached", "n", "dry-run"])),
                Reason::DiscardsChanges,
                found,
            );
        }
        "reflog" => {
            let gone = verb.subverb().filter(|&(_, word)| matches!(word, "expire" | "delete"));
            let dry = verb.args("", &[]).has(&["n", "dry-run"]);
            verb.flag(gone.filter(|_| !dry).map(|(at, _)| at), Reason::RewritesHistory, found);
        }
        "filter-branch" | "filter-repo" => {
            found.flag_to(Reason::RewritesHistory, words, verb.at);
            let filters = verb.args("", FILTERS);
            found.code.extend(filters.values(FILTERS).cloned());
        }
        "clone" => {
            let args = verb.args("cubo", &["config", "upload-pack", "branch", "origin", "depth"]);
            args.values(&["c", "config"]).for_each(|setting| settings::look(setting, found));
            found.code.extend(args.values(&["u", "upload-pack"]).cloned());
        }
        "fetch" | "pull" | "ls-remote" => {
            found.code.extend(verb.args("o", &["upload-pack", "exec"]).values(&["upload-pack", "exec"]).cloned());
        }
        "difftool" => found.code.extend(verb.args("xt", &["extcmd", "tool"]).values(&["x", "extcmd"]).cloned()),
        "log" | "show" | "diff" | "whatchanged" | "range-diff" | "diff-tree" | "diff-index" | "diff-files" => {
            verb.flag(verb.args("", &["output"]).at(&["output"]), Reason::OverwritesFile, found);
        }
        "update-ref" => verb.flag(verb.args("m", &[]).at(&["d"]), Reason::DeletesBranch, found),
        "rebase" => found.code.extend(verb.args("xsX", &["exec", "onto"]).values(&["x", "exec"]).cloned()),
        "submodule" => {
            if let Some((at, "foreach")) = verb.subverb() {
                let from = Args::of(words, at + 1, Spec::default(), Until::Operand).operands.first().copied();
                let code = from.map(|from| Text::joined(words[from..].iter().map(|word| &word.value), " "));
                found.code.extend(code);
            }
        }
        "bisect" => {
            if let Some((at, "run")) = verb.subverb() {
                found.run(&words[at + 1..]);
            }
        }
        _ => {}
    }
}

/// A verb and what follows it.
struct Verb<'a> {
    words: &'a [Word],
    at: usize,
}

impl<'a> Verb<'a> {
    fn args(&self, short: &'static str, long: &'static [&'static str]) -> Args {
        Args::of(self.words, self.at + 1, Spec { short, attached: "", long }, Until::Separator)
    }

    fn subverb(&self) -> Option<(usize, &'a str)> {
        let at = *Args::of(self.words, self.at + 1, Spec::default(), Until::Operand).operands.first()?;
        Some((at, self.words[at].text()))
    }

    /// From `git` to `last`, where there is such a word.
    fn flag(&self, last: Option<usize>, reason: Reason, found: &mut Found) {
        if let Some(last) = last {
            found.flag_to(reason, self.words, last);
        }
    }
}

/// Every form is told: one that keeps the files still moves the branch, or takes away what was staged.
fn reset(verb: &Verb<'_>, found: &mut Found) {
    match verb.args("U", &["pathspec-from-file"]).at(&["hard", "merge", "keep"]) {
        Some(last) => found.flag_to(Reason::DiscardsChanges, verb.words, last),
        None => found.flag_to(Reason::ResetsIndex, verb.words, verb.at),
    }
}

fn checkout(verb: &Verb<'_>, found: &mut Found) {
    let args = verb.args("bB", &["orphan", "conflict", "pathspec-from-file"]);
    let all = args.operands.iter().copied().find(|&at| matches!(verb.words[at].text(), "." | "./" | ":/"));
    let last = [args.at(&["f", "force"]), args.separator, all].into_iter().flatten().min();
    verb.flag(last, Reason::DiscardsChanges, found);
}

fn push(verb: &Verb<'_>, found: &mut Found) {
    let args = verb.args("o", &["push-option", "repo", "receive-pack", "exec"]);
    found.code.extend(args.values(&["receive-pack", "exec"]).cloned());
    if args.has(&["n", "dry-run"]) {
        return;
    }
    let rewrites = |text: &str| text.starts_with('+') || (text.starts_with(':') && text.len() > 1);
    let reference = args.operands.iter().copied().find(|&at| rewrites(verb.words[at].text()));
    let forced = args.at(&["f", "force", "force-with-lease", "d", "delete", "mirror", "prune"]);
    verb.flag([forced, reference].into_iter().flatten().min(), Reason::RewritesRemote, found);
}

fn branch(verb: &Verb<'_>, found: &mut Found) {
    let args = verb.args("u", &["set-upstream-to", "contains", "no-contains", "points-at", "sort", "format"]);
    let both = args.at(&["d", "delete"]).zip(args.at(&["f", "force"])).map(|(delete, force)| delete.max(force));
    verb.flag(args.at(&["D"]).or(both), Reason::DeletesBranch, found);
}
