//! `sidekicks open`, `recent` and `agents`.

mod common;

use std::path::{Path, PathBuf};

use common::{Mark, run, sidekicks};
use serde_json::{Value, json};

const GOOD: &str = r#"{ "version": 1, "agents": { "riker": { "command": "sh" } } }"#;

fn file(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn recent(mark: &Mark) -> Value {
    let (code, stdout, stderr) = run(sidekicks(mark).args(["recent", "--json"]));
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn the_last_and_the_recent_ones() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    let [a, b] = ["a.jsonc", "b.jsonc"].map(|name| file(dir.path(), name, GOOD));
    assert_eq!(recent(&mark), json!({ "last": null, "recent": [] }));
    for name in ["a.jsonc", "b.jsonc"] {
        let (code, stdout, _) = run(sidekicks(&mark).args(["open", name]).current_dir(dir.path()));
        assert_eq!((code, stdout), (0, format!("{name}: 1 agent, no problem\n")));
    }
    std::fs::remove_file(&a).unwrap();
    let expected = json!({
        "last": b, "recent": [{ "path": b, "missing": false }, { "path": a, "missing": true }],
    });
    assert_eq!(recent(&mark), expected);
    let mut shown = String::new();
    for lang in ["en", "fr"] {
        let (_, stdout, stderr) = run(sidekicks(&mark).args(["recent", "--lang", lang]));
        shown.push_str(&format!("{stdout}{stderr}"));
        let (code, stdout, stderr) = run(sidekicks(&mark).args(["recent", "--forget", "c", "--lang", lang]));
        assert_eq!((code, stdout.as_str()), (2, ""));
        shown.push_str(&stderr);
    }
    for name in ["a.jsonc", "b.jsonc"] {
        let (code, stdout, stderr) = run(sidekicks(&mark).args(["recent", "--forget", name]).current_dir(dir.path()));
        assert_eq!((code, stdout.as_str()), (0, ""));
        shown.push_str(&stderr);
    }
    shown.push_str(&run(sidekicks(&mark).arg("recent")).2);
    insta::assert_snapshot!(shown.replace(dir.path().to_str().unwrap(), "/somewhere"));
    assert_eq!(recent(&mark), json!({ "last": null, "recent": [] }));
    std::fs::remove_dir_all(mark.home()).unwrap();
}

#[test]
fn opening_what_has_errors() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    let good = file(dir.path(), "good.jsonc", GOOD);
    assert_eq!(run(sidekicks(&mark).arg("open").arg(&good)).0, 0);
    // Of which nothing can be used.
    for text in ["", "[]", r#"{ "version": 2, "agents": {} }"#, r#"{ "version": 1, "agents": { "a": {} } }"#] {
        let bad = file(dir.path(), "bad.jsonc", text);
        let (code, stdout, stderr) = run(sidekicks(&mark).arg("open").arg(&bad));
        assert_eq!(code, 3, "{text}: {stdout}");
        assert!(stdout.contains("error[") && stderr.contains("so it was not opened"), "{stdout}{stderr}");
        assert_eq!(recent(&mark)["last"], json!(good), "{text}");
    }
    // Of which something can.
    let partly = r#"{ "version": 1, "agents": { "a": {}, "b": { "command": "sh" } } }"#;
    let partly = file(dir.path(), "partly.jsonc", partly);
    let (code, stdout, _) = run(sidekicks(&mark).args(["open", "--json"]).arg(&partly));
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &document["opened"], &document["problems"][0]["id"]), (0, &json!(true), &json!("required-key")));
    assert_eq!(recent(&mark)["last"], json!(partly));
    std::fs::remove_dir_all(mark.home()).unwrap();
}

#[test]
fn who_can_be_asked() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    std::fs::create_dir(dir.path().join("api")).unwrap();
    let text = r#"{
      "version": 1,
      "workspaces": { "api": { "path": "./api" } },
      "channels": { "all": { "members": ["riker", "data"] } },
      "agents": {
        "riker": { "command": "sh", "args": ["-c", "${A_KEY}"], "workspace": "api", "display_name": "Will" },
        "data": { "command": "no-such-agent", "cwd": "/srv" },
        "troi": { "command": "sh", "enabled": false },
        "worf": { "comand": "sh" }
      }
    }"#;
    let path = file(dir.path(), "sidekicks.jsonc", text);
    let agents = |path: Option<&Path>, args: &[&str]| {
        let mut agents = sidekicks(&mark);
        agents.arg("agents").args(args).envs(path.map(|path| ("SIDEKICKS_CONFIG", path)));
        run(agents.env("PATH", "/usr/bin:/bin").env("A_KEY", "sk-secret"))
    };
    let mut shown = String::new();
    for (path, lang) in [(Some(&*path), "en"), (Some(&*path), "fr"), (None, "en"), (None, "fr")] {
        let (code, stdout, stderr) = agents(path, &["--lang", lang]);
        assert_eq!(code, 0, "{stderr}");
        shown.push_str(&format!("{stdout}{stderr}\n"));
    }
    insta::assert_snapshot!(shown.replace(dir.path().to_str().unwrap(), "/somewhere"));

    let (_, stdout, _) = agents(Some(&path), &["--json"]);
    assert!(!stdout.contains("sk-secret"), "{stdout}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let riker = json!({
        "name": "riker", "displayName": "Will", "command": "sh", "args": ["-c", "${A_KEY}"], "workspace": "api",
        "folder": dir.path().join("api"), "found": "/usr/bin/sh", "enabled": true, "hasErrors": false,
    });
    assert_eq!(document["agents"][0], riker);
    let names: Vec<&str> =
        document["agents"].as_array().unwrap().iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["riker", "data", "troi", "worf", "demo"]);
    assert_eq!(document["agents"][3], json!({ "name": "worf", "hasErrors": true }));
    assert_eq!(document["agents"][1]["found"], Value::Null);
    assert_eq!(document["agents"][2]["enabled"], false);

    // As for who asks one of them.
    for text in ["[]", r#"{ "version": 1, "agent": {} }"#, r#"{ "version": 1, "agents": [] }"#] {
        let unusable = file(dir.path(), "un usable.jsonc", text);
        let (code, _, stderr) = agents(Some(&unusable), &[]);
        assert_eq!(code, 3, "{text}");
        let check = format!("“sidekicks config check '{}'” shows them", unusable.display());
        assert!(stderr.contains(&check), "{stderr}");
        let mut ask = sidekicks(&mark);
        assert_eq!(run(ask.args(["ask", "riker", "hi"]).env("SIDEKICKS_CONFIG", &unusable)).0, 3, "{text}");
    }
}

#[test]
fn what_is_the_matter_with_the_preferences_is_told_once() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    let config = file(dir.path(), "sidekicks.jsonc", GOOD);
    assert_eq!(run(sidekicks(&mark).arg("open").arg(&config)).0, 0);
    let (_, _, stderr) = run(sidekicks(&mark).args(["recent", "--forget", "/no/such"]));
    assert!(!stderr.contains("preferences"), "{stderr}");
    let mut files = vec![mark.home()];
    let mut preferences = Vec::new();
    while let Some(path) = files.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => files.extend(entries.map(|entry| entry.unwrap().path())),
            Err(_) if path.ends_with("preferences.json") => preferences.push(path),
            Err(_) => {}
        }
    }
    let [preferences] = &preferences[..] else { panic!("{preferences:?}") };
    std::fs::remove_file(preferences).unwrap();
    std::fs::create_dir(preferences).unwrap();
    for command in [["open", config.to_str().unwrap()].as_slice(), &["recent", "--forget", "/no/such"]] {
        let (code, _, stderr) = run(sidekicks(&mark).args(command));
        assert_eq!((code, stderr.matches("that is not a file").count()), (1, 1), "{stderr}");
    }
    std::fs::remove_dir_all(mark.home()).unwrap();
}
