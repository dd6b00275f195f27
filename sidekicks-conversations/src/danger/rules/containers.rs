//! Containers, images and volumes.

use crate::danger::args::{Args, Spec, Until};
use crate::danger::reason::{Found, Reason};
use crate::danger::tree::Word;
use crate::danger::wrap::{COMPOSE, DOCKER, operand};

pub(super) fn docker(words: &[Word], found: &mut Found) {
    let Some((verb, word)) = operand(words, 1, DOCKER) else { return };
    match word {
        "rm" | "rmi" => found.flag_to(Reason::RemovesContainers, words, verb),
        "compose" => compose(words, verb + 1, found),
        "builder" | "buildx" | "config" | "container" | "context" | "image" | "machine" | "manifest" | "network"
        | "node" | "plugin" | "pod" | "secret" | "service" | "stack" | "system" | "volume" => {
            if let Some((second, "rm" | "remove" | "prune")) = operand(words, verb + 1, Spec::default()) {
                found.flag_to(Reason::RemovesContainers, words, second);
            }
        }
        _ => {}
    }
}

pub(super) fn compose(words: &[Word], from: usize, found: &mut Found) {
    match operand(words, from, COMPOSE) {
        Some((verb, "rm")) => found.flag_to(Reason::RemovesContainers, words, verb),
        Some((verb, "down")) => {
            let spec = Spec { short: "t", attached: "", long: &["timeout", "rmi"] };
            if let Some(volumes) = Args::of(words, verb + 1, spec, Until::Separator).at(&["v", "volumes"]) {
                found.flag_to(Reason::RemovesContainers, words, volumes);
            }
        }
        _ => {}
    }
}
