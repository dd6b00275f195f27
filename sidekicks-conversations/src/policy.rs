//! What is decided about a question before anybody is asked.

mod glob;

use std::path::{Path, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::danger::{Simple, resolved};
use crate::permission::{Action, Permission};

/// What becomes of an agent's questions before anybody is asked; the [`Rule`]s of its profile come first.
///
/// It never widens: an agent is allowed something once, and refused something once, whatever else it offers. Where it
/// offers no such answer to allow with, or two of which one may change more than this one answer, a person is asked; where
/// it offers none to refuse with, the question is answered "cancelled".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Policy {
    /// A person, or the [`Decider`](crate::Decider), is asked.
    #[default]
    Ask,
    /// Reading and searching is allowed, if it runs no command, changes no file and nothing is
    /// [flagged](Permission::dangers). Else as [`Ask`](Self::Ask).
    AllowReads,
    /// Everything is allowed, what is flagged too.
    AllowAll,
    /// Everything is refused.
    DenyAll,
}

/// What a [`Rule`] decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decide {
    /// It is allowed once, unless something is [flagged](Permission::dangers): then somebody is asked.
    Allow,
    /// Somebody is asked, whatever the policy.
    Ask,
    /// It is refused once.
    Deny,
}

/// What is decided about some of an agent's questions. Of the rules of a profile the first that fits counts; all that a
/// rule says has to fit.
///
/// A doubt is never in favour of the agent. A rule that *allows* fits only what it covers entirely: every command of the
/// line, every path. One that *asks* or *denies* fits where one command or one path does; and where that cannot be told,
/// because a command is hidden or none of the paths is known, somebody is asked, unless what comes after it denies.
///
/// In JSON: `{"decide": "allow", "command": "git log *"}`. A key that does not exist is an error: without what it was meant
/// to say the rule would fit more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schemars", schemars(extend("additionalProperties" = true)))] // As it is told in an event.
#[non_exhaustive]
pub struct Rule {
    /// What it decides.
    pub decide: Decide,
    /// It fits only what is to be done so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// It fits only commands that this pattern stands for: `*` is any text, `?` one character, and everything else itself.
    /// Where it ends in a blank and `*` the command may also end before the blank: `git log *` fits `git log`.
    ///
    /// The command line is read as a shell reads it, and each simple command is looked at by itself, with one blank between
    /// its words: of `cd a && sudo make` these are `cd a`, `sudo make` and `make`. To be allowed a command has to fit as it
    /// is written, with its quotes, what it sets (`A=1 make`) and where it writes; where it appends to a file, the pattern
    /// has to have a `>>` too. To be asked about, or denied, it is enough that it fits without all that, as `\git 'push'`,
    /// `/usr/bin/git push` and `git -C a push` fit `git push`; about `git $x` somebody is asked. Without the feature `dangers` no command is known well enough to be allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// It fits only [paths](Permission::paths) that this pattern stands for: `*` is any text in one name, `?` one character
    /// of it, and `**` any number of names. What does not begin with `/` or `~` is below the folder that the agent works in.
    /// Whose home `~` is nobody knows: where a pattern or a path has it and the other may be there, somebody is asked.
    /// Links are not followed, and what a command touches is not known: such a rule allows no command, unless it has a
    /// pattern for that too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Rule {
    /// A rule that fits everything.
    ///
    /// ```
    /// use sidekicks_conversations::{Action, Decide, Rule};
    ///
    /// let rules = [
    ///     Rule::new(Decide::Deny).path("**/.env"),
    ///     Rule::new(Decide::Allow).command("cargo *"),
    ///     Rule::new(Decide::Allow).action(Action::EditFile).path("src/**"),
    /// ];
    /// # assert_eq!(serde_json::json!(rules[1]), serde_json::json!({"decide": "allow", "command": "cargo *"}));
    /// ```
    pub fn new(decide: Decide) -> Self {
        Self { decide, action: None, command: None, path: None }
    }

    /// Lets it fit only what is to be done so.
    pub fn action(mut self, action: Action) -> Self {
        self.action = Some(action);
        self
    }

    /// Lets it fit only commands that this pattern stands for.
    pub fn command(mut self, pattern: impl Into<String>) -> Self {
        self.command = Some(pattern.into());
        self
    }

    /// Lets it fit only paths that this pattern stands for.
    pub fn path(mut self, pattern: impl Into<String>) -> Self {
        self.path = Some(pattern.into());
        self
    }
}

/// Reads the rule of an event: what a later version says of it beside is left out, since here it only tells what was.
pub(crate) fn told<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Rule>, D::Error> {
    let Some(mut told) = Option::<Map<String, Value>>::deserialize(deserializer)? else { return Ok(None) };
    told.retain(|key, _| ["decide", "action", "command", "path"].contains(&key.as_str()));
    Rule::deserialize(Value::Object(told)).map(Some).map_err(D::Error::custom)
}

/// What is known of a question.
pub(crate) struct Case<'a> {
    pub(crate) permission: &'a Permission,
    /// All simple commands of its command, where none may be hidden.
    pub(crate) commands: Option<&'a [Simple]>,
    /// The folder that the agent works in.
    pub(crate) cwd: &'a Path,
}

/// Whether a rule fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fits {
    No,
    Perhaps,
    Yes,
}

/// What these rules and this policy decide, and by which rule.
pub(crate) fn decide<'a>(policy: Policy, rules: &'a [Rule], case: &Case<'_>) -> (Decide, Option<&'a Rule>) {
    let mut doubt = None;
    let mut decided = None;
    for rule in rules {
        match (rule.decide, case.fits(rule)) {
            (_, Fits::No) | (Decide::Allow, Fits::Perhaps) => continue,
            (_, Fits::Perhaps) => {
                doubt = doubt.or(Some(rule));
                continue;
            }
            (Decide::Allow, Fits::Yes) if case.is_flagged() => decided = Some((Decide::Ask, Some(rule))),
            (decide, Fits::Yes) => decided = Some((decide, Some(rule))),
        }
        break;
    }
    let by_policy = || match policy {
        Policy::Ask => Decide::Ask,
        Policy::AllowReads if case.only_reads() => Decide::Allow,
        Policy::AllowReads => Decide::Ask,
        Policy::AllowAll => Decide::Allow,
        Policy::DenyAll => Decide::Deny,
    };
    let (decide, rule) = decided.unwrap_or_else(|| (by_policy(), None));
    match doubt {
        // What is refused either way needs nobody.
        Some(doubt) if decide != Decide::Deny => (Decide::Ask, Some(doubt)),
        _ => (decide, rule),
    }
}

impl Case<'_> {
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
        if rule.action.is_some_and(|action| action != self.permission.action) {
            return Fits::No;
        }
        let allows = rule.decide == Decide::Allow;
        let command = rule.command.as_ref().map_or(Fits::Yes, |pattern| self.fits_command(pattern, allows));
        let path = match &rule.path {
            Some(_) if allows && rule.command.is_none() && self.runs() => Fits::No,
            Some(pattern) => self.fits_path(pattern, allows),
            None => Fits::Yes,
        };
        command.min(path)
    }

    fn fits_command(&self, pattern: &str, allows: bool) -> Fits {
        if !self.runs() {
            return Fits::No;
        }
        let is = |command: &str| glob::is_command(pattern, command);
        let Some(commands) = self.commands else {
            let whole = self.permission.command.as_deref();
            return if !allows && whole.is_some_and(is) { Fits::Yes } else { Fits::Perhaps };
        };
        // One that has `2>&1` says nothing of files.
        let appends = pattern.contains(">>") || pattern.contains("<>");
        let fits = match allows {
            true => {
                let is_allowed = |it: &Simple| is(&it.written) && (!it.appends || appends);
                !commands.is_empty() && commands.iter().all(is_allowed)
            }
            false => commands.iter().any(|it| is(&it.written) || is(&it.plain) || is(&it.bare)),
        };
        let may_be = |it: &Simple| it.guessed.as_ref().is_some_and(|guessed| glob::may_be_command(pattern, guessed));
        match fits {
            true => Fits::Yes,
            false if !allows && commands.iter().any(may_be) => Fits::Perhaps,
            false => Fits::No,
        }
    }

    fn fits_path(&self, pattern: &str, allows: bool) -> Fits {
        let Permission { action, paths, .. } = self.permission;
        let whole = |path: &str| resolved(self.cwd, Path::new(path));
        let pattern = whole(pattern);
        let fits = match allows {
            true => !paths.is_empty() && paths.iter().all(|path| glob::is_path(&pattern, &whole(path))),
            // Some file systems do not tell upper from lower case.
            false => {
                let folded = |path: &Path| PathBuf::from(path.to_string_lossy().to_ascii_lowercase());
                let pattern = folded(&pattern);
                let of_all = |is: &dyn Fn(&Path) -> bool| paths.iter().any(|path| is(&folded(&whole(path))));
                // Whoever is no shell takes a `~` for a name as any other.
                let by_name =
                    |path: &String| glob::is_path(&pattern, &folded(&resolved(Path::new("/"), &self.cwd.join(path))));
                let fits = of_all(&|path| glob::is_path(&pattern, path)) || paths.iter().any(by_name);
                if !fits && of_all(&|path| glob::may_be_path(&pattern, path)) {
                    return Fits::Perhaps;
                }
                fits
            }
        };
        let files = matches!(
            action,
            Action::EditFile
                | Action::DeleteFile
                | Action::MoveFile
                | Action::ReadFile
                | Action::Search
                | Action::Other
        );
        match fits {
            true => Fits::Yes,
            false if paths.is_empty() && files => Fits::Perhaps,
            false => Fits::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::danger::{analyse, of_files};
    use crate::part::Diff;

    /// A question about a command.
    fn run(command: &str) -> Permission {
        let mut permission = Permission::new("p1", "a".into(), "T");
        permission.action = Action::RunCommand;
        permission.command = Some(command.to_owned());
        permission
    }

    /// A question about files.
    fn on(action: Action, paths: &[&str]) -> Permission {
        let mut permission = Permission::new("p1", "a".into(), "T");
        permission.action = action;
        permission.paths = paths.iter().map(|&path| path.to_owned()).collect();
        permission.dangers = of_files(action, &permission.paths, &[], &[], Path::new("/work"));
        permission
    }

    /// What is decided, and by which rule.
    fn decided(policy: Policy, rules: &[Rule], mut permission: Permission) -> (Decide, Option<usize>) {
        let analysis = permission.command.as_deref().map(analyse);
        permission.dangers.extend(analysis.iter().flat_map(|it| it.dangers.clone()));
        let commands = analysis.as_ref().and_then(|it| it.commands.as_deref());
        let case = Case { permission: &permission, commands, cwd: Path::new("/work") };
        let (decide, rule) = decide(policy, rules, &case);
        (decide, rule.and_then(|rule| rules.iter().position(|it| std::ptr::eq(it, rule))))
    }

    #[test]
    fn a_policy_decides_alone() {
        let mut diff = on(Action::ReadFile, &["a"]);
        diff.diffs = [Diff::new("a", "x")].into();
        let mut odd = run("cat a");
        odd.action = Action::ReadFile;
        // With `allow_reads`, `allow_all` and `deny_all`.
        let table = [
            ("read", on(Action::ReadFile, &["a"]), Decide::Allow),
            ("search", on(Action::Search, &[]), Decide::Allow),
            ("a read that changes", diff, Decide::Ask),
            ("a read that runs", odd, Decide::Ask),
            ("edit", on(Action::EditFile, &["a"]), Decide::Ask),
            ("delete", on(Action::DeleteFile, &["a"]), Decide::Ask),
            ("fetch", on(Action::Fetch, &[]), Decide::Ask),
            ("other", on(Action::Other, &[]), Decide::Ask),
            ("run", run("ls"), Decide::Ask),
        ];
        for (what, permission, reads) in table {
            let decide = |policy| decided(policy, &[], permission.clone());
            assert_eq!(decide(Policy::Ask), (Decide::Ask, None), "{what}");
            assert_eq!(decide(Policy::AllowReads), (reads, None), "{what}");
            assert_eq!(decide(Policy::AllowAll), (Decide::Allow, None), "{what}");
            assert_eq!(decide(Policy::DenyAll), (Decide::Deny, None), "{what}");
        }
        let mut flagged = on(Action::ReadFile, &["a"]);
        flagged.dangers = vec![crate::Danger::not_analysed()];
        assert_eq!(decided(Policy::AllowReads, &[], flagged.clone()), (Decide::Ask, None));
        assert_eq!(decided(Policy::AllowAll, &[], flagged), (Decide::Allow, None));
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = [
            Rule::new(Decide::Deny).path("**/.env"),
            Rule::new(Decide::Ask).action(Action::Fetch),
            Rule::new(Decide::Allow).action(Action::EditFile).path("src/**"),
            Rule::new(Decide::Deny).action(Action::EditFile),
        ];
        let table = [
            (on(Action::EditFile, &["src/a"]), Decide::Allow, Some(2)),
            (on(Action::EditFile, &["/work/src/x/../a"]), Decide::Allow, Some(2)),
            (on(Action::EditFile, &["src/../a"]), Decide::Deny, Some(3)),
            (on(Action::EditFile, &["src/a", "b"]), Decide::Deny, Some(3)),
            (on(Action::EditFile, &["src/a", "src/.env"]), Decide::Deny, Some(0)),
            (on(Action::ReadFile, &["sub/.ENV"]), Decide::Deny, Some(0)),
            (on(Action::ReadFile, &["b"]), Decide::Allow, None),
            (on(Action::ReadFile, &["~x/../.env"]), Decide::Deny, Some(0)),
            (on(Action::ReadFile, &["~/.env"]), Decide::Deny, Some(0)),
            // Which file it is nobody knows.
            (on(Action::ReadFile, &[]), Decide::Ask, Some(0)),
            (on(Action::Other, &[]), Decide::Ask, Some(0)),
            (on(Action::Fetch, &[]), Decide::Ask, Some(1)),
            (run("make"), Decide::Allow, None),
        ];
        for (permission, decide, rule) in table {
            let shown = format!("{:?} {:?}", permission.action, permission.paths);
            assert_eq!(decided(Policy::AllowAll, &rules, permission), (decide, rule), "{shown}");
        }
    }

    #[test]
    fn a_doubt_takes_no_denial_away() {
        let first = Rule::new(Decide::Deny).path("**/.env");
        let unknown = on(Action::ReadFile, &[]);
        let reads = |decide| Rule::new(decide).action(Action::ReadFile);
        let by = |policy, rules: &[Rule]| decided(policy, rules, unknown.clone());
        assert_eq!(by(Policy::DenyAll, std::slice::from_ref(&first)), (Decide::Deny, None));
        assert_eq!(by(Policy::Ask, &[first.clone(), reads(Decide::Deny)]), (Decide::Deny, Some(1)));
        assert_eq!(by(Policy::DenyAll, &[first, reads(Decide::Allow)]), (Decide::Ask, Some(0)));
    }

    #[test]
    fn whose_home_it_is_somebody_is_asked() {
        let table = [
            ("~/.ssh/**", "~/.ssh/id", Decide::Deny),
            ("~/.ssh/**", "/home/me/.ssh/id", Decide::Ask),
            ("/home/me/.ssh/**", "~/.ssh/id", Decide::Ask),
            ("~/.ssh/**", "src/a", Decide::Allow),
        ];
        for (pattern, path, decide) in table {
            let rules = [Rule::new(Decide::Deny).path(pattern)];
            assert_eq!(decided(Policy::AllowAll, &rules, on(Action::ReadFile, &[path])).0, decide, "{pattern} {path}");
            let rules = [Rule::new(Decide::Allow).path(pattern)];
            let (allowed, _) = decided(Policy::Ask, &rules, on(Action::ReadFile, &[path]));
            assert_eq!(allowed == Decide::Allow, decide == Decide::Deny, "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_flagged_is_asked_and_not_allowed_by_a_rule() {
        let rules = [Rule::new(Decide::Allow), Rule::new(Decide::Deny)];
        assert_eq!(decided(Policy::AllowAll, &rules, on(Action::EditFile, &["../a"])), (Decide::Ask, Some(0)));
        assert_eq!(decided(Policy::DenyAll, &rules, on(Action::EditFile, &["a"])), (Decide::Allow, Some(0)));
    }

    #[cfg(feature = "dangers")]
    #[test]
    fn commands_are_allowed_as_a_whole_and_denied_in_part() {
        use Decide::{Allow, Ask, Deny};
        // What a rule that allows makes of it under `ask`, and what one that denies makes of it under `allow_all`.
        let table: &[(&str, &str, Decide, Decide)] = &[
            ("git log *", "git log -p", Allow, Deny),
            ("git log *", "git log", Allow, Deny),
            ("git log *", "git status", Ask, Allow),
            ("git *", "git log && git status | git help", Allow, Deny),
            ("git *", "git log && ls", Ask, Deny),
            ("git *", "echo $(git log)", Ask, Deny),
            ("git *", "sudo git log", Ask, Deny),
            ("*", "ls | wc -l", Allow, Deny),
            ("*", "python3 - <<'E'\nprint(1)\nE", Allow, Deny),
            // What is set before it may change what it does.
            ("git *", "PATH=/tmp git log", Ask, Deny),
            ("git *", "GIT_PAGER='rm a' git log", Ask, Deny),
            // It is the same command for a shell.
            ("git push *", "\\git 'push'", Ask, Deny),
            ("echo *", "echo a >> .bashrc", Ask, Deny),
            ("echo * >> *", "echo a >> log", Allow, Deny),
            ("make *", "make 2>&1 > /dev/null", Allow, Deny),
            ("cargo * 2>&1", "cargo test >> .bashrc 2>&1", Ask, Deny),
            ("cargo * >> log 2>&1", "cargo test >> log 2>&1", Allow, Deny),
            ("git push *", "/usr/bin/git push", Ask, Deny),
            ("git push *", "git -C a --no-pager push -f", Ask, Deny),
            // A word that becomes another one may be any.
            ("git push *", "for x in push; do git $x; done", Ask, Ask),
            ("git push *", "f() { git \"$@\"; }; f push", Ask, Ask),
            ("git push *", "git pus{h,}", Ask, Ask),
            ("git push *", "echo push | xargs git", Ask, Ask),
            ("git push *", "git commit -m \"$x\"", Ask, Allow),
            // It runs another command than those that are named.
            ("cargo *", "[[ 'a[$(id)]' -eq 0 ]]; cargo build", Ask, Deny),
            ("cargo *", "for x in 'a[$(id)]'; do cargo $((x)); done", Ask, Deny),
            // What is flagged.
            ("cargo *", "cargo build > /dev/fd/../../../a", Ask, Deny),
            ("rm *", "rm a", Ask, Deny),
            ("echo *", "echo a > b", Ask, Deny),
            // What cannot be told.
            ("ls *", "eval \"$x\"", Ask, Ask),
            ("eval *", "eval \"$x\"", Ask, Deny),
            ("ls *", "echo 'a", Ask, Ask),
            ("*", "# nothing", Ask, Allow),
        ];
        for (pattern, command, allowed, denied) in table {
            let by = |decide| [Rule::new(decide).command(*pattern)];
            let (decide, _) = decided(Policy::Ask, &by(Allow), run(command));
            assert_eq!(decide, *allowed, "{pattern} allows {command}");
            let (decide, _) = decided(Policy::AllowAll, &by(Deny), run(command));
            assert_eq!(decide, *denied, "{pattern} denies {command}");
            let asked = if *denied == Allow { Allow } else { Ask };
            let (decide, _) = decided(Policy::AllowAll, &by(Ask), run(command));
            assert_eq!(decide, asked, "{pattern} asks about {command}");
        }
    }

    #[test]
    fn a_command_that_nobody_knows_is_not_allowed_nor_let_through() {
        let (allow, deny) = ([Rule::new(Decide::Allow).command("*")], [Rule::new(Decide::Deny).command("rm *")]);
        let unknown = on(Action::RunCommand, &[]);
        assert_eq!(decided(Policy::Ask, &allow, unknown.clone()), (Decide::Ask, None));
        assert_eq!(decided(Policy::AllowAll, &deny, unknown), (Decide::Ask, Some(0)));
        assert_eq!(decided(Policy::AllowAll, &deny, on(Action::EditFile, &["a"])), (Decide::Allow, None));
    }

    #[cfg(feature = "dangers")]
    #[test]
    fn a_rule_about_paths_allows_no_command() {
        let mut touch = run("touch a");
        touch.paths = vec!["a".to_owned()];
        let by_path = Rule::new(Decide::Allow).path("**");
        assert_eq!(decided(Policy::Ask, std::slice::from_ref(&by_path), touch.clone()), (Decide::Ask, None));
        assert_eq!(decided(Policy::Ask, &[by_path.command("touch *")], touch.clone()), (Decide::Allow, Some(0)));
        assert_eq!(decided(Policy::AllowAll, &[Rule::new(Decide::Deny).path("a")], touch), (Decide::Deny, Some(0)));
    }

    #[test]
    fn a_rule_with_a_word_that_does_not_exist_is_no_rule() {
        let read = |json: &str| serde_json::from_str::<Rule>(json).map_err(|error| error.to_string());
        let rule = Rule::new(Decide::Deny).action(Action::RunCommand).command("git push *");
        assert_eq!(read(r#"{"decide": "deny", "action": "run_command", "command": "git push *"}"#), Ok(rule));
        for wrong in [r#"{"decide": "allow", "comand": "ls"}"#, r#"{"decide": "maybe"}"#, "{}"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
