//! Where we keep what is of no interest to anybody once we have ended.

use std::env::consts::OS;
use std::ffi::OsString;
use std::path::PathBuf;

/// Our folder for it, on the system `os`; `variable` reads the environment. None without a home.
fn folder_of(os: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A path that is not absolute is to be ignored, says the XDG Base Directory Specification; and so an empty one.
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || absolute("HOME");
    let state = match os {
        "macos" => home()?.join("Library/Application Support"),
        _ => absolute("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")))?,
    };
    Some(state.join("sidekicks"))
}

/// Our folder for it.
pub(crate) fn folder() -> Option<PathBuf> {
    folder_of(OS, |name| std::env::var_os(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders() {
        let cases = [
            ("linux", "/s", "/h", Some("/s/sidekicks")),
            ("linux", "", "/h", Some("/h/.local/state/sidekicks")),
            ("linux", "s", "/h", Some("/h/.local/state/sidekicks")),
            ("linux", "/s", "", Some("/s/sidekicks")),
            ("linux", "s", "h", None),
            ("macos", "/s", "/h", Some("/h/Library/Application Support/sidekicks")),
            ("macos", "/s", "", None),
        ];
        for (os, state, home, expected) in cases {
            let variable = |name: &str| match name {
                "XDG_STATE_HOME" => Some(state.into()),
                "HOME" => Some(home.into()),
                _ => None,
            };
            assert_eq!(folder_of(os, variable), expected.map(PathBuf::from), "{os} {state} {home}");
        }
        assert_eq!(folder_of("linux", |_| None), None);
    }
}
