//! What an agent does and wants, in words.

use sidekicks_conversations::Action;

use super::pair;

pub(super) fn system(agent: &str, code: &str) -> (String, String) {
    match code {
        "agent-exited" => (format!("{agent} left by itself"), format!("{agent} est parti de lui-même")),
        "agent-restarted" => (
            format!("{agent} was started again and does not remember the beginning"),
            format!("{agent} a été relancé et ne se souvient plus du début"),
        ),
        "agent-unavailable" => (format!("{agent} cannot be reached"), format!("{agent} est injoignable")),
        "agent-unresponsive" => (
            format!("{agent} did not stop when told to, and is ended"),
            format!("{agent} n’a pas obéi à la demande d’arrêt et a été interrompu"),
        ),
        "login-required" => {
            (format!("{agent} wants you to log in first"), format!("{agent} demande d’abord une connexion"))
        }
        "mode-unconfirmed" => (
            format!("{agent} may not be in the mode that it was asked for"),
            format!("{agent} n’est peut-être pas dans le mode demandé"),
        ),
        "model-unconfirmed" => (
            format!("{agent} may not work with the model that it was asked for"),
            format!("{agent} ne travaille peut-être pas avec le modèle demandé"),
        ),
        "context-compacted" => (
            format!("{agent} has shortened what it remembers of this conversation"),
            format!("{agent} a résumé ce dont il se souvient de cette conversation"),
        ),
        "notice" => (format!("a note from {agent}"), format!("un mot de {agent}")),
        "session-resumed" => (
            format!("{agent} was started again and remembers what was said"),
            format!("{agent} a été relancé et se souvient de ce qui a été dit"),
        ),
        other => (format!("{agent}: {other}"), format!("{agent}\u{a0}: {other}")),
    }
}

pub(super) fn wants(agent: &str, action: Action) -> (String, String) {
    let (en, fr) = match action {
        Action::RunCommand => ("run a command on your computer", "exécuter une commande sur votre ordinateur"),
        Action::EditFile => ("change a file", "modifier un fichier"),
        Action::DeleteFile => ("delete a file", "supprimer un fichier"),
        Action::MoveFile => ("move a file", "déplacer un fichier"),
        Action::ReadFile => ("read a file", "lire un fichier"),
        Action::Fetch => ("fetch something from the network", "aller chercher quelque chose sur le réseau"),
        Action::Search => ("search your files", "chercher dans vos fichiers"),
        Action::SwitchMode => ("switch to another mode", "changer de mode"),
        _ => ("do something", "faire quelque chose"),
    };
    (format!("{agent} wants to {en}"), format!("{agent} veut {fr}"))
}

pub(super) fn option(kind: &str, name: &str) -> (String, String) {
    match kind {
        "allow_once" => pair("allow once", "autoriser une fois"),
        "allow_always" => pair("always allow here", "toujours autoriser ici"),
        "reject_always" => pair("never propose here", "ne jamais proposer ici"),
        "reject_once" => pair("reject once", "refuser une fois"),
        _ => (format!("“{name}”"), format!("«\u{a0}{name}\u{a0}»")),
    }
}

pub(super) fn stop_reason(agent: &str, reason: &str) -> (String, String) {
    match reason {
        "max_tokens" => (
            format!("{agent} stopped: the answer reached the model’s limit"),
            format!("{agent} s’est arrêté\u{a0}: la réponse a atteint la limite du modèle"),
        ),
        "max_turn_requests" => (
            format!("{agent} stopped: it reached its limit of steps"),
            format!("{agent} s’est arrêté\u{a0}: il a atteint sa limite d’étapes"),
        ),
        "refusal" => (format!("{agent} refused to go on"), format!("{agent} a refusé de continuer")),
        "cancelled" => (format!("the turn of {agent} was cancelled"), format!("le tour de {agent} a été annulé")),
        other => (
            format!("{agent} stopped for a reason that this program does not know: {other}"),
            format!("{agent} s’est arrêté pour une raison que ce programme ne connaît pas\u{a0}: {other}"),
        ),
    }
}
