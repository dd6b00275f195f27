//! Configuration files and the agents in them, in words.

use std::path::Path;

use sidekicks_config::LoadError;
use sidekicks_prefs::{Choice, Notice};

use super::{Say, counted, notice, pair};
use crate::harmless::one_line;
use crate::lang::Lang;

/// What there is to say of configuration files.
#[derive(Debug, Clone, Copy)]
pub(crate) enum About<'a> {
    /// A file cannot be read.
    Unreadable(&'a LoadError),
    /// Something is the matter with the preferences.
    Notice(&'a Notice),
    /// The file that was opened last is gone, and whether the standard one counts instead.
    Gone {
        path: &'a Path,
        standard: Option<&'a Path>,
    },
    NoConfig,
    /// Why a file counts.
    Why(&'a Choice),
    Missing,
    Last,
    Error,
    Warning,
    Hint(&'a str),
    SeeAlso {
        line: u32,
        column: u32,
    },
    /// A file without errors.
    Fine {
        file: &'a str,
        agents: usize,
        warnings: usize,
    },
    Wrong {
        file: &'a str,
        errors: usize,
        warnings: usize,
    },
    Opened {
        path: &'a Path,
    },
    NotOpened {
        path: &'a Path,
    },
    /// There is no folder for preferences.
    NotRemembered,
    NoRecent,
    NotRecent {
        path: &'a Path,
    },
    Forgotten {
        path: &'a Path,
    },
    /// Some of a file cannot be used.
    HasErrors {
        path: &'a Path,
        /// Who wants to see them has to name it.
        named: bool,
    },
    ChannelsUnused,
    BuiltIn,
    Disabled,
    NotInstalled,
    Broken,
    /// There are no agents but the built-in one.
    OnlyDemo,
    AgentDisabled {
        name: &'a str,
    },
    AgentBroken {
        name: &'a str,
    },
}

impl<'a> From<About<'a>> for Say<'a> {
    fn from(about: About<'a>) -> Self {
        Self::About(about)
    }
}

impl About<'_> {
    /// The sentence in `lang`.
    pub(crate) fn text(self, lang: Lang) -> String {
        Say::About(self).text(lang)
    }

    pub(super) fn both(self) -> (String, String) {
        let shown = |path: &Path| one_line(&path.display().to_string(), 300);
        match self {
            Self::Unreadable(error) => unreadable(error),
            Self::Notice(notice) => notice::both(notice),
            Self::Gone { path, standard } => {
                let (path, standard) = (shown(path), standard.map(shown));
                match standard {
                    Some(standard) => (
                        format!("{path}, which was opened last, is gone; {standard} is used"),
                        format!("{path}, ouvert en dernier, n’existe plus\u{202f}; {standard} est utilisé"),
                    ),
                    None => (
                        format!("{path}, which was opened last, is gone"),
                        format!("{path}, ouvert en dernier, n’existe plus"),
                    ),
                }
            }
            Self::NoConfig => pair(
                "there is no configuration file; “sidekicks config edit” begins one",
                "il n’y a pas de fichier de configuration\u{202f}; «\u{a0}sidekicks config edit\u{a0}» en commence un",
            ),
            Self::Why(choice) => why(choice),
            Self::Missing => pair("missing", "absent"),
            Self::Last => pair("opened last", "ouvert en dernier"),
            Self::Error => pair("error", "erreur"),
            Self::Warning => pair("warning", "avertissement"),
            Self::Hint(hint) => {
                let hint = one_line(hint, 120);
                (format!("hint: {hint}"), format!("suggestion\u{a0}: {hint}"))
            }
            Self::SeeAlso { line, column } => (
                format!("see also line {line}, column {column}"),
                format!("voir aussi la ligne {line}, colonne {column}"),
            ),
            Self::Fine { file, agents, warnings } => {
                let agents = counted(agents, ("agent", "agents"), ("agent", "agents"));
                let (en, fr) = match warnings {
                    0 => pair("no problem", "aucun problème"),
                    count => warned(count),
                };
                (format!("{file}: {}, {en}", agents.0), format!("{file}\u{a0}: {}, {fr}", agents.1))
            }
            Self::Wrong { file, errors, warnings } => {
                let errors = counted(errors, ("error", "errors"), ("erreur", "erreurs"));
                let warnings = if warnings == 0 { (String::new(), String::new()) } else { warned(warnings) };
                let joined = |errors: String, warnings: String| match warnings.is_empty() {
                    true => errors,
                    false => format!("{errors}, {warnings}"),
                };
                (
                    format!("{file}: {}", joined(errors.0, warnings.0)),
                    format!("{file}\u{a0}: {}", joined(errors.1, warnings.1)),
                )
            }
            Self::Opened { path } => {
                let path = shown(path);
                (
                    format!("{path} is used from now on, unless another file is named"),
                    format!("{path} est désormais utilisé, sauf si un autre fichier est désigné"),
                )
            }
            Self::NotOpened { path } => {
                let path = shown(path);
                (
                    format!("nothing in {path} can be used, so it was not opened"),
                    format!("rien dans {path} n’est utilisable, il n’a donc pas été ouvert"),
                )
            }
            Self::NotRemembered => pair(
                "it cannot be remembered: there is no home folder",
                "impossible de le retenir\u{a0}: il n’y a pas de dossier personnel",
            ),
            Self::NoRecent => pair("no file was opened yet", "aucun fichier n’a encore été ouvert"),
            Self::NotRecent { path } => {
                let path = shown(path);
                (format!("{path} is none of the recent files"), format!("{path} n’est pas l’un des fichiers récents"))
            }
            Self::Forgotten { path } => {
                let path = shown(path);
                (format!("{path} is forgotten"), format!("{path} est oublié"))
            }
            Self::HasErrors { path, named } => {
                let check = match shlex::try_quote(&path.to_string_lossy()) {
                    Ok(quoted) if named => format!("sidekicks config check {}", one_line(&quoted, 300)),
                    _ => "sidekicks config check".to_owned(),
                };
                let path = shown(path);
                (
                    format!("{path} has errors; “{check}” shows them"),
                    format!("{path} a des erreurs\u{202f}; «\u{a0}{check}\u{a0}» les montre"),
                )
            }
            Self::ChannelsUnused => pair(
                "the channels of this file are checked, and not used yet",
                "les canaux de ce fichier sont vérifiés, et pas encore utilisés",
            ),
            Self::BuiltIn => pair("built in", "intégré"),
            Self::Disabled => pair("disabled", "désactivé"),
            Self::Broken => pair("has errors", "a des erreurs"),
            Self::NotInstalled => pair("not found", "introuvable"),
            Self::OnlyDemo => pair(
                "“sidekicks ask demo hello” tries it; “sidekicks config edit” adds agents",
                "«\u{a0}sidekicks ask demo bonjour\u{a0}» l’essaie\u{202f}; «\u{a0}sidekicks config edit\u{a0}» ajoute des \
                 agents",
            ),
            Self::AgentDisabled { name } => {
                let name = one_line(name, 120);
                (
                    format!("{name} is disabled in the configuration (“enabled”: false)"),
                    format!("{name} est désactivé dans la configuration («\u{a0}enabled\u{a0}»\u{a0}: false)"),
                )
            }
            Self::AgentBroken { name } => {
                let name = one_line(name, 120);
                (
                    format!("{name} cannot be used: the configuration has errors"),
                    format!("{name} est inutilisable\u{a0}: la configuration a des erreurs"),
                )
            }
        }
    }
}

fn warned(warnings: usize) -> (String, String) {
    counted(warnings, ("warning", "warnings"), ("avertissement", "avertissements"))
}

fn why(choice: &Choice) -> (String, String) {
    match choice {
        Choice::Given(_) => pair("it was named with --config", "désigné par --config"),
        Choice::Variable(_) => pair("SIDEKICKS_CONFIG names it", "désigné par SIDEKICKS_CONFIG"),
        Choice::Last(_) => pair("it was opened last", "ouvert en dernier"),
        _ => pair("it is in the standard place", "à l’emplacement habituel"),
    }
}

fn unreadable(error: &LoadError) -> (String, String) {
    let shown = |path: &Path| one_line(&path.display().to_string(), 300);
    match error {
        LoadError::NotFound { path, .. } => {
            let path = shown(path);
            (format!("{path} does not exist"), format!("{path} n’existe pas"))
        }
        LoadError::NotAFile { path, .. } => {
            let path = shown(path);
            (format!("{path} is not a file"), format!("{path} n’est pas un fichier"))
        }
        LoadError::TooLarge { path, .. } => {
            let path = shown(path);
            (format!("{path} is larger than 1 MiB"), format!("{path} fait plus de 1\u{a0}Mio"))
        }
        LoadError::Io { path, source, .. } => {
            let path = shown(path);
            (format!("{path} cannot be read: {source}"), format!("{path} est illisible\u{a0}: {source}"))
        }
        other => (other.to_string(), other.to_string()),
    }
}
