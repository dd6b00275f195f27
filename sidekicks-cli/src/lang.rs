//! Which language to speak.

use std::ffi::OsString;

/// A language that this program speaks.
pub(crate) use sidekicks_config::Language as Lang;
use sidekicks_config::LanguageSetting;

/// The first of these that decides: what was given, `SIDEKICKS_LANG`, the configuration file, the locale as gettext reads
/// it.
pub(crate) fn choose(given: Option<Lang>, file: LanguageSetting, var: impl Fn(&str) -> Option<OsString>) -> Lang {
    let own = || {
        let own = var("SIDEKICKS_LANG")?.into_string().ok().filter(|own| !own.is_empty())?;
        Some(Lang::of_tag(&own))
    };
    given.or_else(own).or_else(|| file.language()).unwrap_or_else(|| Lang::of_environment(var))
}

#[cfg(test)]
mod tests {
    use LanguageSetting::Auto;

    use super::*;

    #[test]
    fn the_first_that_decides() {
        /// What is given, what the file says, the environment, and what is spoken.
        type Case = (Option<Lang>, LanguageSetting, &'static [(&'static str, &'static str)], Lang);
        let cases: [Case; 8] = [
            (None, Auto, &[], Lang::En),
            (None, Auto, &[("LANG", "fr_FR.UTF-8")], Lang::Fr),
            (None, LanguageSetting::Fr, &[("LANG", "en_US")], Lang::Fr),
            (None, LanguageSetting::En, &[("LANG", "fr_FR")], Lang::En),
            (None, LanguageSetting::En, &[("SIDEKICKS_LANG", "fr")], Lang::Fr),
            (None, LanguageSetting::Fr, &[("SIDEKICKS_LANG", "de")], Lang::En),
            (None, LanguageSetting::Fr, &[("SIDEKICKS_LANG", ""), ("LANG", "en_US")], Lang::Fr),
            (Some(Lang::En), LanguageSetting::Fr, &[("SIDEKICKS_LANG", "fr")], Lang::En),
        ];
        for (given, file, environment, expected) in cases {
            let var = |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(choose(given, file, var), expected, "{given:?} {file:?} {environment:?}");
        }
    }
}
