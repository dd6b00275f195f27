//! `${NAME}`, `~`, and paths that begin at the folder of the file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User};

/// A text whose variables are filled in.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Filled {
    /// Variables that are not set stay in it as they are written.
    pub(crate) text: String,
    /// The names of these.
    pub(crate) unset: Vec<String>,
    /// Whether something in it was meant as a variable and is none.
    pub(crate) is_odd: bool,
}

impl Filled {
    /// The text, where all that is meant is known.
    pub(crate) fn known(self) -> Option<String> {
        (self.unset.is_empty() && !self.is_odd).then_some(self.text)
    }
}

/// Fills in what a file leaves to the machine.
pub(crate) struct Expander<'a> {
    /// The folder of the file.
    folder: PathBuf,
    env: &'a dyn Fn(&str) -> Option<OsString>,
}

impl<'a> Expander<'a> {
    pub(crate) fn new(file: &Path, env: &'a dyn Fn(&str) -> Option<OsString>) -> Self {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self { folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()), env }
    }

    pub(crate) fn env(&self) -> &'a dyn Fn(&str) -> Option<OsString> {
        self.env
    }

    /// `text` with the variables that it names.
    ///
    /// `${NAME}` is a variable, `$${` is `${`, and every other `$` is itself. A variable that is not UTF-8 is not set.
    pub(crate) fn text(&self, text: &str) -> Filled {
        self.fill(text, false)
    }

    /// The same for a path or a program. There a variable that is empty is not set either, for it would make another folder
    /// of it; and `$NAME` where a folder begins was meant as a variable.
    pub(crate) fn place(&self, text: &str) -> Filled {
        self.fill(text, true)
    }

    fn fill(&self, text: &str, is_place: bool) -> Filled {
        let mut filled = Filled::default();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            filled.text.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("$${") {
                filled.text.push_str("${");
                rest = after;
                continue;
            }
            let Some(name) = variable(rest) else {
                let begins = filled.text.is_empty() || filled.text.ends_with('/');
                filled.is_odd |= rest.starts_with("${") || (is_place && begins && is_shell_variable(rest));
                filled.text.push('$');
                rest = &rest[1..];
                continue;
            };
            let written = name.len() + "${}".len();
            let value = (self.env)(name).and_then(|value| value.into_string().ok());
            match value.filter(|value| !is_place || !value.is_empty()) {
                Some(value) => filled.text.push_str(&value),
                None => {
                    filled.text.push_str(&rest[..written]);
                    filled.unset.push(name.to_owned());
                }
            }
            rest = &rest[written..];
        }
        filled.text.push_str(rest);
        filled
    }

    /// The absolute path that this text is, whose variables are filled in already.
    pub(crate) fn path(&self, text: &str) -> PathBuf {
        match self.home_of(text) {
            Some(path) => path,
            None => plain(&self.folder.join(text)),
        }
    }

    /// A program: a name without a slash stays as it is, to be looked for on the `PATH`.
    pub(crate) fn program(&self, text: &str) -> String {
        match text.contains('/') {
            true => self.path(text).into_os_string().into_string().unwrap_or_else(|_| text.to_owned()),
            false => text.to_owned(),
        }
    }

    /// The path that begins with `~`, if it does.
    pub(crate) fn home_of(&self, text: &str) -> Option<PathBuf> {
        let rest = text.strip_prefix('~')?;
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
        let set = (self.env)("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = set.or_else(|| User::from_uid(Uid::current()).ok().flatten().map(|user| user.dir))?;
        Some(plain(&home.join(rest.trim_start_matches('/'))))
    }
}

/// Without `.` and slashes at the end; `..` stays, since what is before it may be a link.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Whether this begins with `$NAME`, as a shell has it.
fn is_shell_variable(text: &str) -> bool {
    text[1..].starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
}

/// The name in `${NAME}`, if this begins so.
fn variable(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("${")?;
    let end = rest.bytes().position(|byte| byte != b'_' && !byte.is_ascii_alphanumeric())?;
    let (name, rest) = rest.split_at(end);
    let begins = name.starts_with(|c: char| !c.is_ascii_digit());
    (begins && rest.starts_with('}')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<OsString> {
        match name {
            "HOME" => Some("/home/will".into()),
            "KEY" => Some("a$${b".into()),
            "EMPTY" => Some("".into()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_filled_in() {
        let expander = Expander::new(Path::new("/etc/sidekicks.jsonc"), &env);
        let cases: [(&str, &str, &[&str]); 9] = [
            ("", "", &[]),
            ("plain", "plain", &[]),
            ("${KEY}", "a$${b", &[]),
            ("Bearer ${KEY}!", "Bearer a$${b!", &[]),
            ("${EMPTY}x", "x", &[]),
            ("${NO}${KEY}${OTHER}", "${NO}a$${b${OTHER}", &["NO", "OTHER"]),
            ("$KEY", "$KEY", &[]),
            ("$${KEY}", "${KEY}", &[]),
            ("$$${KEY}", "$${KEY}", &[]),
        ];
        for (text, expected, names) in cases {
            let unset = names.iter().map(ToString::to_string).collect();
            assert_eq!(expander.text(text), Filled { text: expected.into(), unset, is_odd: false }, "{text}");
        }
    }

    #[test]
    fn what_is_no_variable_stays_and_is_known_to_be_odd() {
        let expander = Expander::new(Path::new("/etc/sidekicks.jsonc"), &env);
        // Each with whether it is odd in a text, and in a path.
        let cases = [
            ("${KEY:-x}", true, true),
            ("a ${", true, true),
            ("${1}", true, true),
            ("${} é$", true, true),
            ("$HOME/x", false, true),
            ("~/$_X", false, true),
            ("x$HOME", false, false),
            ("$1/$/$é", false, false),
            ("$${KEY:-x}", false, false),
        ];
        for (text, in_text, in_path) in cases {
            let (filled, place) = (expander.text(text), expander.place(text));
            assert_eq!((filled.is_odd, place.is_odd), (in_text, in_path), "{text}");
            assert!(filled.unset.is_empty() && filled.text == text.replace("$${", "${"));
        }
    }

    #[test]
    fn a_path_has_no_empty_variable() {
        let expander = Expander::new(Path::new("/etc/sidekicks.jsonc"), &env);
        assert_eq!(expander.place("${EMPTY}/x").unset, ["EMPTY"]);
        assert_eq!(expander.place("/${NO}/x").known(), None);
    }

    #[test]
    fn paths_begin_at_the_folder_of_the_file() {
        let expander = Expander::new(Path::new("/etc/sidekicks/sidekicks.jsonc"), &env);
        let cases = [
            ("src", "/etc/sidekicks/src"),
            ("./src/", "/etc/sidekicks/src"),
            ("../x", "/etc/sidekicks/../x"),
            ("/srv/api", "/srv/api"),
            ("~", "/home/will"),
            ("~/src/api", "/home/will/src/api"),
            ("~//x", "/home/will/x"),
            ("~other/x", "/etc/sidekicks/~other/x"),
        ];
        for (text, expected) in cases {
            assert_eq!(expander.path(text), Path::new(expected), "{text}");
        }
        assert_eq!(expander.program("codex-acp"), "codex-acp");
        assert_eq!(expander.program("./agent"), "/etc/sidekicks/agent");
        assert_eq!(expander.program("~/bin/agent"), "/home/will/bin/agent");
    }
}
