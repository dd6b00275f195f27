//! `sidekicks config`: which file counts, and what is wrong with it.

mod common;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{Mark, finish, run, sidekicks};
use serde_json::Value;

const BROKEN: &str = r#"{
  "version": 1,
  "workspaces": { "api": { "path": "./api" } },
  "channels": { "all": { "members": ["riker", "dta"] } },
  "agents": {
    "riker": { "command": "sh", "permision": "ask", "env": { "API_KEY": "sk-secret" } },
	"data": { "command": "no-such-agent", "workspace": "api", "idle_timeout": 12, "idle_timeout": "1min" },
    "troi": { "command": "sh", "display_name": "日本語 the long name of an agent", "args": ["acp"] "env": { "T": "${NOPE}" } },
    "worf": { "command": "sh", "env": { "KEY": sk-secret } }
  }
}
"#;

const GOOD: &str = r#"{ "version": 1, "agents": { "riker": { "command": "sh" }, "data": { "command": "sh" } } }"#;

fn file(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn every_problem_is_shown_at_its_place() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    file(dir.path(), "sidekicks.jsonc", BROKEN);
    for lang in ["en", "fr"] {
        let mut check = sidekicks(&mark);
        check.args(["--lang", lang, "config", "check", "sidekicks.jsonc"]).current_dir(dir.path());
        let (code, stdout, stderr) = run(check.env("PATH", "/usr/bin:/bin"));
        assert_eq!((code, stderr.as_str()), (3, ""));
        assert!(!stdout.contains("secret"), "{stdout}");
        insta::assert_snapshot!(format!("check_{lang}"), stdout);
    }
}

#[test]
fn problems_are_coloured_for_those_who_want_it() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    file(dir.path(), "a.jsonc", r#"{ "version": 2.5, "agents": {} }"#);
    let mut check = sidekicks(&mark);
    let (_, stdout, _) = run(check.args(["--color", "always", "config", "check", "a.jsonc"]).current_dir(dir.path()));
    insta::assert_snapshot!(stdout.replace('\x1b', "\\e"));
}

#[test]
fn problems_are_one_document_in_json() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    file(dir.path(), "sidekicks.jsonc", BROKEN);
    let mut check = sidekicks(&mark);
    let (code, stdout, _) = run(check.args(["config", "check", "sidekicks.jsonc", "--json"]).current_dir(dir.path()));
    assert_eq!(code, 3);
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["file"], "sidekicks.jsonc");
    let problems = document["problems"].as_array().unwrap();
    let mut unknown = problems.iter().find(|problem| problem["id"] == "unknown-key").unwrap().clone();
    let message = unknown["message"].take();
    assert!(message.as_str().unwrap().contains("“permission”"), "{message}");
    let expected = serde_json::json!({
        "id": "unknown-key", "level": "error", "path": "agents.riker.permision", "line": 6, "column": 33,
        "utf16Column": 33, "message": null, "hint": "permission", "related": null,
    });
    assert_eq!(unknown, expected);
    let twice = problems.iter().find(|problem| problem["id"] == "duplicate-key").unwrap();
    assert_eq!(twice["related"], serde_json::json!({ "line": 7, "column": 60 }));
}

#[test]
fn a_good_file_is_said_to_be_good() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    let path = file(dir.path(), "good.jsonc", GOOD);
    let (code, stdout, stderr) = run(sidekicks(&mark).args(["config", "check", "good.jsonc"]).current_dir(dir.path()));
    assert_eq!((code, &*stdout, &*stderr), (0, "good.jsonc: 2 agents, no problem\n", ""));
    // The same file by each of the ways.
    for (option, variable) in [(Some(&path), None), (None, Some(&path))] {
        let mut check = sidekicks(&mark);
        check.args(["config", "check"]).args(option.map(|path| format!("--config={}", path.display())));
        check.envs(variable.map(|path| ("SIDEKICKS_CONFIG", path)));
        assert_eq!(run(&mut check).0, 0);
    }
    file(dir.path(), "warned.jsonc", &GOOD.replace("\"sh\" } }", "\"no-such-agent\" } }"));
    let (code, stdout, _) = run(sidekicks(&mark).args(["config", "check", "warned.jsonc"]).current_dir(dir.path()));
    assert_eq!(code, 0);
    assert!(stdout.ends_with("warned.jsonc: 2 agents, 1 warning\n"), "{stdout}");
}

#[test]
fn a_file_that_cannot_be_read_is_explained() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    file(dir.path(), "large", &" ".repeat(1024 * 1024 + 1));
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    let mut shown = String::new();
    for (args, expected) in [
        (&["config", "check", "none"][..], 2),
        (&["config", "check", "folder"], 2),
        (&["config", "check", "large"], 3),
        (&["config", "check"], 2),
        (&["--config", "none", "ask", "demo", "hi"], 2),
        (&["--config", "none", "agents"], 2),
        (&["open", "none"], 2),
        (&["open", "large"], 3),
        (&["config", "edit"], 2),
    ] {
        for lang in ["en", "fr"] {
            let (code, stdout, stderr) =
                run(sidekicks(&mark).args(["--lang", lang]).args(args).current_dir(dir.path()));
            assert_eq!((code, stdout.as_str()), (expected, ""), "{args:?}: {stderr}");
            shown.push_str(&format!("{} => {code}\n{stderr}\n", args.join(" ")));
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn which_file_counts_and_why() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    let opened = file(dir.path(), "opened.jsonc", GOOD);
    let other = file(dir.path(), "other.jsonc", GOOD);
    let path = |args: &[&str], variable: &str| {
        let (code, stdout, stderr) =
            run(sidekicks(&mark).args(["config", "path"]).args(args).env("SIDEKICKS_CONFIG", variable));
        assert_eq!(code, 0, "{stderr}");
        (stdout.trim_end().to_owned(), stderr)
    };
    let text = |path: &Path| path.to_str().unwrap().to_owned();

    assert!(path(&[], "").1.contains("there is no configuration file"));
    let standard = file(&mark.home(), "config/sidekicks/sidekicks.jsonc", GOOD);
    assert_eq!(path(&[], ""), (text(&standard), "sidekicks: it is in the standard place\n".to_owned()));
    assert_eq!(run(sidekicks(&mark).arg("open").arg(&opened)).0, 0);
    assert_eq!(path(&[], ""), (text(&opened), "sidekicks: it was opened last\n".to_owned()));
    assert_eq!(path(&[], &text(&other)), (text(&other), "sidekicks: SIDEKICKS_CONFIG names it\n".to_owned()));
    let given = path(&["--config", "/no/such"], &text(&other));
    assert_eq!(
        given,
        (
            "/no/such".to_owned(),
            "sidekicks: it was named with --config\nsidekicks: /no/such does not exist\n".to_owned()
        )
    );

    // The last one is gone: that is said, and no other recent one takes its place.
    std::fs::remove_file(&opened).unwrap();
    let (found, stderr) = path(&[], "");
    assert_eq!(found, text(&standard));
    assert!(
        stderr.starts_with(&format!("sidekicks: {}, which was opened last, is gone; ", opened.display())),
        "{stderr}"
    );
    let (_, stdout, _) = run(sidekicks(&mark).args(["config", "path", "--json"]));
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let expected = serde_json::json!({
        "path": text(&standard), "why": "standard", "missing": false, "gone": text(&opened),
    });
    assert_eq!(document, expected);
    std::fs::remove_dir_all(mark.home()).unwrap();
}

#[test]
fn the_file_says_which_language_is_spoken() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    let french =
        file(dir.path(), "fr.jsonc", &GOOD.replace("\"version\": 1,", "\"version\": 1, \"language\": \"fr\","));
    let said = |arguments: &[&str], variable: &str, locale: &str| {
        let mut check = sidekicks(&mark);
        check.args(["config", "check"]).arg(&french).args(arguments);
        run(check.env("SIDEKICKS_LANG", variable).env("LANG", locale)).1
    };
    assert!(said(&[], "", "en_US").contains("aucun problème"));
    assert!(said(&[], "en", "fr_FR").contains("no problem"));
    assert!(said(&["--lang", "en"], "fr", "fr_FR").contains("no problem"));
}

#[test]
fn the_schema_is_in_the_language_that_is_spoken() {
    let mark = Mark::new();
    for (lang, word) in [("en", "agent"), ("fr", "Les agents")] {
        let (code, stdout, stderr) = run(sidekicks(&mark).args(["config", "schema", "--lang", lang]));
        assert_eq!((code, stderr.as_str()), (0, ""));
        let schema: Value = serde_json::from_str(&stdout).unwrap();
        assert!(schema.to_string().contains(word), "{lang}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    let broken = file(dir.path(), "broken.jsonc", &BROKEN.replace("\"sh\"", "12"));
    for args in [&["config", "schema"][..], &["config", "check", broken.to_str().unwrap()], &["agents"]] {
        let mut child = sidekicks(&mark).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let (code, _, stderr) = finish(child);
        assert!(code == 0 || code == 3, "{args:?}: {code}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn without_a_home_everything_works_and_nothing_is_remembered() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    file(dir.path(), "good.jsonc", GOOD);
    // A preferences file that cannot be one stands for a home that nobody can write to.
    let mut open = sidekicks(&mark);
    open.args(["open", "good.jsonc"]).current_dir(dir.path()).env("SIDEKICKS_PREFS", dir.path());
    let (code, stdout, stderr) = run(&mut open);
    assert_eq!(code, 1, "{stderr}");
    assert!(stdout.contains("no problem") && stderr.contains("the preferences cannot be kept in"), "{stdout}{stderr}");
    let mut ask = sidekicks(&mark);
    ask.args(["ask", "demo", "hi"]).env_remove("HOME").env_remove("XDG_CONFIG_HOME").env("SIDEKICKS_PREFS", dir.path());
    let (code, _, stderr) = run(&mut ask);
    assert_eq!(code, 0, "a notice stops nothing: {stderr}");
    mark.nothing_left();
}
