//! Commands whose words after their own options are another command.

use crate::danger::args::{Args, Spec, Until};
use crate::danger::reason::Found;
use crate::danger::tree::Word;

use super::remote::operand;
use super::shell::joined;

/// Adds what is run, where `name` is one of these.
pub(super) fn look(name: &str, words: &[Word], found: &mut Found) {
    // The options that take a value, and how many operands stand before the command.
    let (short, long, skipped): (&'static str, &'static [&'static str], usize) = match name {
        "nice" => ("n", &["adjustment"], 0),
        "ionice" => ("cnpPu", &["class", "classdata", "pid", "pgid", "uid"], 0),
        "timeout" | "gtimeout" => ("sk", &["signal", "kill-after"], 1),
        "exec" => ("a", &[], 0),
        "nohup" | "command" | "builtin" | "busybox" | "toybox" | "setsid" | "unbuffer" | "chronic" | "fakeroot"
        | "coproc" | "noglob" | "nocorrect" => ("", &[], 0),
        // What is left of `time -- COMMAND` and of `! ! COMMAND`.
        "--" | "!" => ("", &[], 0),
        "time" | "gtime" => ("fo", &["format", "output"], 0),
        "stdbuf" => ("ioe", &["input", "output", "error"], 0),
        "chroot" => ("", &["userspec", "groups"], 1),
        "taskset" => ("", &[], 1),
        "strace" | "ltrace" => ("abeEoOpPsSuUX", &["output", "trace"], 0),
        "unshare" | "nsenter" => ("tSG", &["target", "setuid", "setgid", "root", "wd"], 0),
        "caffeinate" => ("tw", &[], 0),
        "systemd-run" => {
            ("pEuMHtdC", &["unit", "property", "setenv", "machine", "uid", "gid", "slice", "description"], 0)
        }
        "pkexec" => ("", &["user"], 0),
        "firejail" | "bwrap" | "valgrind" => ("", &[], 0),
        "entr" => ("", &[], 0),
        "npx" | "bunx" => ("p", &["package"], 0),
        "uvx" => ("p", &["from", "with", "python"], 0),
        "watch" => return code(words, "nq", &["interval"], found),
        "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" => return verb(words, &["run"], found),
        "bundle" | "npm" | "pnpm" | "yarn" | "mise" | "direnv" => return verb(words, &["exec", "dlx", "x"], found),
        _ => return,
    };
    let args = Args::of(words, 1, Spec { short, attached: "", long }, Until::Operand);
    if let Some(&first) = args.operands.first() {
        found.run(words.get(first + skipped..).unwrap_or_default());
    }
}

/// The words are joined and given to a shell.
fn code(words: &[Word], short: &'static str, long: &'static [&'static str], found: &mut Found) {
    let args = Args::of(words, 1, Spec { short, attached: "", long }, Until::Operand);
    if let Some(&first) = args.operands.first() {
        found.code.extend(joined(&words[first..]));
    }
}

/// The command follows a verb.
fn verb(words: &[Word], verbs: &[&str], found: &mut Found) {
    let spec =
        Spec { short: "pC", attached: "", long: &["with", "python", "directory", "project", "package", "extra"] };
    let Some((verb, _)) = operand(words, 1, spec).filter(|(_, verb)| verbs.contains(verb)) else { return };
    let Some((first, _)) = operand(words, verb + 1, spec) else { return };
    // `direnv exec DIR COMMAND`
    let skipped = usize::from(words[0].text() == "direnv");
    found.run(words.get(first + skipped..).unwrap_or_default());
}
