//! `${NAME}`, `~`, and paths that begin at the folder of the file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User};

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

    /// `text` with the variables that it names, and the names of those that are not set, which stay as they are written.
    ///
    /// `${NAME}` is a variable, `$${` is `${`, and every other `$` is itself. A variable that is not UTF-8 is not set.
    pub(crate) fn text(&self, text: &str) -> (String, Vec<String>) {
        self.fill(text, |_| true)
    }

    /// The same for what a path or a program is written with: there a variable that is empty is not set either, for it would
    /// make another folder of it.
    pub(crate) fn place(&self, text: &str) -> (String, Vec<String>) {
        self.fill(text, |value| !value.is_empty())
    }

    fn fill(&self, text: &str, is_set: impl Fn(&str) -> bool) -> (String, Vec<String>) {
        let mut expanded = String::with_capacity(text.len());
        let mut unset = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            expanded.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("$${") {
                expanded.push_str("${");
                rest = after;
                continue;
            }
            match variable(rest) {
                Some(name) => {
                    let written = name.len() + "${}".len();
                    match (self.env)(name).and_then(|value| value.into_string().ok()).filter(|value| is_set(value)) {
                        Some(value) => expanded.push_str(&value),
                        None => {
                            expanded.push_str(&rest[..written]);
                            unset.push(name.to_owned());
                        }
                    }
                    rest = &rest[written..];
                }
                None => {
                    expanded.push('$');
                    rest = &rest[1..];
                }
            }
        }
        expanded.push_str(rest);
        (expanded, unset)
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
        let cases: [(&str, &str, &[&str]); 12] = [
            ("", "", &[]),
            ("plain", "plain", &[]),
            ("${KEY}", "a$${b", &[]),
            ("Bearer ${KEY}!", "Bearer a$${b!", &[]),
            ("${EMPTY}x", "x", &[]),
            ("${NO}${KEY}${OTHER}", "${NO}a$${b${OTHER}", &["NO", "OTHER"]),
            ("$KEY", "$KEY", &[]),
            ("$${KEY}", "${KEY}", &[]),
            ("$$${KEY}", "$${KEY}", &[]),
            ("${KEY:-x}", "${KEY:-x}", &[]),
            ("${", "${", &[]),
            ("${1} ${} é$", "${1} ${} é$", &[]),
        ];
        for (text, expected, names) in cases {
            let (expanded, unset) = expander.text(text);
            assert_eq!(
                (expanded.as_str(), unset),
                (expected, names.iter().map(ToString::to_string).collect()),
                "{text}"
            );
        }
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
