//! The sentence of each kind of problem, in both languages.
//!
//! French has a no-break space before a colon and inside « », and a narrow one before `;`, `!` and `?`.

use super::shown::{escaped, shown};
use super::{Advice, Code, Expected};
use crate::language::Language::{self, En, Fr};

impl Code {
    /// One sentence, without a full stop.
    pub(super) fn message(&self, language: Language) -> String {
        match language {
            En => self.english(),
            Fr => self.french(),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::NotUtf8 => "from here on, the file is not valid UTF-8; save it as UTF-8".into(),
            Self::Empty => "the file is empty; it needs at least “version” and “agents”".into(),
            Self::MissingComma => "a comma is missing here".into(),
            Self::ExtraComma => "this comma is one too many".into(),
            Self::MissingColon => "a colon is missing after this key".into(),
            Self::MissingValue => "a value is missing here".into(),
            Self::MissingKey => "this value has no key".into(),
            Self::UnquotedKey => "this key needs double quotes".into(),
            Self::WrongQuotes => "straight double quotes are needed here".into(),
            Self::BareWord { nearest: nearest @ Some(_) } => format!("this is not a value{}", did_you_mean(nearest, En)),
            Self::BareWord { nearest: None } => "this is not a value; a text needs double quotes around it".into(),
            Self::BadNumber => "this is not a valid number; write it as 42, -1 or 0.5".into(),
            Self::UnclosedText => "this text needs its closing quote on the same line".into(),
            Self::BadEscape => "this backslash has no meaning here; to write one, type two: \\\\".into(),
            Self::ControlCharacter => "tabs and other invisible characters cannot stand in a text; write \\t for a tab".into(),
            Self::InnerQuote => "a quote inside a text needs a backslash before it: \\\"".into(),
            Self::UnclosedBracket { bracket } => format!("this “{bracket}” is never closed"),
            Self::StrayBracket { bracket } => format!("this “{bracket}” closes nothing"),
            Self::WrongBracket { expected } => format!("this should be “{expected}”"),
            Self::UnclosedComment => "this comment is never closed; end it with */".into(),
            Self::HashComment => "a comment begins with //, not with #".into(),
            Self::OddSpace => "this is not an ordinary space; replace it with one, or delete it".into(),
            Self::Unexpected => "this character does not belong here".into(),
            Self::TrailingContent => "there is something after the end of the configuration".into(),
            Self::ConflictMarker => "these are the marks of a merge conflict; keep one of the two texts".into(),
            Self::TooDeep => "lists and maps are nested too deep here".into(),
            Self::TooManyProblems => "there are too many problems; there may be more than these".into(),
            Self::DuplicateKey { key } => format!("{} is already used in this map", this_key(key, En)),
            Self::RequiredKey { key } => format!("the key “{key}” is missing"),
            Self::UnknownKey { key, advice } => {
                let key = this_key(key, En);
                match advice {
                    Advice::None => format!("{key} is unknown here"),
                    Advice::DidYouMean(other) => format!("{key} is unknown here; did you mean “{other}”?"),
                    Advice::CalledHere(other) => format!("{key} is unknown; it is called “{other}” here"),
                    Advice::Opposite(other) => format!("{key} is unknown here; its opposite is called “{other}”"),
                    Advice::Delete => format!("{key} is unknown here; delete it"),
                }
            }
            Self::BadName => "a name begins with an unaccented letter or a digit, and has only such letters, digits, “.”, “_” and “-”, 64 characters at most".into(),
            Self::BadVariable => "the name of a variable has only unaccented letters, digits and “_”, and does not begin with a digit".into(),
            Self::BadHeader => "this is not the name of a header".into(),
            Self::BadVersion => "the version of the format is the number 1".into(),
            Self::WrongType { expected } => match expected {
                Expected::Text => "a text in double quotes is expected".into(),
                Expected::Integer => "a whole number is expected".into(),
                Expected::Bool => "true or false is expected".into(),
                Expected::List => "a list […] is expected".into(),
                Expected::Map => "a map {…} is expected".into(),
            },
            Self::NotOneOf { allowed, nearest } => {
                let allowed = quoted(allowed, En, "or");
                format!("{allowed} is expected{}", did_you_mean(nearest, En))
            }
            Self::BadDuration { never, nearest } => {
                let never = if *never { ", or “never”," } else { "" };
                let meant = did_you_mean(nearest, En);
                format!("a duration such as “30s”, “10min” or “2h”{never} is expected{meant}")
            }
            Self::BadSize { nearest } => {
                format!("a size such as “512MiB” or “2GiB” is expected{}", did_you_mean(nearest, En))
            }
            Self::NulCharacter => "this text has the character \\u0000, which no program can be given".into(),
            Self::BadUrl => "an address that begins with http:// or https:// is expected".into(),
            Self::EmptyText => "this text must not be empty".into(),
            Self::TooLong { max } => format!("this text is too long; at most {max} {} allowed", plural(*max, "character is", "characters are", En)),
            Self::OutOfRange { min, max } => format!("a number from {min} to {max} is expected"),
            Self::TooFew { min } => format!("at least {min} {} expected", plural(*min, "entry is", "entries are", En)),
            Self::TooMany { max } => format!("at most {max} {} allowed", plural(*max, "entry is", "entries are", En)),
            Self::Repeated => "this is already in the list".into(),
            Self::NameDiffersByCase => "this name differs from another one only in upper and lower case".into(),
            Self::UnknownWorkspace { nearest } => {
                format!("there is no workspace with this name{}", did_you_mean(nearest, En))
            }
            Self::UnknownAgent { nearest } => format!("there is no agent with this name{}", did_you_mean(nearest, En)),
            Self::UnknownMcpServer { nearest } => {
                format!("there is no MCP server with this name{}", did_you_mean(nearest, En))
            }
            Self::EstimateAboveLimit => "the agent is expected to use more memory than its limit allows".into(),
            Self::EstimateAboveTotal => "this agent could never start: it is expected to use more memory than all agents together may".into(),
            Self::WorkspaceAndCwd => "an agent can have “workspace” or “cwd”, but not both".into(),
            Self::NewerVersion => "this file is for a newer version of the program; nothing else in it was checked".into(),
            Self::ReservedVariable => "variables that begin with SIDEKICKS_ are reserved".into(),
            Self::VariableTwice => "another variable differs only in upper and lower case; the agent gets both".into(),
            Self::NoAgentEnabled => "no agent is enabled".into(),
            Self::ChannelDisabled => "no member of this channel is enabled".into(),
            Self::SameDisplayName => "another entry is shown under the same name".into(),
            Self::SamePath => "another workspace is the same folder".into(),
            Self::IdleBeforeStart => "“idle_timeout” is shorter than “start_timeout”".into(),
            Self::UnusedWorkspace => "no agent works in this workspace".into(),
            Self::UnusedMcpServer => "no agent uses this MCP server".into(),
            Self::CommandNotFound { command, path: Some(path) } => {
                format!("the command {} was not found in the PATH: {}", quote(command, En), escaped(path))
            }
            Self::CommandNotFound { command, path: None } => {
                format!("the command {} was not found", quote(command, En))
            }
            Self::CommandWithArguments => {
                "no program has this name, blanks included; the arguments of a command belong in “args”".into()
            }
            Self::NoSuchFolder => "this folder does not exist".into(),
            Self::VariableNotSet { name } => format!("the variable {} is not set", shown(name)),
            Self::NotAVariable => "this looks like a variable, which is written ${NAME}; for a plain ${, write $${".into(),
            Self::ReadableSecret => "other users can read this file, and this looks like a secret; write ${NAME} instead, or protect the file (chmod 600)".into(),
        }
    }

    fn french(&self) -> String {
        match self {
            Self::NotUtf8 => "à partir d’ici, le fichier n’est pas en UTF-8 valide\u{202f}; enregistrez-le en UTF-8".into(),
            Self::Empty => {
                "le fichier est vide\u{202f}; il faut au moins «\u{a0}version\u{a0}» et «\u{a0}agents\u{a0}»".into()
            }
            Self::MissingComma => "il manque une virgule ici".into(),
            Self::ExtraComma => "cette virgule est de trop".into(),
            Self::MissingColon => "il manque un deux-points après cette clé".into(),
            Self::MissingValue => "il manque une valeur ici".into(),
            Self::MissingKey => "cette valeur n’a pas de clé".into(),
            Self::UnquotedKey => "cette clé doit être entre guillemets doubles".into(),
            Self::WrongQuotes => "il faut des guillemets doubles droits ici".into(),
            Self::BareWord { nearest: nearest @ Some(_) } => {
                format!("ce n’est pas une valeur{}", did_you_mean(nearest, Fr))
            }
            Self::BareWord { nearest: None } => "ce n’est pas une valeur\u{202f}; un texte s’écrit entre guillemets doubles".into(),
            Self::BadNumber => "ce n’est pas un nombre valide\u{202f}; écrivez-le comme 42, -1 ou 0.5".into(),
            Self::UnclosedText => "il manque à ce texte son guillemet fermant, sur la même ligne".into(),
            Self::BadEscape => "cette barre oblique inverse n’a pas de sens ici\u{202f}; pour en écrire une, tapez-en deux\u{a0}: \\\\".into(),
            Self::ControlCharacter => "une tabulation ou un autre caractère invisible ne peut pas figurer dans un texte\u{202f}; une tabulation s’écrit \\t".into(),
            Self::InnerQuote => {
                "dans un texte, un guillemet doit être précédé d’une barre oblique inverse\u{a0}: \\\"".into()
            }
            Self::UnclosedBracket { bracket } => format!("ce «\u{a0}{bracket}\u{a0}» n’est jamais fermé"),
            Self::StrayBracket { bracket } => format!("ce «\u{a0}{bracket}\u{a0}» ne ferme rien"),
            Self::WrongBracket { expected } => format!("il faut «\u{a0}{expected}\u{a0}» ici"),
            Self::UnclosedComment => "ce commentaire n’est jamais fermé\u{202f}; terminez-le par */".into(),
            Self::HashComment => "un commentaire commence par //, et non par #".into(),
            Self::OddSpace => "ce caractère n’est pas un espace ordinaire\u{202f}; remplacez-le ou supprimez-le".into(),
            Self::Unexpected => "ce caractère n’a rien à faire ici".into(),
            Self::TrailingContent => "il y a quelque chose après la fin de la configuration".into(),
            Self::ConflictMarker => "ce sont les marques d’un conflit de fusion\u{202f}; gardez l’un des deux textes".into(),
            Self::TooDeep => "les listes et les objets sont trop imbriqués ici".into(),
            Self::TooManyProblems => "il y a trop de problèmes\u{202f}; il peut y en avoir d’autres que ceux-ci".into(),
            Self::DuplicateKey { key } => format!("{} est déjà utilisée dans cet objet", this_key(key, Fr)),
            Self::RequiredKey { key } => format!("il manque la clé «\u{a0}{key}\u{a0}»"),
            Self::UnknownKey { key, advice } => {
                let key = this_key(key, Fr);
                let unknown = format!("{key} est inconnue ici");
                match advice {
                    Advice::None => unknown,
                    Advice::DidYouMean(other) => {
                        format!("{unknown}\u{202f}; vouliez-vous dire «\u{a0}{other}\u{a0}»\u{202f}?")
                    }
                    Advice::CalledHere(other) => {
                        format!("{key} est inconnue\u{202f}; elle s’appelle ici «\u{a0}{other}\u{a0}»")
                    }
                    Advice::Opposite(other) => {
                        format!("{unknown}\u{202f}; son contraire s’appelle «\u{a0}{other}\u{a0}»")
                    }
                    Advice::Delete => format!("{unknown}\u{202f}; supprimez-la"),
                }
            }
            Self::BadName => "un nom commence par une lettre sans accent ou un chiffre, et ne contient que de telles lettres, des chiffres, «\u{a0}.\u{a0}», «\u{a0}_\u{a0}» et «\u{a0}-\u{a0}», 64 caractères au plus".into(),
            Self::BadVariable => "le nom d’une variable ne contient que des lettres sans accent, des chiffres et «\u{a0}_\u{a0}», et ne commence pas par un chiffre".into(),
            Self::BadHeader => "ce n’est pas le nom d’un en-tête".into(),
            Self::BadVersion => "la version du format est le nombre 1".into(),
            Self::WrongType { expected } => match expected {
                Expected::Text => "un texte entre guillemets doubles est attendu".into(),
                Expected::Integer => "un nombre entier est attendu".into(),
                Expected::Bool => "true ou false est attendu".into(),
                Expected::List => "une liste […] est attendue".into(),
                Expected::Map => "un objet {…} est attendu".into(),
            },
            Self::NotOneOf { allowed, nearest } => {
                let allowed = quoted(allowed, Fr, "ou");
                format!("{allowed} est attendu{}", did_you_mean(nearest, Fr))
            }
            Self::BadDuration { never, nearest } => {
                let never = if *never { ", ou «\u{a0}never\u{a0}»," } else { "" };
                let meant = did_you_mean(nearest, Fr);
                format!(
                    "une durée telle que «\u{a0}30s\u{a0}», «\u{a0}10min\u{a0}» ou «\u{a0}2h\u{a0}»{never} est attendue{meant}"
                )
            }
            Self::BadSize { nearest } => {
                let meant = did_you_mean(nearest, Fr);
                format!("une taille telle que «\u{a0}512MiB\u{a0}» ou «\u{a0}2GiB\u{a0}» est attendue{meant}")
            }
            Self::NulCharacter => "ce texte contient le caractère \\u0000, qu’aucun programme ne peut recevoir".into(),
            Self::BadUrl => "une adresse qui commence par http:// ou https:// est attendue".into(),
            Self::EmptyText => "ce texte ne doit pas être vide".into(),
            Self::TooLong { max } => {
                format!("ce texte est trop long\u{202f}; au plus {max} {}", plural(*max, "caractère est permis", "caractères sont permis", Fr))
            }
            Self::OutOfRange { min, max } => format!("un nombre de {min} à {max} est attendu"),
            Self::TooFew { min } => {
                format!("au moins {min} {}", plural(*min, "entrée est attendue", "entrées sont attendues", Fr))
            }
            Self::TooMany { max } => {
                format!("au plus {max} {}", plural(*max, "entrée est permise", "entrées sont permises", Fr))
            }
            Self::Repeated => "cet élément figure déjà dans la liste".into(),
            Self::NameDiffersByCase => "ce nom ne diffère d’un autre que par les majuscules et les minuscules".into(),
            Self::UnknownWorkspace { nearest } => {
                format!("aucun espace de travail ne porte ce nom{}", did_you_mean(nearest, Fr))
            }
            Self::UnknownAgent { nearest } => format!("aucun agent ne porte ce nom{}", did_you_mean(nearest, Fr)),
            Self::UnknownMcpServer { nearest } => {
                format!("aucun serveur MCP ne porte ce nom{}", did_you_mean(nearest, Fr))
            }
            Self::EstimateAboveLimit => "la mémoire prévue pour cet agent dépasse sa limite".into(),
            Self::EstimateAboveTotal => "cet agent ne pourrait jamais démarrer\u{a0}: la mémoire prévue dépasse la limite commune à tous les agents".into(),
            Self::WorkspaceAndCwd => "un agent peut avoir «\u{a0}workspace\u{a0}» ou «\u{a0}cwd\u{a0}», mais pas les deux".into(),
            Self::NewerVersion => "ce fichier est destiné à une version plus récente du programme\u{202f}; rien d’autre n’y a été vérifié".into(),
            Self::ReservedVariable => "les variables qui commencent par SIDEKICKS_ sont réservées".into(),
            Self::VariableTwice => "une autre variable ne diffère que par les majuscules et les minuscules\u{202f}; l’agent reçoit les deux".into(),
            Self::NoAgentEnabled => "aucun agent n’est activé".into(),
            Self::ChannelDisabled => "aucun membre de ce canal n’est activé".into(),
            Self::SameDisplayName => "une autre entrée est affichée sous le même nom".into(),
            Self::SamePath => "un autre espace de travail est le même dossier".into(),
            Self::IdleBeforeStart => "«\u{a0}idle_timeout\u{a0}» est plus court que «\u{a0}start_timeout\u{a0}»".into(),
            Self::UnusedWorkspace => "aucun agent ne travaille dans cet espace de travail".into(),
            Self::UnusedMcpServer => "aucun agent n’utilise ce serveur MCP".into(),
            Self::CommandNotFound { command, path: Some(path) } => {
                let (command, path) = (quote(command, Fr), escaped(path));
                format!("la commande {command} est introuvable dans le PATH\u{a0}: {path}")
            }
            Self::CommandNotFound { command, path: None } => {
                format!("la commande {} est introuvable", quote(command, Fr))
            }
            Self::CommandWithArguments => "aucun programme ne porte ce nom, espaces compris\u{202f}; les arguments d’une commande vont dans «\u{a0}args\u{a0}»".into(),
            Self::NoSuchFolder => "ce dossier n’existe pas".into(),
            Self::VariableNotSet { name } => format!("la variable {} n’est pas définie", shown(name)),
            Self::NotAVariable => "ceci ressemble à une variable, qui s’écrit ${NOM}\u{202f}; pour un ${ ordinaire, écrivez $${".into(),
            Self::ReadableSecret => "d’autres utilisateurs peuvent lire ce fichier, et ceci ressemble à un secret\u{202f}; écrivez plutôt ${NOM}, ou protégez le fichier (chmod 600)".into(),
        }
    }
}

/// One of two words by a number: French has the singular for 0 too.
fn plural<'a>(n: u64, one: &'a str, many: &'a str, language: Language) -> &'a str {
    let single = match language {
        En => n == 1,
        Fr => n < 2,
    };
    if single { one } else { many }
}

/// A key of the file, which is not named where it may be a secret.
fn this_key(key: &str, language: Language) -> String {
    match (key, language) {
        ("", En) => "this key".into(),
        ("", Fr) => "cette clé".into(),
        (key, En) => format!("the key {}", quote(key, En)),
        (key, Fr) => format!("la clé {}", quote(key, Fr)),
    }
}

fn quote(text: &str, language: Language) -> String {
    let text = shown(text);
    match language {
        En => format!("“{text}”"),
        Fr => format!("«\u{a0}{text}\u{a0}»"),
    }
}

fn quoted(texts: &[String], language: Language, or: &str) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quote(text, language)).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} {or} {last}", others.join(", ")),
        None => String::new(),
    }
}

fn did_you_mean(nearest: &Option<String>, language: Language) -> String {
    match (nearest, language) {
        (None, _) => String::new(),
        (Some(name), En) => format!("; did you mean {}?", quote(name, En)),
        (Some(name), Fr) => format!("\u{202f}; vouliez-vous dire {}\u{202f}?", quote(name, Fr)),
    }
}
