//! What went wrong, in words.

use sidekicks_conversations::Failure;

use crate::harmless::one_line;

/// A failure in English and in French, with the agent's own explanation where it has one.
pub(super) fn both(agent: &str, failure: &Failure) -> (String, String) {
    let (en, fr) = sentence(agent, failure);
    if SAYS_IT_ALL.contains(&failure.code.as_str()) || failure.message.is_empty() {
        return (en, fr);
    }
    let message = one_line(&failure.message, 500);
    (format!("{en}: {message}"), format!("{fr}\u{a0}: {message}"))
}

/// The codes whose sentence leaves nothing for the libraries' own text to add.
const SAYS_IT_ALL: &[&str] = &[
    "agent-exited",
    "backpressure",
    "connection-lost",
    "empty-prompt",
    "not-a-program",
    "program-missing",
    "start-timeout",
    "too-many-arguments",
    "unknown-agent",
    "would-deadlock",
];

fn sentence(agent: &str, failure: &Failure) -> (String, String) {
    let program = program(failure.program.as_deref().unwrap_or(agent));
    let both = |en: &str, fr: &str| (format!("{agent} {en}"), format!("{agent} {fr}"));
    match failure.code.as_str() {
        "agent-error" => both("answered with an error", "a répondu par une erreur"),
        "agent-exited" => exited(agent, failure),
        "agent-room" => {
            both("finds no room: other agents are at work", "n’a pas de place, d’autres agents travaillent")
        }
        "agent-stopped" => both("was stopped", "a été arrêté"),
        "already-open" => both("has this session open already", "a déjà cette session ouverte"),
        "already-settled" => both("had its answer already", "avait déjà sa réponse"),
        "backoff" => {
            both("failed several times and is left alone for a while", "a échoué plusieurs fois, une pause s’impose")
        }
        "backpressure" => both("does not read what is sent to it", "ne lit pas ce qui lui est envoyé"),
        "bad-interpreter" => (
            format!("what is to run {program} cannot be used"),
            format!("ce qui doit exécuter {program} est inutilisable"),
        ),
        "bad-workspace" => both("cannot work in its folder", "ne peut pas travailler dans son dossier"),
        "closed" => both("is closed", "est fermé"),
        "connection-lost" => both("closed the connection", "a coupé la liaison"),
        "empty-prompt" => both("was asked nothing", "n’a reçu aucune question"),
        "login-required" => both("wants you to log in first", "demande d’abord une connexion"),
        "malformed-reply" => both("gave an answer that makes no sense", "a donné une réponse incompréhensible"),
        "mode-refused" => both("refuses the mode that is configured", "refuse le mode configuré"),
        "model-refused" => both("refuses the model that is configured", "refuse le modèle configuré"),
        "not-a-program" => (
            format!("{program} is neither a program of this system nor a script that names its interpreter"),
            format!("{program} n’est ni un programme de ce système ni un script qui nomme son interpréteur"),
        ),
        "not-executable" => (
            format!("{program} is not a program that may be run"),
            format!("{program} n’est pas un programme qu’on peut lancer"),
        ),
        "not-unicode" => both("cannot be told this", "ne peut pas recevoir cela"),
        "program-missing" => (format!("there is no program {program}"), format!("il n’y a pas de programme {program}")),
        "program-not-found" => (
            format!("is {program} installed? It is in no folder of the PATH"),
            format!("{program} est-il installé\u{202f}? Il n’est dans aucun dossier du PATH"),
        ),
        "prompt-pending" => both("is still answering", "répond encore"),
        "reader-stalled" => both(
            "was given up, because nothing it said was read",
            "a été abandonné, car rien de ce qu’il disait n’était lu",
        ),
        "relative-workspace" => both("needs an absolute path to work in", "a besoin d’un chemin absolu où travailler"),
        "session-closed" => both("closed the session", "a fermé la session"),
        "start-failed" => (format!("{program} could not be started"), format!("{program} n’a pas pu être lancé")),
        "start-timeout" => both(
            "was not ready in time; does it speak the Agent Client Protocol when it is started so?",
            "n’a pas été prêt à temps\u{202f}; lancé ainsi, parle-t-il l’Agent Client Protocol\u{202f}?",
        ),
        "system-busy" => (
            format!("{program} cannot be started at the moment"),
            format!("{program} ne peut pas être lancé en ce moment"),
        ),
        "timeout" => both("did not answer in time", "n’a pas répondu à temps"),
        "too-large" => both("needs more room than there is", "a besoin de plus de place qu’il n’y en a"),
        "too-long" => both("gave an answer that is too long to read", "a donné une réponse trop longue pour être lue"),
        "too-many-arguments" => (
            format!("{program} was given more arguments and variables than the system takes"),
            format!("{program} a reçu plus d’arguments et de variables que le système n’en accepte"),
        ),
        "unknown-agent" => both("is not an agent that is known here", "n’est pas un agent connu ici"),
        "unknown-option" => both("offers no such option", "ne propose pas cette option"),
        "unknown-session" => both("does not know the session any more", "ne connaît plus la session"),
        "unsupported" => both("does not offer this", "ne le propose pas"),
        "unsupported-content" => both("cannot take this content", "ne peut pas recevoir ce contenu"),
        "unsupported-version" => both("speaks another version of the protocol", "parle une autre version du protocole"),
        "would-deadlock" => both(
            "would wait for ever: everybody waits for somebody else",
            "attendrait toujours, chacun attend quelqu’un d’autre",
        ),
        other => (format!("{agent} failed ({other})"), format!("{agent} a échoué ({other})")),
    }
}

/// What is shown of a program: what is after a blank or a `=` in its name is no part of one, mostly, and may be a key.
fn program(program: &str) -> String {
    match program.find(|c: char| c == '=' || c.is_whitespace()) {
        Some(end) => format!("{}…", one_line(&program[..end], 120)),
        None => one_line(program, 120),
    }
}

fn exited(agent: &str, failure: &Failure) -> (String, String) {
    let (en, fr) = match failure.phase {
        sidekicks_acp::Phase::Prompt => ("in the middle of its answer", "au milieu de sa réponse"),
        _ => ("before it was ready", "avant d’être prêt"),
    };
    match (failure.exit_code, failure.signal) {
        (Some(code), _) => {
            (format!("{agent} left {en} (exit code {code})"), format!("{agent} est parti {fr} (code de sortie {code})"))
        }
        (_, Some(signal)) => (
            format!("{agent} was ended {en} (signal {signal})"),
            format!("{agent} a été interrompu {fr} (signal {signal})"),
        ),
        _ => (format!("{agent} left {en}"), format!("{agent} est parti {fr}")),
    }
}

/// Whether there is a sentence for this code, and not only the code itself.
#[cfg(test)]
pub(super) fn is_known(code: &str, mut failure: Failure) -> bool {
    code.clone_into(&mut failure.code);
    !sentence("riker", &failure).0.contains(&format!("({code})"))
}
