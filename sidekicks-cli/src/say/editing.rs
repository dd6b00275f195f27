//! Editing a configuration file, in words.

use std::path::Path;

use sidekicks_config::{SaveError, SaveStep};

use super::{Say, pair};
use crate::harmless::one_line;
use crate::lang::Lang;

/// What there is to say while a configuration file is edited.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Editing<'a> {
    NeedsTerminal,
    /// There is no home, so no standard place.
    NoPlace,
    NoEditor,
    /// A variable holds no command.
    BadEditor {
        variable: &'a str,
    },
    CannotRun {
        editor: &'a str,
        reason: &'a str,
    },
    Failed {
        editor: &'a str,
    },
    CannotCopy {
        reason: &'a str,
    },
    Unchanged {
        path: &'a Path,
    },
    /// What to do about errors.
    GoOn,
    Discard,
    /// Where the text is that was not saved.
    Kept {
        copy: &'a Path,
    },
    Saved {
        path: &'a Path,
    },
    /// The file could not be replaced as a whole.
    SavedInPlace,
    NotSaved {
        path: &'a Path,
        error: &'a SaveError,
    },
    /// It could not be saved, so that there is no use in writing.
    CannotSave {
        path: &'a Path,
        error: &'a SaveError,
    },
}

impl<'a> From<Editing<'a>> for Say<'a> {
    fn from(editing: Editing<'a>) -> Self {
        Self::Editing(editing)
    }
}

impl Editing<'_> {
    /// The sentence in `lang`.
    pub(crate) fn text(self, lang: Lang) -> String {
        Say::Editing(self).text(lang)
    }

    pub(super) fn both(self) -> (String, String) {
        let shown = |path: &Path| one_line(&path.display().to_string(), 300);
        match self {
            Self::NeedsTerminal => pair("an editor needs a terminal", "un éditeur a besoin d’un terminal"),
            Self::NoPlace => pair(
                "there is no home folder to begin a file in; name one with --config",
                "il n’y a pas de dossier personnel où commencer un fichier\u{202f}; désignez-en un avec --config",
            ),
            Self::NoEditor => pair(
                "no editor was found; name one in VISUAL or EDITOR",
                "aucun éditeur n’a été trouvé\u{202f}; indiquez-en un dans VISUAL ou EDITOR",
            ),
            Self::BadEditor { variable } => (
                format!("{variable} holds no command that can be run"),
                format!("{variable} ne contient pas de commande utilisable"),
            ),
            Self::CannotRun { editor, reason } => {
                let editor = one_line(editor, 120);
                (
                    format!("the editor {editor} cannot be run: {reason}"),
                    format!("impossible de lancer l’éditeur {editor}\u{a0}: {reason}"),
                )
            }
            Self::Failed { editor } => {
                let editor = one_line(editor, 120);
                (
                    format!("the editor {editor} ended with an error, so nothing was saved"),
                    format!("l’éditeur {editor} s’est terminé par une erreur, rien n’a donc été enregistré"),
                )
            }
            Self::CannotCopy { reason } => (
                format!("there can be no copy to edit: {reason}"),
                format!("impossible de faire une copie à modifier\u{a0}: {reason}"),
            ),
            Self::Unchanged { path } => {
                let path = shown(path);
                (format!("nothing was changed in {path}"), format!("rien n’a été changé dans {path}"))
            }
            Self::GoOn => pair("go on editing", "continuer à modifier"),
            Self::Discard => pair("do not save", "ne pas enregistrer"),
            Self::Kept { copy } => {
                let copy = shown(copy);
                (format!("your text is in {copy}"), format!("votre texte est dans {copy}"))
            }
            Self::Saved { path } => {
                let path = shown(path);
                (format!("{path} is saved"), format!("{path} est enregistré"))
            }
            Self::SavedInPlace => pair(
                "it could not be replaced in one step, and was written over",
                "il n’a pas pu être remplacé d’un coup, il a été réécrit sur place",
            ),
            Self::NotSaved { path, error } => not_saved(&shown(path), error),
            Self::CannotSave { path, error: SaveError::Io { source, .. } } => {
                let path = shown(path);
                (
                    format!("{path} could not be saved: {source}"),
                    format!("{path} ne pourrait pas être enregistré\u{a0}: {source}"),
                )
            }
            Self::CannotSave { path, error } => not_saved(&shown(path), error),
        }
    }
}

fn not_saved(path: &str, error: &SaveError) -> (String, String) {
    match error {
        SaveError::Invalid(_) => (
            format!("{path} is not saved: the text has errors"),
            format!("{path} n’est pas enregistré\u{a0}: le texte a des erreurs"),
        ),
        SaveError::TooLarge => (
            format!("{path} is not saved: the text is larger than 1 MiB"),
            format!("{path} n’est pas enregistré\u{a0}: le texte fait plus de 1\u{a0}Mio"),
        ),
        SaveError::ChangedOnDisk { now: None, .. } => (
            format!("{path} was removed meanwhile, and is not made again"),
            format!("{path} a été supprimé entre-temps, et n’est pas recréé"),
        ),
        SaveError::ChangedOnDisk { .. } => (
            format!("{path} was changed by somebody else meanwhile, and is left as it is"),
            format!("{path} a été modifié entre-temps par quelqu’un d’autre, et reste tel quel"),
        ),
        SaveError::ReadOnly { .. } => (
            format!("{path} is read-only, and is left as it is"),
            format!("{path} est en lecture seule, et reste tel quel"),
        ),
        SaveError::NotAFile { .. } => (format!("{path} is not a file"), format!("{path} n’est pas un fichier")),
        SaveError::Io { step: SaveStep::SyncDirectory, source, .. } => (
            format!("{path} is written, but may be lost if the power fails now: {source}"),
            format!("{path} est écrit, mais une coupure de courant pourrait l’effacer\u{a0}: {source}"),
        ),
        SaveError::Io { source, .. } => (
            format!("{path} cannot be written, and holds its old text: {source}"),
            format!("{path} ne peut pas être écrit, et garde son ancien texte\u{a0}: {source}"),
        ),
        SaveError::HalfWritten { backup, source, .. } => {
            let backup = one_line(&backup.display().to_string(), 300);
            (
                format!("{path} was written in part only; its old text is in {backup}: {source}"),
                format!("{path} n’est écrit qu’en partie\u{202f}; son ancien texte est dans {backup}\u{a0}: {source}"),
            )
        }
        other => (other.to_string(), other.to_string()),
    }
}
