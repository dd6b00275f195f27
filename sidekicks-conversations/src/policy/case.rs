//! Which rule fits a question.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Decide, Policy, Rule, glob};
use crate::danger::{Simple, resolved};
use crate::permission::{Action, Permission};
use crate::tool::{Beside, beside};

/// What is known of a question.
pub(crate) struct Case<'a> {
    permission: &'a Permission,
    /// All simple commands of its command, where none may be hidden.
    commands: Option<&'a [Simple]>,
    /// The folder that the agent works in.
    cwd: &'a Path,
    /// What stands beside the command.
    beside: Beside<'a>,
}

/// Whether a rule fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fits {
    No,
    Perhaps,
    Yes,
}

impl Fits {
    fn if_so(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

/// What these rules and this policy decide, and by which rule. A rule that fits perhaps is a doubt: nothing is allowed any
/// more, but what is refused either way needs nobody.
pub(crate) fn decide<'a>(policy: Policy, rules: &'a [Rule], case: &Case<'_>) -> (Decide, Option<&'a Rule>) {
    let mut doubt = None;
    for rule in rules {
        match (rule.decide, case.fits(rule)) {
            (_, Fits::No) | (Decide::Allow, Fits::Perhaps) => {}
            (Decide::Ask | Decide::Deny, Fits::Perhaps) => doubt = doubt.or(Some(rule)),
            (Decide::Deny, Fits::Yes) => return (Decide::Deny, Some(rule)),
            (Decide::Allow, Fits::Yes) if doubt.is_none() && !case.is_flagged() => return (Decide::Allow, Some(rule)),
            (Decide::Allow | Decide::Ask, Fits::Yes) => return (Decide::Ask, doubt.or(Some(rule))),
        }
    }
    match (policy, doubt) {
        (Policy::DenyAll, _) => (Decide::Deny, None),
        (_, Some(doubt)) => (Decide::Ask, Some(doubt)),
        (Policy::AllowAll, None) => (Decide::Allow, None),
        (Policy::AllowReads, None) if case.only_reads() => (Decide::Allow, None),
        (Policy::AllowReads | Policy::Ask, None) => (Decide::Ask, None),
    }
}

impl<'a> Case<'a> {
    pub(crate) fn of(permission: &'a Permission, commands: Option<&'a [Simple]>, cwd: &'a Path) -> Self {
        Self { permission, commands, cwd, beside: beside(&permission.raw_input) }
    }

    fn is_flagged(&self) -> bool {
        !self.permission.dangers.is_empty()
    }

    /// Whether a command is to be run, be it one that nobody knows.
    fn runs(&self) -> bool {
        self.permission.command.is_some() || self.permission.action == Action::RunCommand
    }

    fn only_reads(&self) -> bool {
        let Permission { action, diffs, .. } = self.permission;
        let reads = matches!(action, Action::ReadFile | Action::Search);
        reads && diffs.is_empty() && !self.runs() && !self.is_flagged()
    }

    fn fits(&self, rule: &Rule) -> Fits {
        if rule.action.is_some_and(|action| !self.is_done(action, rule.decide)) {
            return Fits::No;
        }
        let (command, path) = (rule.command.as_deref(), rule.path.as_deref());
        if rule.decide == Decide::Allow {
            // What a command touches is not known.
            let is_about_files = !self.runs() || command.is_some();
            let command = command.map_or(Fits::Yes, |pattern| self.is_allowed(pattern));
            command.min(path.map_or(Fits::Yes, |pattern| Fits::if_so(is_about_files && self.is_within(pattern))))
        } else {
            let command = command.map_or(Fits::Yes, |pattern| self.may_run(pattern));
            command.min(path.map_or(Fits::Yes, |pattern| self.may_touch(pattern)))
        }
    }

    /// A change of several files may delete one of them, which is what a rule forbids.
    fn is_done(&self, action: Action, decide: Decide) -> bool {
        let deletes = || self.permission.dangers.iter().any(|danger| danger.code == "deletes-files");
        let forbids = decide != Decide::Allow && action == Action::DeleteFile && !self.runs();
        action == self.permission.action || (forbids && deletes())
    }

    /// Whether every command is one of these, with all that stands around it.
    fn is_allowed(&self, pattern: &str) -> Fits {
        let Some(commands) = self.commands else { return Fits::if_so(false) };
        // One that has `2>&1` says nothing of files.
        let appends = pattern.contains(">>") || pattern.contains("<>");
        let is_allowed = |it: &Simple| glob::is_command(pattern, &it.written) && (!it.appends || appends);
        Fits::if_so(!commands.is_empty() && commands.iter().all(is_allowed))
    }

    /// Whether every path is one of these.
    fn is_within(&self, pattern: &str) -> bool {
        let pattern = self.whole(pattern);
        let paths = &self.permission.paths;
        !paths.is_empty() && paths.iter().all(|path| glob::is_path(&pattern, &self.whole(path)))
    }

    /// Whether some command is one of these, however it is written.
    fn may_run(&self, pattern: &str) -> Fits {
        let is = |command: &str| glob::is_command(pattern, command);
        let may_be = |it: &Simple| it.guessed.as_ref().is_some_and(|guessed| glob::may_be_command(pattern, guessed));
        match self.commands {
            Some(commands) if commands.iter().any(|it| is(&it.written) || is(&it.plain) || is(&it.bare)) => Fits::Yes,
            Some(commands) if self.beside.otherwise || commands.iter().any(may_be) => Fits::Perhaps,
            Some(_) => Fits::No,
            None if self.permission.command.as_deref().is_some_and(is) => Fits::Yes,
            None if self.runs() => Fits::Perhaps,
            None => Fits::No,
        }
    }

    /// Whether some path is one of these, in whatever folder where the pattern begins with `**`.
    fn may_touch(&self, pattern: &str) -> Fits {
        let anywhere = pattern == "**" || pattern.starts_with("**/");
        let from = if anywhere { Path::new("/") } else { self.cwd };
        let pattern = folded(&resolved(from, Path::new(pattern)));
        let Permission { action, paths, .. } = self.permission;
        let told = paths.iter().map(|path| self.is_there(&pattern, path, self.cwd)).max();
        // Nobody knows which file it is.
        let unknown = !self.runs() && !matches!(action, Action::Fetch | Action::SwitchMode);
        let by_file = told.unwrap_or(if unknown { Fits::Perhaps } else { Fits::No });
        by_file.max(self.may_name(&pattern))
    }

    /// Whether a path, which may be one from `folder` on, is one of these.
    fn is_there(&self, pattern: &Path, path: &str, folder: &Path) -> Fits {
        let whole = folded(&resolved(folder, Path::new(path)));
        // Whoever is no shell takes a `~` for a name as any other.
        let by_name = folded(&resolved(Path::new("/"), &folder.join(path)));
        // What is done to a folder is done to what is in it.
        let action = self.permission.action;
        let whole_folders = matches!(action, Action::Search | Action::DeleteFile | Action::MoveFile);
        match () {
            () if [&whole, &by_name].iter().any(|path| glob::is_path(pattern, path)) => Fits::Yes,
            () if glob::may_be_path(pattern, &whole) => Fits::Perhaps,
            () if whole_folders && glob::may_be_in(pattern, &whole) => Fits::Perhaps,
            () => Fits::No,
        }
    }

    /// Whether a word of the command is perhaps one of these paths. What else it touches is not known.
    fn may_name(&self, pattern: &Path) -> Fits {
        let Some(commands) = self.commands else { return if self.runs() { Fits::Perhaps } else { Fits::No } };
        // A word that such a path is a piece of would be taken apart with it.
        let apart = |c: char| " \n\t=:,@<>'\"".contains(c);
        if self.beside.otherwise || pattern.to_string_lossy().contains(apart) {
            return Fits::Perhaps;
        }
        let folder = resolved(self.cwd, Path::new(self.beside.folder.unwrap_or_default()));
        let texts = commands.iter().flat_map(|it| [&it.written, &it.plain]);
        // Wrappers repeat what they run.
        let pieces: HashSet<&str> = texts.flat_map(|text| text.split(apart)).filter(|it| !it.is_empty()).collect();
        let names = |piece: &str| self.is_there(pattern, piece, &folder) != Fits::No;
        if pieces.into_iter().any(names) { Fits::Perhaps } else { Fits::No }
    }

    fn whole(&self, path: &str) -> PathBuf {
        resolved(self.cwd, Path::new(path))
    }
}

/// Some file systems do not tell upper from lower case.
fn folded(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_ascii_lowercase())
}
