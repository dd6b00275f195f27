//! The sentence of each kind of problem, in both languages.
//!
//! French has a no-break space before a colon and inside « », and a narrow one before `;`, `!` and `?`.

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
            Self::NotUtf8 => "the file is not UTF-8 from here on".into(),
            Self::Empty => "the file is empty; it needs at least “version” and “agents”".into(),
            Self::MissingComma => "a comma is missing here".into(),
            Self::ExtraComma => "this comma is one too many".into(),
            Self::MissingColon => "a colon is missing after this key".into(),
            Self::MissingValue => "a value is missing here".into(),
            Self::MissingKey => "this value has no key".into(),
            Self::UnquotedKey => "this key needs double quotes".into(),
            Self::WrongQuotes => "texts need straight double quotes".into(),
            Self::BareWord => "this is no value; a text needs double quotes".into(),
            Self::BadNumber => "this is no number that JSON has".into(),
            Self::UnclosedText => "this text has no closing quote on its line".into(),
            Self::BadEscape => "this backslash means nothing here; write two for one".into(),
            Self::ControlCharacter => "a control character cannot stand in a text; write \\t for a tab".into(),
            Self::InnerQuote => "a quote inside a text needs a backslash before it: \\\"".into(),
            Self::UnclosedBracket { bracket } => format!("this “{bracket}” is never closed"),
            Self::StrayBracket { bracket } => format!("this “{bracket}” closes nothing"),
            Self::WrongBracket { expected } => format!("this should be “{expected}”"),
            Self::UnclosedComment => "this comment never ends".into(),
            Self::HashComment => "comments begin with //".into(),
            Self::OddSpace => "this is no ordinary space; delete it or type one".into(),
            Self::Unexpected => "this character means nothing here".into(),
            Self::TrailingContent => "nothing may stand after the end".into(),
            Self::TooDeep => "brackets are nested too deep here".into(),
            Self::TooManyProblems => "there are too many problems; more may come after these".into(),
            Self::DuplicateKey { key } => format!("the key “{key}” stood before in this map"),
            Self::RequiredKey { key } => format!("the key “{key}” is missing"),
            Self::UnknownKey { key, advice } => match advice {
                Advice::None => format!("there is no key “{key}” here"),
                Advice::DidYouMean(other) => format!("there is no key “{key}” here; did you mean “{other}”?"),
                Advice::CalledHere(other) => format!("there is no key “{key}” here; it is called “{other}”"),
                Advice::Delete => format!("there is no key “{key}” here; delete it"),
            },
            Self::BadName => {
                "a name begins with a letter or a digit and has only letters, digits, “.”, “_” and “-”, 64 at most"
                    .into()
            }
            Self::BadVariable => {
                "the name of a variable has only letters, digits and “_”, and begins with no digit".into()
            }
            Self::BadHeader => "this is no name of a header".into(),
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
            Self::BadDuration { never: false } => "a duration such as “30s”, “10min” or “2h” is expected".into(),
            Self::BadDuration { never: true } => {
                "a duration such as “30s”, “10min” or “2h”, or “never”, is expected".into()
            }
            Self::BadSize => "a size such as “512MiB” or “2GiB” is expected".into(),
            Self::BadUrl => "an address that begins with http:// or https:// is expected".into(),
            Self::EmptyText => "this text must not be empty".into(),
            Self::TooLong { max } => format!("this text is too long; it may have {max} characters"),
            Self::OutOfRange { min, max } => format!("a number from {min} to {max} is expected"),
            Self::TooFew { min } => format!("at least {min} {} expected", plural(*min, "entry is", "entries are", En)),
            Self::TooMany { max } => format!("at most {max} {} allowed", plural(*max, "entry is", "entries are", En)),
            Self::Repeated => "this stood before in the list".into(),
            Self::NameDiffersByCase => "this name differs from another one by upper and lower case alone".into(),
            Self::UnknownWorkspace { nearest } => {
                format!("there is no workspace of this name{}", did_you_mean(nearest, En))
            }
            Self::UnknownAgent { nearest } => format!("there is no agent of this name{}", did_you_mean(nearest, En)),
            Self::UnknownMcpServer { nearest } => {
                format!("there is no MCP server of this name{}", did_you_mean(nearest, En))
            }
            Self::EstimateAboveLimit => "the agent is expected to use more memory than its limit".into(),
            Self::EstimateAboveTotal => {
                "the agent could never start: it is expected to use more memory than all agents together may".into()
            }
            Self::WorkspaceAndCwd => "an agent has a workspace or a cwd, not both".into(),
            Self::NewerVersion => {
                "this file is for a newer version of the program; nothing else in it was checked".into()
            }
            Self::ReservedVariable => "variables that begin with SIDEKICKS_ are reserved".into(),
            Self::VariableTwice => {
                "another variable has this name in other upper and lower case; the agent gets both".into()
            }
            Self::NoAgentEnabled => "no agent is enabled".into(),
            Self::ChannelDisabled => "no member of this channel is enabled".into(),
            Self::SameDisplayName => "another one is shown under the same name".into(),
            Self::SamePath => "another workspace is the same folder".into(),
            Self::IdleBeforeStart => "the agent is stopped sooner, when idle, than it may take to start".into(),
            Self::UnusedWorkspace => "no agent works in this workspace".into(),
            Self::UnusedMcpServer => "no agent uses this MCP server".into(),
            Self::CommandNotFound { command, path: Some(path) } => {
                format!("the command “{command}” is not found on the PATH: {path}")
            }
            Self::CommandNotFound { command, path: None } => format!("the command “{command}” is not found"),
            Self::NoSuchFolder => "there is no such folder".into(),
            Self::VariableNotSet { name } => format!("the variable {name} is not set"),
            Self::ReadableSecret => {
                "others can read this file, and this looks like a secret; use ${NAME}, or chmod 600".into()
            }
        }
    }

    fn french(&self) -> String {
        match self {
            Self::NotUtf8 => "à partir d’ici, le fichier n’est pas en UTF-8".into(),
            Self::Empty => {
                "le fichier est vide\u{202f}; il faut au moins «\u{a0}version\u{a0}» et «\u{a0}agents\u{a0}»".into()
            }
            Self::MissingComma => "il manque une virgule ici".into(),
            Self::ExtraComma => "cette virgule est de trop".into(),
            Self::MissingColon => "il manque un deux-points après cette clé".into(),
            Self::MissingValue => "il manque une valeur ici".into(),
            Self::MissingKey => "cette valeur n’a pas de clé".into(),
            Self::UnquotedKey => "cette clé doit être entre guillemets doubles".into(),
            Self::WrongQuotes => "les textes s’écrivent entre guillemets doubles droits".into(),
            Self::BareWord => "ce n’est pas une valeur\u{202f}; un texte s’écrit entre guillemets doubles".into(),
            Self::BadNumber => "ce n’est pas un nombre selon JSON".into(),
            Self::UnclosedText => "ce texte n’a pas de guillemet fermant sur sa ligne".into(),
            Self::BadEscape => {
                "cette barre oblique inverse ne veut rien dire ici\u{202f}; pour en écrire une, il en faut deux".into()
            }
            Self::ControlCharacter => {
                "un caractère de commande ne peut pas figurer dans un texte\u{202f}; une tabulation s’écrit \\t".into()
            }
            Self::InnerQuote => {
                "dans un texte, un guillemet doit être précédé d’une barre oblique inverse\u{a0}: \\\"".into()
            }
            Self::UnclosedBracket { bracket } => format!("ce «\u{a0}{bracket}\u{a0}» n’est jamais fermé"),
            Self::StrayBracket { bracket } => format!("ce «\u{a0}{bracket}\u{a0}» ne ferme rien"),
            Self::WrongBracket { expected } => format!("il faut «\u{a0}{expected}\u{a0}» ici"),
            Self::UnclosedComment => "ce commentaire n’est jamais fermé".into(),
            Self::HashComment => "un commentaire commence par //".into(),
            Self::OddSpace => "ce n’est pas une espace ordinaire\u{202f}; supprimez-la ou tapez-en une".into(),
            Self::Unexpected => "ce caractère ne veut rien dire ici".into(),
            Self::TrailingContent => "rien ne peut suivre la fin".into(),
            Self::TooDeep => "les parenthèses sont trop imbriquées ici".into(),
            Self::TooManyProblems => "il y a trop de problèmes\u{202f}; d’autres peuvent suivre ceux-ci".into(),
            Self::DuplicateKey { key } => format!("la clé «\u{a0}{key}\u{a0}» figure déjà dans cet objet"),
            Self::RequiredKey { key } => format!("il manque la clé «\u{a0}{key}\u{a0}»"),
            Self::UnknownKey { key, advice } => {
                let unknown = format!("il n’y a pas de clé «\u{a0}{key}\u{a0}» ici");
                match advice {
                    Advice::None => unknown,
                    Advice::DidYouMean(other) => {
                        format!("{unknown}\u{202f}; vouliez-vous dire «\u{a0}{other}\u{a0}»\u{202f}?")
                    }
                    Advice::CalledHere(other) => format!("{unknown}\u{202f}; elle s’appelle «\u{a0}{other}\u{a0}»"),
                    Advice::Delete => format!("{unknown}\u{202f}; supprimez-la"),
                }
            }
            Self::BadName => "un nom commence par une lettre ou un chiffre et n’a que des lettres, des chiffres, \
                              «\u{a0}.\u{a0}», «\u{a0}_\u{a0}» et «\u{a0}-\u{a0}», 64 au plus"
                .into(),
            Self::BadVariable => "le nom d’une variable n’a que des lettres, des chiffres et «\u{a0}_\u{a0}», et ne \
                                  commence pas par un chiffre"
                .into(),
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
            Self::BadDuration { never: false } => "une durée telle que «\u{a0}30s\u{a0}», «\u{a0}10min\u{a0}» ou \
                                                   «\u{a0}2h\u{a0}» est attendue"
                .into(),
            Self::BadDuration { never: true } => "une durée telle que «\u{a0}30s\u{a0}», «\u{a0}10min\u{a0}» ou \
                                                  «\u{a0}2h\u{a0}», ou «\u{a0}never\u{a0}», est attendue"
                .into(),
            Self::BadSize => "une taille telle que «\u{a0}512MiB\u{a0}» ou «\u{a0}2GiB\u{a0}» est attendue".into(),
            Self::BadUrl => "une adresse qui commence par http:// ou https:// est attendue".into(),
            Self::EmptyText => "ce texte ne doit pas être vide".into(),
            Self::TooLong { max } => {
                format!("ce texte est trop long\u{202f}; il peut avoir {max} caractères")
            }
            Self::OutOfRange { min, max } => format!("un nombre de {min} à {max} est attendu"),
            Self::TooFew { min } => {
                format!("au moins {min} {}", plural(*min, "entrée est attendue", "entrées sont attendues", Fr))
            }
            Self::TooMany { max } => {
                format!("au plus {max} {}", plural(*max, "entrée est permise", "entrées sont permises", Fr))
            }
            Self::Repeated => "ceci figure déjà dans la liste".into(),
            Self::NameDiffersByCase => "ce nom ne diffère d’un autre que par les majuscules et les minuscules".into(),
            Self::UnknownWorkspace { nearest } => {
                format!("il n’y a pas d’espace de travail de ce nom{}", did_you_mean(nearest, Fr))
            }
            Self::UnknownAgent { nearest } => format!("il n’y a pas d’agent de ce nom{}", did_you_mean(nearest, Fr)),
            Self::UnknownMcpServer { nearest } => {
                format!("il n’y a pas de serveur MCP de ce nom{}", did_you_mean(nearest, Fr))
            }
            Self::EstimateAboveLimit => "la mémoire prévue pour cet agent dépasse sa limite".into(),
            Self::EstimateAboveTotal => {
                "cet agent ne pourrait jamais démarrer\u{a0}: la mémoire prévue dépasse celle de tous les agents \
                 ensemble"
                    .into()
            }
            Self::WorkspaceAndCwd => "un agent a un workspace ou un cwd, pas les deux".into(),
            Self::NewerVersion => {
                "ce fichier est pour une version plus récente du programme\u{202f}; rien d’autre n’y a été vérifié"
                    .into()
            }
            Self::ReservedVariable => "les variables qui commencent par SIDEKICKS_ sont réservées".into(),
            Self::VariableTwice => "une autre variable a ce nom, aux majuscules et minuscules près\u{202f}; l’agent \
                                    reçoit les deux"
                .into(),
            Self::NoAgentEnabled => "aucun agent n’est activé".into(),
            Self::ChannelDisabled => "aucun membre de ce canal n’est activé".into(),
            Self::SameDisplayName => "un autre est affiché sous le même nom".into(),
            Self::SamePath => "un autre espace de travail est le même dossier".into(),
            Self::IdleBeforeStart => "inactif, cet agent est arrêté plus vite qu’il ne peut mettre à démarrer".into(),
            Self::UnusedWorkspace => "aucun agent ne travaille dans cet espace de travail".into(),
            Self::UnusedMcpServer => "aucun agent n’utilise ce serveur MCP".into(),
            Self::CommandNotFound { command, path: Some(path) } => {
                format!("la commande «\u{a0}{command}\u{a0}» est introuvable dans le PATH\u{a0}: {path}")
            }
            Self::CommandNotFound { command, path: None } => {
                format!("la commande «\u{a0}{command}\u{a0}» est introuvable")
            }
            Self::NoSuchFolder => "ce dossier n’existe pas".into(),
            Self::VariableNotSet { name } => format!("la variable {name} n’est pas définie"),
            Self::ReadableSecret => {
                "d’autres peuvent lire ce fichier, et ceci ressemble à un secret\u{202f}; utilisez \
                                     ${NOM}, ou chmod 600"
                    .into()
            }
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

fn quote(text: &str, language: Language) -> String {
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
