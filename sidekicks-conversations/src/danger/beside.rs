//! The dangers of what stands beside a command.

use std::path::Path;

use super::resolved;
use crate::permission::{Danger, DangerLevel};
use crate::tool::Beside;

/// That a command is run elsewhere, or otherwise than it seems.
pub(crate) fn of_beside(beside: &Beside<'_>, cwd: &Path) -> Vec<Danger> {
    let cwd = resolved(Path::new(""), cwd);
    let elsewhere = beside.folder.is_some_and(|folder| !resolved(&cwd, Path::new(folder)).starts_with(&cwd));
    let told = [(elsewhere, "outside-workspace"), (beside.otherwise, "hidden-command")];
    told.iter().filter(|(is, _)| *is).map(|(_, code)| Danger::new(*code, DangerLevel::Unclear)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_is_run() {
        let cases: [(Option<&str>, bool, &[&str]); 7] = [
            (None, false, &[]),
            (Some("sub"), false, &[]),
            (Some("/work/sub/.."), false, &[]),
            (Some("/work/.."), false, &["outside-workspace"]),
            (Some("~"), false, &["outside-workspace"]),
            (Some("../work2"), true, &["outside-workspace", "hidden-command"]),
            (None, true, &["hidden-command"]),
        ];
        for (folder, otherwise, expected) in cases {
            let found = of_beside(&Beside { folder, otherwise }, Path::new("/work"));
            let codes: Vec<&str> = found.iter().map(|danger| danger.code.as_str()).collect();
            assert_eq!(codes, expected, "{folder:?}");
        }
    }
}
