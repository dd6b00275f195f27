use std::path::Path;

use super::*;

const PATH: &str = "/nowhere/sidekicks.jsonc";

const GOOD: &str = r#"{
    "version": 1,
    "language": "fr",
    "limits": { "max_running": 2, "max_memory": "8GiB" },
    "defaults": { "permission": "deny_all", "memory_limit": "1GiB" },
    "workspaces": { "api": { "path": "api" }, "web": { "path": "web" } },
    "mcp_servers": { "files": { "command": "files" } },
    "agents": {
        "a": { "command": "a", "workspace": "api", "mcp_servers": ["files"] },
        "b": { "command": "b", "workspace": "web" },
        "c": { "command": "c" },
    },
    "channels": { "all": { "members": ["a", "b"] } },
}"#;

fn first(text: &str) -> Loaded {
    Loaded::of(Path::new(PATH), text.as_bytes(), None)
}

fn good() -> Loaded {
    let good = first(GOOD);
    assert!(good.problems.is_empty() && good.kept == Kept::All, "{:?}", good.problems);
    good
}

fn partly(dropped: &[&str], from_last_good: &[&str]) -> Kept {
    let owned = |paths: &[&str]| paths.iter().map(ToString::to_string).collect();
    Kept::Partly { dropped: owned(dropped), from_last_good: owned(from_last_good) }
}

/// Each change: what is replaced in the good text, by what, and how much of the new text then counts.
#[test]
fn what_a_reload_keeps() {
    let good = good();
    let cases: [(&str, &str, Kept); 28] = [
        // Valid: all of it.
        (r#""command": "a""#, r#""command": "z""#, Kept::All),
        (r#""c": { "command": "c" },"#, "", Kept::All),
        (r#""language": "fr","#, "", Kept::All),
        (r#""channels": { "all": { "members": ["a", "b"] } },"#, "", Kept::All),
        // Syntax: nothing of it.
        (r#""command": "a","#, r#""command": "a""#, Kept::LastGood),
        (r#"["a", "b"] } },"#, "", Kept::LastGood),
        (r#""version": 1,"#, "version: 1,", Kept::LastGood),
        (r#""permission": "deny_all""#, r#""permission": deny_all"#, Kept::LastGood),
        ("\n}", "\n} }", Kept::LastGood),
        // A key of the root that stands there twice: which one is meant?
        (r#""language": "fr","#, r#""language": "fr", "agents": {},"#, Kept::LastGood),
        (r#""version": 1,"#, r#""version": 2,"#, Kept::LastGood),
        // An error in an entry: its last good definition, or it is absent.
        (r#""a": { "command": "a","#, r#""a": { "command": "","#, partly(&[], &["agents.a"])),
        (r#""c": { "command": "c" },"#, r#""d": { "comand": "c" },"#, partly(&["agents.d"], &[])),
        (r#""c": { "command": "c" }"#, r#""c": { "command": "c", "command": "d" }"#, partly(&[], &["agents.c"])),
        (r#""c": {"#, r#""A": {"#, partly(&["agents.A"], &[])),
        (r#""api": { "path": "api" }"#, r#""api": { "path": 1 }"#, partly(&[], &["workspaces.api"])),
        (r#"{ "command": "files" }"#, r#"{ "url": "https://x" }"#, partly(&[], &["mcp_servers.files"])),
        // The first error in it takes the whole entry.
        (r#""workspace": "web""#, r#""workspace": "wep""#, partly(&[], &["agents.b"])),
        // What the agent as it last was names comes back with it.
        (r#""api": { "path": "api" }, "web""#, r#""web""#, partly(&[], &["agents.a", "workspaces.api"])),
        // An agent that is right and names what is not: it is as it was, and goes on.
        (r#""web": { "path": "web" } }"#, r#""web": { "path": "web" }, "new": {} }"#, partly(&["workspaces.new"], &[])),
        // Errors in limits, defaults, language: that key.
        (r#""max_running": 2"#, r#""max_running": 0"#, partly(&[], &["limits.max_running"])),
        (r#""max_memory": "8GiB""#, r#""max_memory": 8"#, partly(&[], &["limits.max_memory"])),
        (r#""permission": "deny_all""#, r#""permission": "no""#, partly(&[], &["defaults.permission"])),
        (r#""language": "fr""#, r#""language": "de""#, partly(&[], &["language"])),
        (
            r#""memory_limit": "1GiB""#,
            r#""memory_limi": "1GiB""#,
            partly(&["defaults.memory_limi"], &["defaults.memory_limit"]),
        ),
        // What is no map at all.
        (r#"{ "max_running": 2, "max_memory": "8GiB" }"#, "4", partly(&[], &["limits"])),
        (r#""agents": {"#, r#""agent": {"#, partly(&["agent"], &["agents"])),
        (r#"{ "members": ["a", "b"] }"#, r#"{ "members": ["a", "z"] }"#, partly(&[], &["channels.all"])),
    ];
    for (old, new, kept) in cases {
        assert_eq!(GOOD.matches(old).count(), 1, "{old}");
        let text = GOOD.replace(old, new);
        let after = reload(&good, &text);
        assert_eq!(after.kept, kept, "{old} → {new}: {:?}", after.problems);
        assert_eq!((&*after.text, after.digest), (&*text, Digest::of(text.as_bytes())));
        assert_eq!(after.has_errors(), kept != Kept::All, "{new}");
        if after.kept == Kept::LastGood {
            assert_eq!(after.config, good.config);
        }
    }
}

#[test]
fn an_entry_with_an_error_is_the_last_good_one() {
    let good = good();
    let text = GOOD
        .replace(r#""command": "a","#, r#""command": "z", "enabled": 1,"#)
        .replace(r#""max_running": 2"#, r#""max_running": "2""#);
    let after = reload(&good, &text.replace(r#""command": "b""#, r#""command": "y""#).replace("8GiB", "4GiB"));
    assert_eq!(after.kept, partly(&[], &["agents.a", "limits.max_running"]));
    let agent = |name| after.config.agents.get(name).map(|agent| agent.command.as_str());
    assert_eq!((agent("a"), agent("b"), agent("c")), (Some("a"), Some("y"), Some("c")));
    assert_eq!((after.config.limits.max_running().get(), after.config.limits.max_memory), (2, Some(4 << 30)));
    // And so it stays, when the next text has another mistake.
    let again = reload(&after, &text.replace(r#""command": "c""#, r#""command": 3"#));
    assert_eq!(again.kept, partly(&[], &["agents.a", "agents.c", "limits.max_running"]));
    assert_eq!(again.config.agents.get("a"), good.config.agents.get("a"));
}

#[test]
fn an_agent_that_names_what_has_an_error_goes_on_as_it_was() {
    let good = good();
    let text = GOOD
        .replace(r#""c": { "command": "c" }"#, r#""c": { "command": "new", "workspace": "new" }"#)
        .replace(r#""web": { "path": "web" } }"#, r#""web": { "path": "web" }, "new": {} }"#);
    let after = reload(&good, &text);
    assert_eq!(after.kept, partly(&["workspaces.new"], &["agents.c"]));
    assert_eq!(after.config.agents.get("c"), good.config.agents.get("c"));
    // A new one is not there, nor is a channel that it is in.
    let text = text.replace(r#""c": {"#, r#""n": {"#).replace(r#"["a", "b"]"#, r#"["a", "n"]"#);
    let after = reload(&good, &text);
    assert_eq!(after.kept, partly(&["agents.n", "workspaces.new"], &["channels.all"]));
    let after = first(&text);
    assert_eq!(after.kept, partly(&["agents.n", "channels.all", "workspaces.new"], &[]));
}

#[test]
fn the_first_time_what_is_right_is_used() {
    let cases: [(&str, &str, Kept, &[&str]); 11] = [
        ("fr", "fr", Kept::All, &["a", "b", "c"]),
        (r#""command": "c""#, r#""command": c"#, partly(&["agents.c"], &[]), &["a", "b"]),
        (
            r#""channels": { "all": { "members": ["a", "b"] } },"#,
            r#""channels": "#,
            partly(&["channels"], &[]),
            &["a", "b", "c"],
        ),
        (r#""command": "a","#, r#""command": "a" "#, partly(&["agents.a", "channels.all"], &[]), &["b", "c"]),
        (r#"{ "path": "api" }"#, "{}", partly(&["agents.a", "channels.all", "workspaces.api"], &[]), &["b", "c"]),
        (r#""max_running": 2"#, r#""max_running": 0"#, partly(&["limits.max_running"], &[]), &["a", "b", "c"]),
        (r#""language": "fr""#, r#""language": """#, partly(&["language"], &[]), &["a", "b", "c"]),
        (r#""version": 1,"#, r#""version": 2,"#, Kept::Nothing, &[]),
        (r#""agents": {"#, r#""agent": {"#, partly(&["agent", "agents", "channels.all"], &[]), &[]),
        // Which of the two is meant?
        (r#""version": 1,"#, r#""version": 1, "agents": {},"#, partly(&["agents", "channels.all"], &[]), &[]),
        (r#""version": 1,"#, r#""version": 1, "limits": {},"#, partly(&["limits"], &[]), &["a", "b", "c"]),
    ];
    for (old, new, kept, agents) in cases {
        let loaded = first(&GOOD.replace(old, new));
        let names: Vec<&str> = loaded.config.agents.names().collect();
        assert_eq!((&loaded.kept, &names[..]), (&kept, agents), "{new}: {:?}", loaded.problems);
    }
    for text in ["", "[]", "1", "// nothing\n", "\u{feff}"] {
        let loaded = first(text);
        assert_eq!((&loaded.kept, &*loaded.config), (&Kept::Nothing, &Config::default()), "{text}");
        // Nothing was there that could be kept.
        assert_eq!(reload(&loaded, GOOD).kept, Kept::All);
        assert_eq!(reload(&loaded, &GOOD.replace(r#""c": {"#, r#""c": { x"#)).config.agents.len(), 2);
    }
}

#[test]
fn more_errors_than_are_told_are_known() {
    let bad: String = (0..150).map(|n| format!(r#""bad{n}": {{ "comand": "x" }}, "#)).collect();
    let text = GOOD.replace(r#""agents": {"#, &format!(r#""agents": {{ {bad} "last": {{ "comand": "x" }},"#));
    let loaded = first(&text);
    assert_eq!(loaded.config.agents.len(), 3);
    assert!(matches!(&loaded.kept, Kept::Partly { dropped, .. } if dropped.len() == 151));
    // A bracket too many, behind all of them: what follows an agent may be a part of it.
    let wrong: String = (0..150).map(|n| format!(r#""bad{n}": {{}}, "#)).collect();
    for wrong in ["", &wrong] {
        let agents = r#""agents": { "a": { "command": "a" } }, "mode": "plan" } }"#;
        let loaded =
            first(&format!(r#"{{ "version": 1, "workspaces": {{ {wrong} "api": {{ "path": "x" }} }}, {agents}"#));
        assert!(!loaded.config.agents.contains("a"), "{:?}", loaded.kept);
    }
    // They are no reason to hold on to the whole file.
    let after = reload(&good(), &text.replace(r#""command": "c""#, r#""command": "z""#));
    assert_eq!(after.config.agents.get("c").map(|agent| &*agent.command), Some("z"));
}

#[test]
fn bytes_that_are_not_utf_8_are_told_and_not_used() {
    let bytes = |old: &str, new: &[u8]| {
        let (before, after) = GOOD.split_once(old).expect("it is there");
        [before.as_bytes(), new, after.as_bytes()].concat()
    };
    let latin = bytes(r#""command": "b""#, b"\"command\": \"caf\xe9\"");
    let loaded = Loaded::of(Path::new(PATH), &latin, None);
    let [problem] = &loaded.problems[..] else { panic!("{:?}", loaded.problems) };
    assert_eq!((problem.id(), problem.start.line, problem.start.column), ("not-utf8", 10, 31));
    assert_eq!(loaded.kept, partly(&["agents.b", "channels.all"], &[]));
    let after = Loaded::of(Path::new(PATH), &latin, Some(&good()));
    assert_eq!((after.kept, after.config), (Kept::LastGood, good().config));
    // Another encoding is told once, and nothing that follows from it.
    let wide = |order: fn(u16) -> [u8; 2]| GOOD.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let marked = |order: fn(u16) -> [u8; 2]| [&order(0xfeff)[..], &wide(order)].concat();
    for bytes in [
        marked(u16::to_le_bytes),
        marked(u16::to_be_bytes),
        wide(u16::to_le_bytes),
        wide(u16::to_be_bytes),
        GOOD.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
    ] {
        let loaded = Loaded::of(Path::new(PATH), &bytes, None);
        let [problem] = &loaded.problems[..] else { panic!("{:?}", loaded.problems) };
        assert_eq!((problem.id(), problem.start.line, problem.start.column), ("not-utf8", 1, 1));
        assert_eq!(loaded.kept, Kept::Nothing);
        assert_eq!(Loaded::of(Path::new(PATH), &bytes, Some(&good())).kept, Kept::LastGood);
    }
    // In a comment it takes nothing away, and is an error all the same.
    let loaded = Loaded::of(Path::new(PATH), &bytes(r#""language""#, b"/* \xff */ \"language\""), None);
    assert_eq!((loaded.has_errors(), loaded.config.agents.len()), (true, 3));
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("large"), vec![b' '; 1024 * 1024 + 1]).unwrap();
    std::fs::write(at("good"), GOOD).unwrap();
    assert!(matches!(load(&at("none")), Err(LoadError::NotFound { .. })));
    assert!(matches!(load(dir.path()), Err(LoadError::NotAFile { .. })));
    assert!(matches!(load(&at("large")), Err(LoadError::TooLarge { .. })));
    assert!(matches!(load(&at("good/below")), Err(LoadError::Io { .. })));
    let loaded = load(&at("good")).unwrap();
    assert_eq!((&loaded.config, &loaded.path), (&good().config, &at("good")));
}
