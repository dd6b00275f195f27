//! Tables of what rules and policies decide.

use std::path::Path;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::*;
use crate::danger::{analyse, of_files};
use crate::part::Diff;
use crate::permission::Permission;

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
    let (decide, rule) = decide(policy, rules, &Case::of(&permission, commands, Path::new("/work")));
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
fn a_denial_is_about_what_is_in_a_folder_and_in_any_folder() {
    let table = [
        (Action::ReadFile, "../other/.env", Decide::Deny),
        (Action::ReadFile, "/.env", Decide::Deny),
        (Action::ReadFile, "$HOME/.env", Decide::Deny),
        (Action::ReadFile, "~/../../.env", Decide::Deny),
        (Action::ReadFile, "~/../../env", Decide::Ask),
        (Action::ReadFile, "file:///x/.env", Decide::Deny),
        (Action::ReadFile, "sub", Decide::Allow),
        (Action::Search, "/", Decide::Ask),
        (Action::Search, "sub", Decide::Ask),
        (Action::DeleteFile, "sub", Decide::Ask),
        (Action::MoveFile, "sub/.env", Decide::Deny),
    ];
    for (action, path, decide) in table {
        let rules = [Rule::new(Decide::Deny).path("**/.env")];
        assert_eq!(decided(Policy::AllowAll, &rules, on(action, &[path])).0, decide, "{action:?} {path}");
    }
    let rules = [Rule::new(Decide::Deny).path("secret/*.key")];
    for (path, decide) in
        [(".", Decide::Ask), ("secret", Decide::Ask), ("secret/a", Decide::Allow), ("src", Decide::Allow)]
    {
        assert_eq!(decided(Policy::AllowReads, &rules, on(Action::Search, &[path])).0, decide, "{path}");
    }
    let rules = [Rule::new(Decide::Deny).path("**.pem")];
    for (path, decide) in [("a.pem", Decide::Deny), ("sub/a.pem", Decide::Allow), ("/a.pem", Decide::Allow)] {
        assert_eq!(decided(Policy::AllowAll, &rules, on(Action::ReadFile, &[path])).0, decide, "{path}");
    }
    // It is allowed in this folder only.
    let rules = [Rule::new(Decide::Allow).path("**/*.rs")];
    assert_eq!(decided(Policy::Ask, &rules, on(Action::ReadFile, &["src/a.rs"])).0, Decide::Allow);
    assert_eq!(decided(Policy::Ask, &rules, on(Action::ReadFile, &["../a.rs"])).0, Decide::Ask);
}

#[cfg(feature = "dangers")]
#[test]
fn about_a_command_that_names_such_a_path_a_person_is_asked() {
    let rules = [Rule::new(Decide::Deny).path("**/.env")];
    let table = [
        ("cat .env", Decide::Ask),
        ("cat <sub/.env", Decide::Ask),
        ("cat '.env'", Decide::Ask),
        ("docker run --env-file=.env x", Decide::Ask),
        ("cp .envrc a", Decide::Allow),
        ("make", Decide::Allow),
        ("eval \"$x\"", Decide::Ask),
        ("curl -d @.env x", Decide::Ask),
    ];
    for (command, decide) in table {
        assert_eq!(decided(Policy::AllowAll, &rules, run(command)).0, decide, "{command}");
        let of_reads = [rules[0].clone().action(Action::ReadFile)];
        assert_eq!(decided(Policy::AllowAll, &of_reads, run(command)).0, Decide::Allow, "{command}");
    }
}

#[cfg(feature = "dangers")]
#[test]
fn what_stands_beside_a_command_counts() {
    let beside = |command: &str, more: serde_json::Value| {
        let mut permission = run(command);
        permission.raw_input = std::sync::Arc::new(more);
        permission
    };
    let table = [
        (Rule::new(Decide::Deny).command("git push *"), beside("sh", json!({"stdin": "git push"})), Decide::Ask),
        (Rule::new(Decide::Deny).command("git push *"), beside("sh", json!({})), Decide::Allow),
        (Rule::new(Decide::Deny).path("/other/.env"), beside("cat .env", json!({"cwd": "/other"})), Decide::Ask),
        (Rule::new(Decide::Deny).path("secret/*"), beside("cat a", json!({"workdir": "secret"})), Decide::Ask),
        (Rule::new(Decide::Deny).path("secret/*"), beside("cat a", json!({"workdir": "sub"})), Decide::Allow),
        (Rule::new(Decide::Deny).path("my dir/a"), beside("cat 'my dir/a'", json!({})), Decide::Ask),
    ];
    for (rule, permission, decide) in table {
        let shown = format!("{rule:?} {:?}", permission.raw_input);
        assert_eq!(decided(Policy::AllowAll, &[rule], permission).0, decide, "{shown}");
    }
}

#[test]
fn a_patch_that_also_deletes_is_no_less_forbidden() {
    let mut patch = on(Action::EditFile, &["a", "b"]);
    patch.dangers = vec![crate::Danger::new("deletes-files", crate::DangerLevel::Destructive)];
    let rule = |decide| [Rule::new(decide).action(Action::DeleteFile)];
    assert_eq!(decided(Policy::AllowAll, &rule(Decide::Deny), patch.clone()), (Decide::Deny, Some(0)));
    assert_eq!(decided(Policy::DenyAll, &rule(Decide::Allow), patch), (Decide::Deny, None));
}

#[test]
fn a_rule_of_an_event_is_read_whole() {
    #[derive(serde::Deserialize)]
    struct Told(#[serde(deserialize_with = "told")] Option<Rule>);
    let rule = Rule::new(Decide::Ask).action(Action::Fetch).command("a").path("b");
    let mut written = json!(rule);
    written["more"] = json!(1);
    let Told(read) = serde_json::from_value(written).unwrap();
    assert_eq!(read, Some(rule));
}

#[test]
fn whose_home_it_is_somebody_is_asked() {
    let table = [
        ("~/.private/**", "~/.private/id", Decide::Deny),
        ("~/.private/**", "/home/me/.private/id", Decide::Ask),
        ("/home/me/.private/**", "~/.private/id", Decide::Ask),
        ("~/.private/**", "src/a", Decide::Allow),
        ("$HOME/.private/**", "~/.private/id", Decide::Deny),
        ("~/.private/**", "${HOME}/.private/id", Decide::Deny),
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

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let decide = select(vec![Decide::Allow, Decide::Ask, Decide::Deny]);
    let action = option::of(select(vec![Action::RunCommand, Action::EditFile, Action::ReadFile]));
    let command = option::of(select(vec!["*", "ls", "ls *", "git push *"]));
    let path = option::of(select(vec!["**", "src/**", "**/.env", "~/a", "/etc/*"]));
    let rule = (decide, action, command, path).prop_map(|(decide, action, command, path)| {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Rule { decide, action, command: owned(command), path: owned(path) }
    });
    vec(rule, 0..4)
}

fn permissions() -> impl Strategy<Value = Permission> {
    let commands = select(vec!["ls", "ls -l; git push", "cat .env", "git $x", "rm a", "eval $x", "ls 'a"]);
    let actions = select(vec![Action::EditFile, Action::ReadFile, Action::DeleteFile, Action::Search, Action::Other]);
    let paths = vec(select(vec!["src/a", "src", ".env", "~/a", "/etc/x", "../b"]), 0..3);
    prop_oneof![commands.prop_map(run), (actions, paths).prop_map(|(action, paths)| on(action, &paths))]
}

/// How much it lets an agent do.
fn width(decide: Decide) -> u8 {
    match decide {
        Decide::Deny => 0,
        Decide::Ask => 1,
        Decide::Allow => 2,
    }
}

proptest! {
    #[test]
    fn a_denial_that_is_added_first_lets_an_agent_do_no_more(
        rules in rules(), more in rules(), permission in permissions(),
        policy in select(vec![Policy::Ask, Policy::AllowReads, Policy::AllowAll, Policy::DenyAll]),
    ) {
        let (before, _) = decided(policy, &rules, permission.clone());
        let denials = more.into_iter().map(|rule| Rule { decide: Decide::Deny, ..rule });
        let rules: Vec<Rule> = denials.chain(rules).collect();
        let (after, _) = decided(policy, &rules, permission);
        prop_assert!(width(after) <= width(before), "{before:?}, then {after:?}");
    }

    #[test]
    fn no_rule_allows_what_is_flagged(rules in rules(), permission in permissions()) {
        let flagged = match &permission.command {
            Some(command) => !analyse(command).dangers.is_empty(),
            None => !permission.dangers.is_empty(),
        };
        for policy in [Policy::Ask, Policy::AllowReads, Policy::DenyAll] {
            let (decide, _) = decided(policy, &rules, permission.clone());
            prop_assert!(!(flagged && decide == Decide::Allow));
        }
    }
}
