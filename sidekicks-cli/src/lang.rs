//! Which language to speak.

use clap::ValueEnum;

/// A language that this program speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lang {
    /// French.
    Fr,
    /// English.
    En,
}

impl Lang {
    /// The language that the environment asks for: `SIDEKICKS_LANG`, else the locale as gettext reads it. English
    /// where that is another one.
    pub(crate) fn of_environment(var: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        if let Some(own) = set("SIDEKICKS_LANG") {
            return Self::of_tag(&own);
        }
        // The first that is not empty decides (POSIX.1-2017, 8.2).
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| set(name)).unwrap_or_default();
        if matches!(locale.split(['.', '@']).next(), Some("" | "C" | "POSIX")) {
            return Self::En; // There LANGUAGE counts for nothing.
        }
        match set("LANGUAGE") {
            Some(list) => Self::of_tag(list.split(':').next().unwrap_or_default()),
            None => Self::of_tag(&locale),
        }
    }

    fn of_tag(tag: &str) -> Self {
        match tag.split(['_', '-', '.', '@']).next() {
            Some("fr") => Self::Fr,
            _ => Self::En,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_as_gettext_has_it() {
        let cases: [(&[(&str, &str)], Lang); 12] = [
            (&[], Lang::En),
            (&[("LANG", "fr_FR.UTF-8")], Lang::Fr),
            (&[("LANG", "fr")], Lang::Fr),
            (&[("LANG", "de_DE")], Lang::En),
            (&[("LANG", "fro")], Lang::En),
            (&[("LC_ALL", "C"), ("LANG", "fr_FR")], Lang::En),
            (&[("LC_ALL", "C.UTF-8"), ("LANGUAGE", "fr")], Lang::En),
            (&[("LC_ALL", ""), ("LC_MESSAGES", "fr_CA"), ("LANG", "en_US")], Lang::Fr),
            (&[("LANG", "en_US"), ("LANGUAGE", "fr:en")], Lang::Fr),
            (&[("LANG", "fr_FR"), ("LANGUAGE", "de:fr")], Lang::En),
            (&[("SIDEKICKS_LANG", "fr"), ("LANG", "en_US")], Lang::Fr),
            (&[("SIDEKICKS_LANG", "en"), ("LANG", "fr_FR")], Lang::En),
        ];
        for (environment, expected) in cases {
            let var =
                |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(Lang::of_environment(var), expected, "{environment:?}");
        }
    }
}
