//! Commands that are run elsewhere: on another machine, in a container.

use crate::danger::args::{Args, Spec, Until};
use crate::danger::reason::Found;
use crate::danger::tree::Word;
use crate::danger::walk::Stdin;

use super::shell::{joined, reads};

/// Options of `docker` itself.
pub(in crate::danger) const DOCKER: Spec = Spec {
    short: "cHl",
    attached: "",
    long: &["context", "host", "config", "log-level", "tlscacert", "tlscert", "tlskey", "connection", "url", "root"],
};
/// Options of `docker compose` itself.
pub(in crate::danger) const COMPOSE: Spec = Spec {
    short: "fpH",
    attached: "",
    long: &[
        "file",
        "project-name",
        "profile",
        "env-file",
        "project-directory",
        "ansi",
        "parallel",
        "progress",
        "context",
        "host",
    ],
};
/// Options of `kubectl` itself, and of its verbs.
pub(in crate::danger) const KUBECTL: Spec = Spec {
    short: "nsclfk",
    attached: "",
    long: &[
        "namespace",
        "context",
        "cluster",
        "user",
        "kubeconfig",
        "server",
        "token",
        "as",
        "as-group",
        "request-timeout",
        "container",
        "selector",
        "filename",
        "field-selector",
        "grace-period",
        "timeout",
        "cache-dir",
        "v",
    ],
};
const EXEC: Spec =
    Spec { short: "euw", attached: "", long: &["env", "user", "workdir", "env-file", "detach-keys", "index"] };
const RUN: Spec = Spec {
    short: "aceuwvplmh",
    attached: "",
    long: &[
        "add-host",
        "attach",
        "cap-add",
        "cap-drop",
        "cpus",
        "cpuset-cpus",
        "device",
        "dns",
        "entrypoint",
        "env",
        "env-file",
        "expose",
        "gpus",
        "group-add",
        "hostname",
        "ip",
        "ipc",
        "label",
        "link",
        "log-driver",
        "log-opt",
        "mac-address",
        "memory",
        "mount",
        "name",
        "net",
        "network",
        "pid",
        "pids-limit",
        "platform",
        "publish",
        "pull",
        "restart",
        "runtime",
        "security-opt",
        "shm-size",
        "stop-signal",
        "sysctl",
        "tmpfs",
        "ulimit",
        "user",
        "userns",
        "volume",
        "volumes-from",
        "workdir",
        "index",
    ],
};

/// Tells whether `name` is one of these.
pub(super) fn look(name: &str, words: &[Word], stdin: &Stdin, found: &mut Found) -> bool {
    match name {
        "ssh" => ssh(words, stdin, found),
        "docker" | "podman" | "nerdctl" => docker(words, found),
        "docker-compose" | "podman-compose" => compose(words, 1, found),
        "kubectl" | "oc" => kubectl(words, found),
        "adb" => {
            let args = Args::of(words, 1, Spec { short: "stHPL", ..Spec::default() }, Until::Operand);
            if let Some(&verb) = args.operands.first().filter(|&&at| words[at].text() == "shell") {
                match joined(&words[verb + 1..]) {
                    Some(code) => found.code.push(code),
                    None => reads(words, stdin, found),
                }
            }
        }
        _ => return false,
    }
    true
}

fn ssh(words: &[Word], stdin: &Stdin, found: &mut Found) {
    let spec = Spec { short: "BbcDEeFIiJLlmOopPQRSWw", ..Spec::default() };
    let args = Args::of(words, 1, spec, Until::Operand);
    let Some(&host) = args.operands.first() else { return };
    // Options may follow the host.
    let after = Args::of(words, host + 1, spec, Until::Operand).operands.first().copied().unwrap_or(words.len());
    match joined(&words[after..]) {
        Some(code) => found.code.push(code),
        None if args.has(&["N"]) => {}
        None => reads(words, stdin, found),
    }
}

fn docker(words: &[Word], found: &mut Found) {
    let Some((verb, word)) = operand(words, 1, DOCKER) else { return };
    match word {
        "exec" => exec(words, verb + 1, EXEC, found),
        "run" | "create" => run(words, verb + 1, found),
        "compose" => compose(words, verb + 1, found),
        "container" => match operand(words, verb + 1, Spec::default()) {
            Some((verb, "exec")) => exec(words, verb + 1, EXEC, found),
            Some((verb, "run" | "create")) => run(words, verb + 1, found),
            _ => {}
        },
        _ => {}
    }
}

fn compose(words: &[Word], from: usize, found: &mut Found) {
    match operand(words, from, COMPOSE) {
        Some((verb, "exec")) => exec(words, verb + 1, EXEC, found),
        Some((verb, "run")) => run(words, verb + 1, found),
        _ => {}
    }
}

/// The words after the container.
fn exec(words: &[Word], from: usize, spec: Spec, found: &mut Found) {
    if let Some((container, _)) = operand(words, from, spec) {
        found.run(&words[container + 1..]);
    }
}

/// The words after the image, behind the program that `--entrypoint` puts before them.
fn run(words: &[Word], from: usize, found: &mut Found) {
    let args = Args::of(words, from, RUN, Until::Operand);
    let Some(&image) = args.operands.first() else { return };
    let mut command = words[image + 1..].to_vec();
    if let Some(entry) = args.options.iter().find(|option| option.name == "entrypoint")
        && let Some(value) = &entry.value
    {
        let at = &words[entry.at];
        let span = value.span(0..value.as_str().len());
        command.insert(0, Word { value: value.clone(), span, source: value.as_str().to_owned(), ..at.clone() });
    }
    found.run(&command);
}

fn kubectl(words: &[Word], found: &mut Found) {
    let Some((verb, "exec")) = operand(words, 1, KUBECTL) else { return };
    let args = Args::of(words, verb + 1, KUBECTL, Until::Separator);
    let command = args.separator.map(|separator| separator + 1).or_else(|| args.operands.get(1).copied());
    found.run(command.and_then(|from| words.get(from..)).unwrap_or_default());
}

/// The first operand, which is a verb or what a verb is about.
pub(in crate::danger) fn operand(words: &[Word], from: usize, spec: Spec) -> Option<(usize, &str)> {
    let at = *Args::of(words, from, spec, Until::Operand).operands.first()?;
    Some((at, words[at].text()))
}
