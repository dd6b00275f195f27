//! Where the files of sidekicks are.

use std::ffi::OsString;
use std::path::PathBuf;

use nix::unistd::{Uid, User};

/// Where a configuration file is looked for when nobody names one: `sidekicks/sidekicks.jsonc` in the user's folder for
/// configuration. It need not be there.
///
/// That folder is `$XDG_CONFIG_HOME` where it is absolute, else `~/Library/Application Support` on macOS and
/// `~/.config` elsewhere. `~` is `$HOME` where it is absolute, else what the system knows. `None` where it knows
/// nothing.
pub fn standard_config(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(config_dir(env)?.join("sidekicks/sidekicks.jsonc"))
}

/// Where the preferences are kept.
pub(crate) fn preferences_file(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    match non_empty(env, "SIDEKICKS_PREFS") {
        Some(path) => Some(path),
        None => Some(config_dir(env)?.join("sidekicks/preferences.json")),
    }
}

/// A variable that is set to nothing counts as one that is not set.
pub(crate) fn non_empty(env: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    env(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn config_dir(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let below_home = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    config_dir_in(env, below_home, || User::from_uid(Uid::current()).ok()?.map(|user| user.dir))
}

/// A relative folder would be another one wherever the program is started, and a stranger's project could answer for
/// it.
fn config_dir_in(
    env: &dyn Fn(&str) -> Option<OsString>,
    below_home: &str,
    home_of_user: impl FnOnce() -> Option<PathBuf>,
) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    if let Some(folder) = non_empty(env, "XDG_CONFIG_HOME").filter(absolute) {
        return Some(folder);
    }
    let home = non_empty(env, "HOME").filter(absolute).or_else(|| home_of_user().filter(absolute))?;
    Some(home.join(below_home))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn env<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> {
        move |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn the_folder_for_configuration() {
        for (variables, user, expected) in [
            (&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")][..], Some("/u"), Some("/x")),
            (&[("XDG_CONFIG_HOME", "x"), ("HOME", "/h")], Some("/u"), Some("/h/.config")),
            (&[("XDG_CONFIG_HOME", ""), ("HOME", "/h")], Some("/u"), Some("/h/.config")),
            (&[("HOME", "/h")], Some("/u"), Some("/h/.config")),
            (&[("HOME", "")], Some("/u"), Some("/u/.config")),
            (&[("HOME", ".")], Some("/u"), Some("/u/.config")),
            (&[], Some("/u"), Some("/u/.config")),
            (&[], Some(""), None),
            (&[], None, None),
            (&[("XDG_CONFIG_HOME", "/x")], None, Some("/x")),
        ] {
            let found = config_dir_in(&env(variables), ".config", || user.map(PathBuf::from));
            assert_eq!(found.as_deref(), expected.map(Path::new), "{variables:?}, {user:?}");
        }
        let mac = config_dir_in(&env(&[("HOME", "/Users/me")]), "Library/Application Support", || None);
        assert_eq!(mac, Some(PathBuf::from("/Users/me/Library/Application Support")));
    }

    #[test]
    fn the_files() {
        for (variables, expected) in [
            (&[("XDG_CONFIG_HOME", "/x")][..], "/x/sidekicks/preferences.json"),
            (&[("XDG_CONFIG_HOME", "/x"), ("SIDEKICKS_PREFS", "/p.json")], "/p.json"),
            (&[("XDG_CONFIG_HOME", "/x"), ("SIDEKICKS_PREFS", "")], "/x/sidekicks/preferences.json"),
        ] {
            assert_eq!(preferences_file(&env(variables)), Some(PathBuf::from(expected)), "{variables:?}");
            let config = standard_config(&env(variables));
            assert_eq!(config, Some(PathBuf::from("/x/sidekicks/sidekicks.jsonc")), "{variables:?}");
        }
        // Without any variable it is what the system knows.
        assert!(preferences_file(&|_| None).is_none_or(|path| path.is_absolute()));
    }
}
