//! What runs elsewhere: clusters, infrastructure, storage.

use crate::danger::args::{Args, Spec, Until};
use crate::danger::reason::{Found, Reason};
use crate::danger::tree::Word;
use crate::danger::wrap::{KUBECTL, operand};

pub(super) fn look(name: &str, words: &[Word], found: &mut Found) {
    match name {
        "kubectl" | "oc" => {
            let deleted = operand(words, 1, KUBECTL).filter(|&(_, verb)| verb == "delete");
            flag(words, deleted, found);
        }
        "helm" => {
            let spec = Spec {
                short: "n",
                attached: "",
                long: &["namespace", "kube-context", "kubeconfig", "registry-config"],
            };
            let gone =
                operand(words, 1, spec).filter(|&(_, verb)| matches!(verb, "uninstall" | "delete" | "del" | "un"));
            flag(words, gone, found);
        }
        "terraform" | "tofu" | "terragrunt" => terraform(words, found),
        "redis-cli" => {
            let flushes =
                |word: &Word| ["flushall", "flushdb"].iter().any(|verb| word.text().eq_ignore_ascii_case(verb));
            if let Some(at) = words.iter().position(flushes) {
                found.flag_to(Reason::DropsData, words, at);
            }
        }
        "aws" => {
            follows(words, &["s3", "rm"], found).or_else(|| follows(words, &["s3", "rb"], found)).unwrap_or_default()
        }
        "gsutil" => follows(words, &["rm"], found).unwrap_or_default(),
        "gh" => follows(words, &["repo", "delete"], found).unwrap_or_default(),
        "pulumi" | "vagrant" => follows(words, &["destroy"], found).unwrap_or_default(),
        "minikube" => follows(words, &["delete"], found).unwrap_or_default(),
        _ => {}
    }
}

/// Unless nothing is done but shown.
fn flag(words: &[Word], verb: Option<(usize, &str)>, found: &mut Found) {
    let dry = |word: &Word| {
        let value = word.text().strip_prefix("--dry-run");
        value.is_some_and(|value| matches!(value, "" | "=client" | "=server" | "=true"))
    };
    if let Some((verb, _)) = verb.filter(|_| !words.iter().any(dry)) {
        found.flag_to(Reason::DeletesResources, words, verb);
    }
}

/// Its options begin with one dash or two.
fn terraform(words: &[Word], found: &mut Found) {
    let is_option = |word: &Word| word.text().starts_with('-');
    let Some(verb) = (1..words.len()).find(|&at| !is_option(&words[at])) else { return };
    let destroys = |word: &Word| matches!(word.text().trim_start_matches('-'), "destroy" | "destroy=true");
    match words[verb].text() {
        "destroy" => found.flag_to(Reason::DeletesResources, words, verb),
        "apply" => {
            if let Some(at) = (verb + 1..words.len()).find(|&at| is_option(&words[at]) && destroys(&words[at])) {
                found.flag_to(Reason::DeletesResources, words, at);
            }
        }
        _ => {}
    }
}

/// Where these are the first operands.
fn follows(words: &[Word], verbs: &[&str], found: &mut Found) -> Option<()> {
    let spec =
        Spec { short: "R", attached: "", long: &["profile", "region", "endpoint-url", "output", "repo", "stack"] };
    let args = Args::of(words, 1, spec, Until::Separator);
    let begins = verbs.iter().zip(&args.operands).all(|(verb, &at)| words[at].text() == *verb);
    if !begins || args.operands.len() < verbs.len() || args.has(&["dryrun", "dry-run"]) {
        return None;
    }
    found.flag_to(Reason::DeletesResources, words, args.operands[verbs.len() - 1]);
    Some(())
}
