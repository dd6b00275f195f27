//! What is the matter with the preferences, in words.

use std::path::Path;

use sidekicks_prefs::Notice;

use crate::harmless::one_line;

/// A notice in English and in French.
pub(super) fn both(notice: &Notice) -> (String, String) {
    let shown = |path: &Path| one_line(&path.display().to_string(), 300);
    match notice {
        Notice::Damaged { path, kept_as: Some(kept_as) } => {
            let (path, kept_as) = (shown(path), shown(kept_as));
            (
                format!("the preferences in {path} are damaged: they were kept as {kept_as}, and new ones are begun"),
                format!(
                    "les préférences de {path} sont abîmées\u{a0}: elles sont gardées sous {kept_as}, et de nouvelles \
                     commencent"
                ),
            )
        }
        Notice::Damaged { path, kept_as: None } => {
            let path = shown(path);
            (
                format!("the preferences in {path} are damaged, and were left as they are"),
                format!("les préférences de {path} sont abîmées, et sont laissées telles quelles"),
            )
        }
        Notice::Unreadable { path, error } => {
            let path = shown(path);
            (
                format!("the preferences in {path} cannot be read: {error}"),
                format!("les préférences de {path} sont illisibles\u{a0}: {error}"),
            )
        }
        Notice::NotAFile { path } => {
            let path = shown(path);
            (
                format!("the preferences cannot be kept in {path}: that is not a file"),
                format!("les préférences ne peuvent pas être gardées dans {path}\u{a0}: ce n’est pas un fichier"),
            )
        }
        Notice::TooLarge { path, .. } => {
            let path = shown(path);
            (
                format!("the preferences in {path} are too large: they were left alone"),
                format!("les préférences de {path} sont trop grandes\u{a0}: rien n’y a été changé"),
            )
        }
        Notice::Busy { lock } => {
            let lock = shown(lock);
            (
                format!("the preferences were not saved: another process holds {lock}"),
                format!("les préférences n’ont pas été enregistrées\u{a0}: un autre processus tient {lock}"),
            )
        }
        Notice::NotSaved { path, error } => {
            let path = shown(path);
            (
                format!("the preferences were not saved in {path}: {error}"),
                format!("les préférences n’ont pas été enregistrées dans {path}\u{a0}: {error}"),
            )
        }
        Notice::NewerVersion { path, version } => {
            let path = shown(path);
            (
                format!("the preferences in {path} are of a newer program (version {version}): not all was saved"),
                format!(
                    "les préférences de {path} viennent d’un programme plus récent (version {version})\u{a0}: tout n’a \
                     pas été enregistré"
                ),
            )
        }
        Notice::NotUnicode { path } => {
            let path = shown(path);
            (
                format!("the path {path} is not valid Unicode, and cannot be remembered"),
                format!("le chemin {path} n’est pas de l’Unicode valide, il ne peut pas être retenu"),
            )
        }
        Notice::NoAbsolutePath { path, error } => {
            let path = shown(path);
            (
                format!("the path “{path}” cannot be made absolute, and so not remembered: {error}"),
                format!("le chemin «\u{a0}{path}\u{a0}» ne peut pas être rendu absolu, donc pas retenu\u{a0}: {error}"),
            )
        }
        other => (other.to_string(), other.to_string()),
    }
}
