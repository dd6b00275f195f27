//! The languages that problems are told in.

use std::ffi::OsString;

/// A language that problems and the schema are worded in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// English.
    #[default]
    En,
    /// French.
    Fr,
}

impl Language {
    /// The language of a locale or of a tag as `fr`, `fr_CA.UTF-8` or `fr-FR`: English where it is another one.
    pub fn of_tag(tag: &str) -> Self {
        match tag.split(['_', '-', '.', '@']).next() {
            Some("fr") => Self::Fr,
            _ => Self::En,
        }
    }

    /// The language that an environment asks for, as gettext reads it: the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that
    /// is not empty (POSIX.1-2017, 8.2), and the first entry of `LANGUAGE` before it, unless that is the C locale.
    ///
    /// ```
    /// use sidekicks_config::Language;
    ///
    /// let language = Language::of_environment(|name| std::env::var_os(name));
    /// # let french = |name: &str| (name == "LANG").then(|| "fr_FR.UTF-8".into());
    /// # assert_eq!(Language::of_environment(french), Language::Fr);
    /// ```
    pub fn of_environment(var: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| var(name)?.into_string().ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set).unwrap_or_default();
        if matches!(locale.split(['.', '@']).next(), Some("" | "C" | "POSIX")) {
            return Self::En; // There LANGUAGE counts for nothing.
        }
        match set("LANGUAGE") {
            Some(list) => Self::of_tag(list.split(':').next().unwrap_or_default()),
            None => Self::of_tag(&locale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_as_gettext_has_it() {
        let cases: [(&[(&str, &str)], Language); 10] = [
            (&[], Language::En),
            (&[("LANG", "fr_FR.UTF-8")], Language::Fr),
            (&[("LANG", "fr")], Language::Fr),
            (&[("LANG", "de_DE")], Language::En),
            (&[("LANG", "fro")], Language::En),
            (&[("LC_ALL", "C"), ("LANG", "fr_FR")], Language::En),
            (&[("LC_ALL", "C.UTF-8"), ("LANGUAGE", "fr")], Language::En),
            (&[("LC_ALL", ""), ("LC_MESSAGES", "fr_CA"), ("LANG", "en_US")], Language::Fr),
            (&[("LANG", "en_US"), ("LANGUAGE", "fr:en")], Language::Fr),
            (&[("LANG", "fr_FR"), ("LANGUAGE", "de:fr")], Language::En),
        ];
        for (environment, expected) in cases {
            let var = |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(Language::of_environment(var), expected, "{environment:?}");
        }
    }
}
