//! What a change of files may destroy.

use std::path::{Component, Path, PathBuf};

use crate::part::Diff;
use crate::permission::{Action, Danger, DangerLevel};

/// What is read when somebody logs in or opens a terminal, at the end of a path.
const START_FILES: &[&str] = &[
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/fish/config.fish",
    ".cshrc",
    ".kshrc",
    ".login",
    ".profile",
    ".tcshrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "etc/bash.bashrc",
    "etc/environment",
    "etc/profile",
    "etc/zsh/zshenv",
    "etc/zsh/zshrc",
    "etc/zshenv",
    "etc/zshrc",
];

/// The dangers of what is done to `paths`, by `diffs`, where relative paths are below `cwd`. Nothing is looked up: a link
/// that leads elsewhere is not seen.
pub(crate) fn of_files(action: Action, paths: &[String], diffs: &[Diff], cwd: &Path) -> Vec<Danger> {
    let mut found = Found::default();
    if action == Action::DeleteFile {
        found.add("deletes-files", DangerLevel::Destructive);
    }
    if diffs.iter().any(|diff| diff.new_text.is_empty() && diff.old_text.as_ref().is_some_and(|text| !text.is_empty()))
    {
        found.add("overwrites-file", DangerLevel::Destructive);
    }
    let changes = matches!(action, Action::EditFile | Action::DeleteFile | Action::MoveFile);
    let changed = paths.iter().filter(|_| changes).chain(diffs.iter().map(|diff| &diff.path));
    let cwd = resolved(Path::new(""), cwd);
    for path in changed {
        let path = resolved(&cwd, Path::new(path));
        if !path.starts_with(&cwd) {
            found.add("outside-workspace", DangerLevel::Unclear);
        }
        if holds(&path, ".git") {
            found.add("touches-git", DangerLevel::Unclear);
        }
        if holds(&path, ".ssh") {
            found.add("touches-keys", DangerLevel::Unclear);
        }
        let folded = PathBuf::from(path.to_string_lossy().to_ascii_lowercase());
        if START_FILES.iter().any(|file| folded.ends_with(file))
            || folded.parent().is_some_and(|it| it.ends_with("etc/profile.d"))
        {
            found.add("touches-shell-start", DangerLevel::Unclear);
        }
    }
    found.0
}

#[derive(Default)]
struct Found(Vec<Danger>);

impl Found {
    /// Each once, in the order in which they were found.
    fn add(&mut self, code: &str, level: DangerLevel) {
        if !self.0.iter().any(|danger| danger.code == code) {
            self.0.push(Danger::new(code, level));
        }
    }
}

/// Without `.` and `..`. What begins with `~` is somebody's home, which is not known, so it stays as it is.
pub(crate) fn resolved(cwd: &Path, path: &Path) -> PathBuf {
    let is_home = path.components().next().is_some_and(|first| first.as_os_str().to_string_lossy().starts_with('~'));
    let mut resolved = PathBuf::new();
    let whole = if is_home { path.to_owned() } else { cwd.join(path) };
    for component in whole.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            other => resolved.push(other),
        }
    }
    resolved
}

/// Some file systems do not tell upper from lower case.
fn holds(path: &Path, name: &str) -> bool {
    path.components().any(|component| component.as_os_str().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(action: Action, paths: &[&str], diffs: &[Diff]) -> Vec<String> {
        let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        let found = of_files(action, &paths, diffs, Path::new("/work/app"));
        assert!(found.iter().all(|danger| (danger.start, danger.end) == (0, 0)), "{found:?}");
        assert!(found.iter().all(|danger| crate::DANGER_CODES.contains(&&*danger.code)), "{found:?}");
        found.into_iter().map(|danger| danger.code).collect()
    }

    fn diff(path: &str, old: Option<&str>, new: &str) -> Diff {
        Diff { path: path.to_owned(), old_text: old.map(str::to_owned), new_text: new.to_owned() }
    }

    #[test]
    fn paths_are_told_apart() {
        let expected: &[(Action, &str, &[&str])] = &[
            (Action::EditFile, "src/lib.rs", &[]),
            (Action::EditFile, "/work/app/src/lib.rs", &[]),
            (Action::EditFile, "./a/../src/./lib.rs", &[]),
            (Action::EditFile, "a/../../app/b", &[]),
            (Action::EditFile, "../b", &["outside-workspace"]),
            (Action::EditFile, "src/../../b", &["outside-workspace"]),
            (Action::EditFile, "/work/app2/b", &["outside-workspace"]),
            (Action::EditFile, "/work/app/../app2/b", &["outside-workspace"]),
            (Action::MoveFile, "~/b", &["outside-workspace"]),
            (Action::EditFile, "~other/b", &["outside-workspace"]),
            (Action::EditFile, "a~b", &[]),
            (Action::ReadFile, "/etc/passwd", &[]),
            (Action::Search, "../b/.git", &[]),
            (Action::DeleteFile, "src/lib.rs", &["deletes-files"]),
            (Action::DeleteFile, "/tmp/x", &["deletes-files", "outside-workspace"]),
            (Action::EditFile, ".git/hooks/pre-commit", &["touches-git"]),
            (Action::EditFile, "sub/.GIT/config", &["touches-git"]),
            (Action::EditFile, ".gitignore", &[]),
            (Action::EditFile, "~/.ssh/authorized_keys", &["outside-workspace", "touches-keys"]),
            (Action::EditFile, "/home/me/.bashrc", &["outside-workspace", "touches-shell-start"]),
            (Action::EditFile, "~/.config/fish/config.fish", &["outside-workspace", "touches-shell-start"]),
            (Action::EditFile, "/etc/profile", &["outside-workspace", "touches-shell-start"]),
            (Action::EditFile, "/etc/profile.d/x.sh", &["outside-workspace", "touches-shell-start"]),
            (Action::EditFile, ".zshenv", &["touches-shell-start"]),
            (Action::EditFile, "docs/bashrc", &[]),
            (Action::EditFile, "x.profile", &[]),
        ];
        for (action, path, dangers) in expected {
            assert_eq!(codes(*action, &[path], &[]), *dangers, "{action:?} {path}");
        }
    }

    #[test]
    fn a_file_that_is_emptied_is_told() {
        assert_eq!(codes(Action::EditFile, &[], &[diff("a", Some("x"), "")]), ["overwrites-file"]);
        assert!(
            codes(Action::EditFile, &[], &[diff("a", None, ""), diff("b", Some(""), ""), diff("c", Some("x"), "y")])
                .is_empty()
        );
        // What a diff says is done, whatever the agent calls it.
        assert_eq!(codes(Action::Other, &[], &[diff("../a", None, "x")]), ["outside-workspace"]);
    }

    #[test]
    fn each_danger_is_told_once() {
        assert_eq!(codes(Action::EditFile, &["../a", "../b"], &[diff("../a", None, "x")]), ["outside-workspace"]);
    }
}
