//! What a change of files may destroy.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use crate::part::Diff;
use crate::permission::{Action, Danger, DangerLevel};
use crate::tool::FileChange;

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

/// What holds keys or passwords and hardly anything else, at the end of a path.
const SECRET_FILES: &[&str] = &[
    ".aws/credentials",
    ".config/gcloud/application_default_credentials.json",
    ".config/git/credentials",
    ".docker/config.json",
    ".git-credentials",
    ".kube/config",
    ".netrc",
    ".pgpass",
    ".vault-token",
    "etc/shadow",
];

/// The dangers of what is done to `paths`, by `diffs` and by `changes`, where relative paths are below `cwd`. Nothing is
/// looked up: a link that leads elsewhere is not seen.
pub(crate) fn of_files(
    action: Action,
    paths: &[String],
    diffs: &[Diff],
    changes: &[FileChange],
    cwd: &Path,
) -> Vec<Danger> {
    let mut found = Found::default();
    let deleted: HashSet<&str> =
        changes.iter().filter(|change| change.is_deleted).map(|change| change.path.as_str()).collect();
    for change in changes.iter().filter(|change| change.is_deleted) {
        found.add_at("deletes-files", DangerLevel::Destructive, &change.at);
    }
    if action == Action::DeleteFile {
        found.add("deletes-files", DangerLevel::Destructive);
    }
    let empties = |diff: &Diff| diff.new_text.is_empty() && diff.old_text.as_ref().is_some_and(|text| !text.is_empty());
    let is_gone = |diff: &Diff| action == Action::DeleteFile || deleted.contains(diff.path.as_str());
    if diffs.iter().any(|diff| empties(diff) && !is_gone(diff)) || changes.iter().any(|change| change.is_emptied) {
        found.add("overwrites-file", DangerLevel::Destructive);
    }
    let is_change = matches!(action, Action::EditFile | Action::DeleteFile | Action::MoveFile);
    let changed = diffs.iter().map(|diff| &diff.path).chain(changes.iter().map(|change| &change.path));
    let cwd = resolved(Path::new(""), cwd);
    for (path, is_changed) in paths.iter().map(|path| (path, is_change)).chain(changed.map(|path| (path, true))) {
        let path = resolved(&cwd, Path::new(path));
        let folded = PathBuf::from(path.to_string_lossy().to_ascii_lowercase());
        if is_changed && !path.starts_with(&cwd) {
            found.add("outside-workspace", DangerLevel::Unclear);
        }
        if is_changed && holds(&path, ".git") {
            found.add("touches-git", DangerLevel::Unclear);
        }
        let is_secret = [".ssh", ".gnupg"].iter().any(|folder| holds(&path, folder)) || ends(&folded, SECRET_FILES);
        // What a command reads, the command tells.
        if is_secret && (is_changed || action != Action::RunCommand) {
            found.add("touches-keys", DangerLevel::Unclear);
        }
        if is_changed && (ends(&folded, START_FILES) || folded.parent().is_some_and(|it| it.ends_with("etc/profile.d")))
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

    /// Each place in the command once more.
    fn add_at(&mut self, code: &str, level: DangerLevel, at: &Range<usize>) {
        if at.is_empty() {
            return self.add(code, level);
        }
        self.0.push(Danger { start: at.start, end: at.end, ..Danger::new(code, level) });
    }
}

/// Without `.` and `..`. What begins with `~` or `$HOME` is somebody's home, which is not known, so it stays there: as `~`,
/// and with a `..` that leads out of it.
pub(crate) fn resolved(cwd: &Path, path: &Path) -> PathBuf {
    let path = path.strip_prefix("file:").map_or_else(|_| path.to_owned(), |rest| Path::new("/").join(rest));
    let is_home = path.components().next().is_some_and(|first| {
        let first = first.as_os_str().to_string_lossy();
        first.starts_with('~') || matches!(&*first, "$HOME" | "${HOME}")
    });
    let whole = match path.strip_prefix("$HOME").or_else(|_| path.strip_prefix("${HOME}")) {
        Ok(rest) => Path::new("~").join(rest),
        Err(_) if is_home => path,
        Err(_) => cwd.join(path),
    };
    let mut resolved = PathBuf::new();
    for component in whole.components() {
        match component {
            Component::ParentDir if is_home && (resolved.iter().count() == 1 || resolved.ends_with("..")) => {
                resolved.push("..");
            }
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            other => resolved.push(other),
        }
    }
    resolved
}

fn ends(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.ends_with(name))
}

/// Some file systems do not tell upper from lower case.
fn holds(path: &Path, name: &str) -> bool {
    path.components().any(|component| component.as_os_str().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(action: Action, paths: &[&str], diffs: &[Diff], changes: &[FileChange]) -> Vec<String> {
        let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        let found = of_files(action, &paths, diffs, changes, Path::new("/work/app"));
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
            (Action::EditFile, "$HOME/.ssh/x", &["outside-workspace", "touches-keys"]),
            (Action::EditFile, "src/$id.rs", &[]),
            (Action::EditFile, "file:///etc/x", &["outside-workspace"]),
            (Action::EditFile, "file:///work/app/x", &[]),
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
            // What is read is told only of what is secret.
            (Action::ReadFile, "~/.ssh/id_ed25519", &["touches-keys"]),
            (Action::Search, "/home/me/.ssh", &["touches-keys"]),
            (Action::Fetch, "/home/me/.SSH/config", &["touches-keys"]),
            (Action::Other, "~/.gnupg/private-keys-v1.d/x.key", &["touches-keys"]),
            (Action::ReadFile, "~/.aws/credentials", &["touches-keys"]),
            (Action::ReadFile, "~/.aws/config", &[]),
            (Action::ReadFile, "~/.netrc", &["touches-keys"]),
            (Action::ReadFile, "~/.git-credentials", &["touches-keys"]),
            (Action::ReadFile, "~/.kube/config", &["touches-keys"]),
            (Action::ReadFile, "kube/config", &[]),
            (Action::ReadFile, "~/.docker/config.json", &["touches-keys"]),
            (Action::ReadFile, "/work/app/../../etc/shadow", &["touches-keys"]),
            (Action::EditFile, "~/.netrc", &["outside-workspace", "touches-keys"]),
            (Action::ReadFile, ".env", &[]),
            (Action::ReadFile, ".npmrc", &[]),
            (Action::ReadFile, "src/ssh/mod.rs", &[]),
            (Action::ReadFile, "~/.bashrc", &[]),
            (Action::ReadFile, ".git/config", &[]),
            (Action::RunCommand, "~/.ssh/id_ed25519", &[]),
        ];
        for (action, path, dangers) in expected {
            assert_eq!(codes(*action, &[path], &[], &[]), *dangers, "{action:?} {path}");
        }
    }

    #[test]
    fn a_file_that_is_emptied_is_told() {
        assert_eq!(codes(Action::EditFile, &[], &[diff("a", Some("x"), "")], &[]), ["overwrites-file"]);
        assert!(
            codes(
                Action::EditFile,
                &[],
                &[diff("a", None, ""), diff("b", Some(""), ""), diff("c", Some("x"), "y")],
                &[]
            )
            .is_empty()
        );
        // What a diff says is done, whatever the agent calls it.
        assert_eq!(codes(Action::Other, &[], &[diff("../a", None, "x")], &[]), ["outside-workspace"]);
    }

    fn change(path: &str, is_deleted: bool, at: Range<usize>) -> FileChange {
        FileChange { path: path.to_owned(), is_deleted, is_emptied: false, at }
    }

    #[test]
    fn what_a_patch_does_is_told() {
        let (gone, made) = (change("a", true, 0..0), change("../b", false, 0..0));
        assert_eq!(codes(Action::EditFile, &[], &[], &[gone.clone(), made]), ["deletes-files", "outside-workspace"]);
        let emptied = FileChange { is_emptied: true, ..change("a", false, 0..0) };
        assert_eq!(codes(Action::EditFile, &[], &[], &[emptied]), ["overwrites-file"]);
        // A file that is deleted is not emptied, though its diff looks so.
        let emptied = [diff("a", Some("x"), "")];
        assert_eq!(codes(Action::EditFile, &["a"], &emptied, &[gone]), ["deletes-files"]);
        assert_eq!(codes(Action::DeleteFile, &["a"], &emptied, &[]), ["deletes-files"]);
        let key = change("/root/.ssh/authorized_keys", false, 0..0);
        assert_eq!(codes(Action::RunCommand, &[], &[], &[key]), ["outside-workspace", "touches-keys"]);
    }

    #[test]
    fn each_deletion_in_a_command_has_its_place() {
        let changes = [change("a", true, 40..59), change("b", false, 60..79), change("c", true, 80..99)];
        let found = of_files(Action::RunCommand, &[], &[], &changes, Path::new("/work/app"));
        let places: Vec<_> = found.iter().map(|danger| (&*danger.code, danger.start, danger.end)).collect();
        assert_eq!(places, [("deletes-files", 40, 59), ("deletes-files", 80, 99)]);
    }

    #[test]
    fn each_danger_is_told_once() {
        assert_eq!(codes(Action::EditFile, &["../a", "../b"], &[diff("../a", None, "x")], &[]), ["outside-workspace"]);
    }
}
