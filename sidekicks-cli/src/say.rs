//! Every sentence of the program, in both languages.
//!
//! The libraries deliver codes; the words are here. French has a no-break space before a colon and inside « », a narrow
//! one before `; ! ?`, and curly apostrophes.

mod about;
mod agent;
mod danger;
mod editing;
mod failure;
mod notice;

pub(crate) use about::About;
pub(crate) use editing::Editing;

use sidekicks_conversations::{Action, DangerLevel, Failure};

use crate::harmless::one_line;
use crate::lang::Lang;

/// How many agents are listed in one sentence.
const MOST_NAMES: usize = 10;

/// One thing to say. What an agent wrote goes in as it is, and comes out harmless and on one line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Say<'a> {
    About(About<'a>),
    Editing(Editing<'a>),
    /// A failure, by its code.
    Failure {
        agent: &'a str,
        failure: &'a Failure,
    },
    /// A message of the system, by its code.
    System {
        agent: &'a str,
        code: &'a str,
    },
    /// The ways to log in that an agent offers.
    LoginMethods(&'a [String]),
    /// The head of a permission card.
    Wants {
        agent: &'a str,
        action: Action,
    },
    /// An option of a card, by its kind; an unknown one by the agent's label.
    Option {
        kind: &'a str,
        name: &'a str,
    },
    StopAgent,
    /// What is dangerous, by its code.
    Danger {
        code: &'a str,
        level: DangerLevel,
    },
    FileNew,
    FileNewEmpty,
    FileEmptied,
    FileDeleted,
    /// Its text is to be written again as it is, but perhaps for the last line feed.
    FileSameLines,
    MoreLines(usize),
    /// Of one line.
    MoreCharacters(usize),
    NotAnOption,
    TakenBack {
        agent: &'a str,
    },
    /// There is no terminal to ask on.
    RejectedUnasked {
        agent: &'a str,
        title: &'a str,
    },
    /// The person gave no answer.
    RejectedUnanswered {
        agent: &'a str,
        title: &'a str,
    },
    /// Nobody answers, and the agent offers no way to say no.
    CancelledUnasked {
        agent: &'a str,
        title: &'a str,
    },
    /// The turn ended with something else than `end_turn`.
    StopReason {
        agent: &'a str,
        reason: &'a str,
    },
    Empty {
        agent: &'a str,
    },
    Stopping,
    StartTakesLong {
        agent: &'a str,
    },
    StopTakesLong {
        agent: &'a str,
    },
    /// So many tools failed in a row.
    GoesInCircles {
        agent: &'a str,
        failed: u32,
    },
    ReadingStdin,
    UnknownAgent {
        name: &'a str,
    },
    DidYouMean {
        name: &'a str,
    },
    /// The names of those there are.
    AgentsThereAre(&'a [&'a str]),
    NoAgent {
        example: &'a str,
    },
    NoPrompt,
    BadAgentCommand,
    BadCwd {
        path: &'a str,
        reason: &'a str,
    },
    BadStdin {
        reason: &'a str,
    },
    CannotWrite {
        reason: &'a str,
    },
    CannotStart {
        reason: &'a str,
    },
    /// Goes on without the guard.
    NoGuard {
        reason: &'a str,
    },
}

impl Say<'_> {
    /// The sentence in `lang`.
    pub(crate) fn text(self, lang: Lang) -> String {
        let (en, fr) = self.both();
        match lang {
            Lang::Fr => fr,
            _ => en,
        }
    }

    fn both(self) -> (String, String) {
        let word = |text: &str| one_line(text, 120);
        match self {
            Self::About(about) => about.both(),
            Self::Editing(editing) => editing.both(),
            Self::Failure { agent, failure } => failure::both(&word(agent), failure),
            Self::System { agent, code } => agent::system(&word(agent), code),
            Self::LoginMethods(methods) => {
                let list = word(&methods.join(", "));
                (format!("ways to log in: {list}"), format!("moyens de se connecter\u{a0}: {list}"))
            }
            Self::Wants { agent, action } => agent::wants(&word(agent), action),
            Self::Option { kind, name } => agent::option(kind, &word(name)),
            Self::StopAgent => pair("stop the agent", "arrêter l’agent"),
            Self::Danger { code, level } => danger::both(code, level),
            Self::FileNew => pair("new file", "nouveau fichier"),
            Self::FileNewEmpty => pair("new empty file", "nouveau fichier vide"),
            Self::FileEmptied => pair("emptied", "vidé"),
            Self::FileDeleted => pair("deleted", "supprimé"),
            Self::FileSameLines => pair("no line changes", "aucune ligne ne change"),
            Self::MoreCharacters(count) => match count {
                1 => pair("… and 1 more character", "… et 1 autre caractère"),
                _ => (format!("… and {count} more characters"), format!("… et {count} autres caractères")),
            },
            Self::MoreLines(count) => match count {
                1 => pair("… and 1 more line", "… et 1 autre ligne"),
                _ => (format!("… and {count} more lines"), format!("… et {count} autres lignes")),
            },
            Self::NotAnOption => {
                pair("Please type one of the signs in brackets.", "Tapez l’un des signes entre crochets.")
            }
            Self::TakenBack { agent } => {
                let agent = word(agent);
                (format!("{agent} took the question back."), format!("{agent} a retiré sa question."))
            }
            Self::RejectedUnasked { agent, title } => {
                let (agent, title) = (word(agent), word(title));
                (
                    format!(
                        "{agent} asked for permission ({title}); there is no terminal to ask on, so it was rejected once"
                    ),
                    format!(
                        "{agent} a demandé une autorisation ({title})\u{202f}; sans terminal où poser la question, elle a été refusée une fois"
                    ),
                )
            }
            Self::RejectedUnanswered { agent, title } => {
                let (agent, title) = (word(agent), word(title));
                (
                    format!("{agent} got no answer ({title}), so it was rejected once"),
                    format!("{agent} n’a pas eu de réponse ({title}), le refus vaut pour cette fois"),
                )
            }
            Self::CancelledUnasked { agent, title } => {
                let (agent, title) = (word(agent), word(title));
                (
                    format!(
                        "{agent} asked for permission ({title}); nobody answered and there is no way to say no, so it was stopped"
                    ),
                    format!(
                        "{agent} a demandé une autorisation ({title})\u{202f}; sans réponse ni moyen de refuser, il a été arrêté"
                    ),
                )
            }
            Self::StopReason { agent, reason } => agent::stop_reason(&word(agent), &word(reason)),
            Self::Empty { agent } => {
                let agent = word(agent);
                (
                    format!("{agent} ended its turn without saying or doing anything"),
                    format!("{agent} a terminé son tour sans rien dire ni rien faire"),
                )
            }
            Self::Stopping => pair("stopping… (Ctrl-C again to hurry)", "arrêt en cours… (Ctrl-C encore pour presser)"),
            Self::StartTakesLong { agent } => {
                let agent = word(agent);
                (
                    format!("waiting for {agent} to be ready, for a minute at most (Ctrl-C to stop)"),
                    format!("{agent} se prépare, une minute au plus (Ctrl-C pour arrêter)"),
                )
            }
            Self::StopTakesLong { agent } => {
                let agent = word(agent);
                (
                    format!("waiting for {agent} to leave (Ctrl-C to hurry)"),
                    format!("{agent} met du temps à partir (Ctrl-C pour presser)"),
                )
            }
            Self::GoesInCircles { agent, failed } => {
                let agent = word(agent);
                (
                    format!("{agent} is going in circles: {failed} tools failed in a row (Ctrl-C to stop it)"),
                    format!(
                        "{agent} tourne en rond\u{a0}: {failed} outils ont échoué d’affilée (Ctrl-C pour l’arrêter)"
                    ),
                )
            }
            Self::ReadingStdin => pair("Type what to ask, then Ctrl-D:", "Tapez votre question, puis Ctrl-D\u{a0}:"),
            Self::UnknownAgent { name } => {
                let name = word(name);
                (format!("there is no agent “{name}”"), format!("il n’y a pas d’agent «\u{a0}{name}\u{a0}»"))
            }
            Self::DidYouMean { name } => {
                let name = word(name);
                (format!("did you mean “{name}”?"), format!("vouliez-vous dire «\u{a0}{name}\u{a0}»\u{202f}?"))
            }
            Self::AgentsThereAre(names) => {
                let list = |open: &str, close: &str, and: &str| {
                    let mut quoted: Vec<String> =
                        names.iter().take(MOST_NAMES).map(|name| format!("{open}{}{close}", word(name))).collect();
                    let last = if names.len() > MOST_NAMES { Some("…".to_owned()) } else { quoted.pop() };
                    let last = last.unwrap_or_default();
                    if quoted.is_empty() { last } else { format!("{} {and} {last}", quoted.join(", ")) }
                };
                let be = if names.len() == 1 { "is" } else { "are" };
                let (en, fr) = (list("“", "”", "and"), list("«\u{a0}", "\u{a0}»", "et"));
                (
                    format!("there {be} {en}; any other program is started with --agent-command"),
                    format!("il y a {fr}\u{202f}; tout autre programme se lance avec --agent-command"),
                )
            }
            Self::NoAgent { example } => (
                format!("say which agent to ask, such as “{example}”"),
                format!("dites à quel agent parler, par exemple «\u{a0}{example}\u{a0}»"),
            ),
            Self::NoPrompt => pair("there is nothing to ask", "il n’y a rien à demander"),
            Self::BadAgentCommand => pair(
                "--agent-command is empty, or a quotation mark in it is not closed",
                "--agent-command est vide, ou un guillemet n’y est pas fermé",
            ),
            Self::BadCwd { path, reason } => {
                let (path, reason) = (word(path), word(reason));
                (
                    format!("{path} is no folder to work in: {reason}"),
                    format!("{path} n’est pas un dossier où travailler\u{a0}: {reason}"),
                )
            }
            Self::BadStdin { reason } => {
                let reason = word(reason);
                (format!("stdin cannot be read: {reason}"), format!("l’entrée standard est illisible\u{a0}: {reason}"))
            }
            Self::CannotWrite { reason } => {
                let reason = word(reason);
                (
                    format!("stdout cannot be written to: {reason}"),
                    format!("impossible d’écrire sur la sortie standard\u{a0}: {reason}"),
                )
            }
            Self::NoGuard { reason } => {
                let reason = word(reason);
                (
                    format!("if sidekicks is killed, the agent may live on: {reason}"),
                    format!("si sidekicks est tué, l’agent pourrait lui survivre\u{a0}: {reason}"),
                )
            }
            Self::CannotStart { reason } => {
                let reason = word(reason);
                (
                    format!("the system refuses what this program needs: {reason}"),
                    format!("le système refuse ce dont ce programme a besoin\u{a0}: {reason}"),
                )
            }
        }
    }
}

fn pair(en: &str, fr: &str) -> (String, String) {
    (en.to_owned(), fr.to_owned())
}

/// A number with its word: French has the singular for 0 too.
fn counted(count: usize, en: (&str, &str), fr: (&str, &str)) -> (String, String) {
    let en = if count == 1 { en.0 } else { en.1 };
    let fr = if count < 2 { fr.0 } else { fr.1 };
    (format!("{count} {en}"), format!("{count} {fr}"))
}

#[cfg(test)]
mod tests;
