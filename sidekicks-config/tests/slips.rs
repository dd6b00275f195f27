//! What a slip must not do: let an agent do more than was meant, take one away, or show a value.

use std::path::Path;

use sidekicks_config::{Decide, Kept, Loaded, Permission, check_environment, load, reload, validate};

fn first(text: &str) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sidekicks.jsonc");
    std::fs::write(&path, text).unwrap();
    load(&path).unwrap()
}

fn permission(loaded: &Loaded, name: &str) -> Option<Permission> {
    loaded.effective(name, &|_| None).map(|agent| agent.permission)
}

const STRICT: &str = r#"{ "version": 1, "limits": { "max_memory": "2GiB" },
  "defaults": { "permission": "deny_all", "env": { "SANDBOX": "1" } },
  "agents": { "riker": { "command": "a" }, "data": { "command": "b" } } }"#;

#[test]
fn a_misspelt_default_stays_as_it_was() {
    let loaded = reload(&first(STRICT), &STRICT.replace("\"permission\"", "\"permision\""));
    assert_eq!(permission(&loaded, "riker"), Some(Permission::DenyAll));
}

#[test]
fn misspelt_defaults_stay_as_they_were() {
    let loaded = reload(&first(STRICT), &STRICT.replace("\"defaults\"", "\"default\""));
    assert_eq!(permission(&loaded, "riker"), Some(Permission::DenyAll));
}

#[test]
fn a_misspelt_limit_stays_as_it_was() {
    let loaded = reload(&first(STRICT), &STRICT.replace("max_memory", "max_memry"));
    assert_eq!(loaded.config.limits.max_memory, Some(2 << 30));
}

#[test]
fn an_agent_as_it_last_was_does_not_get_new_defaults() {
    let text = STRICT
        .replace("deny_all", "allow_all")
        .replace(r#""command": "a""#, r#""command": "a", "permission": "deny-all""#);
    assert_eq!(permission(&reload(&first(STRICT), &text), "riker"), Some(Permission::DenyAll));
}

#[test]
fn a_slip_in_a_name_takes_no_agent_away() {
    let loaded = reload(&first(STRICT), &STRICT.replace("\"riker\"", "\"riker \""));
    assert!(loaded.config.agents.contains("riker"));
}

#[test]
fn an_agent_that_slipped_into_another_is_not_taken_away() {
    let text = r#"{ "version": 1, "agents": { "riker": { "command": "a", "data": { "command": "b" } } } }"#;
    assert!(reload(&first(STRICT), text).config.agents.contains("data"));
}

#[test]
fn a_first_reading_is_not_less_strict_than_what_was_meant() {
    for text in [
        STRICT.replace("deny_all", "deny-all"),
        STRICT.replace("\"permission\"", "\"permision\""),
        STRICT.replace("\"defaults\"", "\"default\""),
        STRICT
            .replace(r#""command": "a" }"#, r#""command": "a" }, "permission": "deny_all" }"#)
            .replace(r#""permission": "deny_all", "env""#, r#""env""#),
    ] {
        let found = permission(&first(&text), "riker");
        assert!(matches!(found, None | Some(Permission::DenyAll)), "{found:?}: {text}");
    }
}

/// Each row: what stands at the root beside riker, and what riker may do, who says nothing of it, and data, who says that
/// everything is allowed; at the first reading, and after one in which only data said something.
#[test]
fn what_is_allowed_where_it_was_said_in_the_wrong_place() {
    use Permission::{AllowAll, Ask, DenyAll};
    let file = |more: &str| {
        format!(
            r#"{{ "version": 1, {more} "agents": {{ "riker": {{ "command": "a" }}, "data": {{ "command": "b", "permission": "allow_all" }} }} }}"#
        )
    };
    let rules = r#"[{ "decide": "deny", "path": "**/.env" }]"#;
    let allowing = r#""defaults": { "permission": "allow_all" }"#;
    let unsaid = [Some(Ask), Some(AllowAll)];
    let cases = [
        // Rules for everybody: nobody knows what they forbid.
        (format!(r#""permission_rules": {rules},"#), [None, None], unsaid),
        (format!(r#"{allowing}, "permissionRules": {rules},"#), [None, None], unsaid),
        (format!(r#"{allowing}, "permissions": {{ "deny": ["x"] }},"#), [None, None], unsaid),
        (format!(r#""defaults": {{ "permission": "allow_all", "permission_rules": {rules} }},"#), [None, None], unsaid),
        (format!(r#""defaults": {{ "permission": "allow_all", "rules": {rules} }},"#), [None, None], unsaid),
        // A default that is not read: what an agent says itself counts.
        (r#""permission": "deny_all","#.into(), [Some(DenyAll), Some(AllowAll)], unsaid),
        (format!(r#"{allowing}, "permission": "deny_all","#), [Some(DenyAll), Some(AllowAll)], unsaid),
        (r#""defaults": {}, "default": { "permission": "deny_all" },"#.into(), [Some(DenyAll), Some(AllowAll)], unsaid),
        (
            r#""defaults": { "permission": "allow_all", "permision": "deny_all" },"#.into(),
            [Some(DenyAll), Some(AllowAll)],
            unsaid,
        ),
        // Which one is meant?
        (
            format!(r#"{allowing}, "defaults": {{ "permission": "deny_all" }},"#),
            [Some(DenyAll), Some(AllowAll)],
            unsaid,
        ),
        // It has nothing to do with that.
        (
            format!(r#"{allowing}, "theme": "dark","#),
            [Some(AllowAll), Some(AllowAll)],
            [Some(AllowAll), Some(AllowAll)],
        ),
        (r#""theme": "dark","#.into(), unsaid, unsaid),
    ];
    for (more, at_first, then) in cases {
        let text = file(&more);
        let loaded = first(&text);
        let allowed = |loaded: &Loaded| ["riker", "data"].map(|name| permission(loaded, name));
        assert_eq!(allowed(&loaded), at_first, "{text}");
        assert_ne!(loaded.kept, Kept::All, "{text}");
        let loaded = reload(&first(&file("")), &text);
        assert_eq!(allowed(&loaded), then, "{text}");
        assert_ne!(loaded.kept, Kept::All, "{text}");
    }
}

#[test]
fn a_merge_conflict_does_not_run_one_side() {
    let text = "{ \"version\": 1, \"agents\": {\n<<<<<<< HEAD\n\"riker\": { \"command\": \"a\", \"permission\": \"allow_all\" },\n=======\n\"riker\": { \"command\": \"a\", \"permission\": \"ask\" },\n>>>>>>> b\n} }";
    assert_eq!(permission(&first(text), "riker"), None);
}

#[test]
fn a_rule_that_can_fit_nothing_is_told() {
    let text = r#"{ "version": 1, "agents": { "a": { "command": "/bin/sh", "permission": "allow_all",
      "permission_rules": [{ "decide": "deny", "path": "${HOME}/.ssh/**" }, { "decide": "deny", "path": "$HOME/.aws/**" }] } } }"#;
    let env = |name: &str| (name == "HOME").then(|| "/home/will".into());
    assert!(validate(text).is_empty());
    let told = check_environment(text, Path::new("/x/sidekicks.jsonc"), &env);
    let told: Vec<_> = told.iter().map(|problem| (problem.id(), problem.path.as_str())).collect();
    assert_eq!(told, [("not-a-variable", "agents.a.permission_rules[1].path")]);
    let rules = first(text).effective("a", &env).unwrap().permission_rules;
    let [known, unknown] = &rules[..] else { panic!("{rules:?}") };
    assert_eq!((known.decide, known.path.as_deref()), (Decide::Deny, Some("/home/will/.ssh/**")));
    assert_eq!((unknown.decide, unknown.path.as_deref()), (Decide::Ask, None));
}

#[test]
fn no_secret_is_in_a_path_a_sentence_or_a_debug_form() {
    let texts = [
        r#"{ "version": 1, "agents": { "a": { "command": "x", "env": { "KEY=sk-CANARY": "" } } } }"#,
        r#"{ "version": 1, "agents": { "a": { "command": "x", "env": { "A": "1" "sk-CANARY": 2 } } } }"#,
        r#"{ "version": 1, "agents": { "a": { "command": "nope --key sk-CANARY" } } }"#,
        r#"{ "version": 1, "agents": { "a": { "command": "x", "args": ["--key=sk-CANARY"] } } }"#,
        r#"{ "version": 1, "agents": { "a": { "command": "x", "args": ["--key=${K}"] } } }"#,
        r#"{ "version": 1, "agents": { "a": { "command": "KEY=sk-CANARY" } } }"#,
        r#"{ "version": 1, "agents": { "a": { "command": "${K}/x", "cwd": "/${K}" } } }"#,
        r#"{ "version": 1, "workspaces": { "w": { "path": "/${K}" } }, "agents": { "a": { "command": "x", "workspace": "w" } } }"#,
        r#"{ "version": 1, "agents": { "a": { "command": "x", "permission_rules": [{ "decide": "deny", "command": "x sk-CANARY" }, { "decide": "deny", "path": "/${K}" }] } } }"#,
        r#"{ "version": 1, "mcp_servers": { "m": { "command": "x --key sk-CANARY", "args": ["sk-CANARY"], "env": { "A": "${K}" } } }, "agents": { "a": { "command": "x", "mcp_servers": ["m"] } } }"#,
        r#"{ "version": 1, "mcp_servers": { "m": { "type": "http", "url": "http://x/sk-CANARY", "headers": { "A": "${K}" } } }, "agents": { "a": { "command": "x", "mcp_servers": ["m"] } } }"#,
    ];
    let env = |name: &str| (name == "K").then(|| "sk-CANARY".into());
    let mut leaks = Vec::new();
    for text in texts {
        let loaded = first(text);
        let told = check_environment(text, Path::new("/x/sidekicks.jsonc"), &env);
        let all = format!("{loaded:?} {told:?} {:?}", loaded.effective("a", &env));
        if all.contains("CANARY") {
            leaks.push(text);
        }
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}

#[test]
fn a_sentence_has_no_control_characters_and_is_short() {
    let key = "x".repeat(100_000);
    for key in ["\\u001b[2J\\u0007", &key] {
        let text = format!(r#"{{ "version": 1, "{key}": 1, "agents": {{ "a": {{ "command": "x" }} }} }}"#);
        for problem in validate(&text) {
            let sentence = problem.message(sidekicks_config::Language::En);
            assert!(!sentence.contains(char::is_control) && sentence.len() < 1000, "{:.80?}", sentence);
            assert!(!problem.path.contains(char::is_control) && problem.path.len() < 1000);
        }
    }
}

#[test]
fn a_variable_that_is_not_set_does_not_let_another_account_in() {
    let text = r#"{ "version": 1, "agents": { "a": { "command": "x", "env": { "API_KEY": "${WORK_KEY}" } } } }"#;
    let env = |name: &str| (name == "API_KEY").then(|| "private".into());
    let agent = first(text).effective("a", &env).unwrap();
    assert!(agent.env.get("API_KEY").is_some() || agent.env_remove.iter().any(|name| name == "API_KEY"), "{agent:?}");
}

/// Each row: the text before and the one after it, and what riker may do then. Where the second cannot be read it is what
/// was allowed before, or less where the second says so; never more than either.
#[test]
fn what_is_allowed_after_a_slip() {
    use Permission::{AllowAll, AllowReads, Ask, DenyAll};
    let file = |defaults: &str, riker: &str| {
        format!(
            r#"{{ "version": 1, "defaults": {{ {defaults} }}, "agents": {{ "riker": {{ "command": "a"{riker} }} }} }}"#
        )
    };
    let asks = file("", "");
    let denies = file(r#""permission": "deny_all""#, "");
    let own = |word: &str| file("", &format!(r#", "permission": "{word}""#));
    let cases = [
        // The entry cannot be read, and the defaults are others.
        (&asks, file(r#""permission": "allow_all""#, r#", "modle": "x""#), Ask),
        (&denies, file(r#""permission": "allow_all""#, r#", "modle": "x""#), DenyAll),
        (&denies, file("", r#", "modle": "x""#), DenyAll),
        // It says less than before, and has a slip elsewhere.
        (&own("allow_all"), file("", r#", "permission": "deny_all", "modle": "x""#), DenyAll),
        (&own("allow_all"), file("", r#", "permission": "ask", "modle": "x""#), Ask),
        (&own("ask"), file("", r#", "permission": "allow_reads", "modle": "x""#), Ask),
        (&own("allow_reads"), file("", r#", "permission": "allow-all""#), AllowReads),
        (&own("allow_all"), file("", r#", "permision": "ask""#), AllowAll),
        // The defaults say less, and it says nothing itself.
        (&asks, file(r#""permission": "deny_all""#, r#", "modle": "x""#), DenyAll),
        (&own("allow_all"), file(r#""permission": "deny_all""#, r#", "modle": "x""#), DenyAll),
        (&own("allow_all"), file("", r#", "modle": "x""#), Ask),
        (&own("allow_all"), file(r#""permission": "deny_all""#, r#", "permission": "x""#), AllowAll),
        (&asks, file(r#""permission": "deny_all""#, "").replace("riker", "riker "), DenyAll),
        (&own("allow_all"), file(r#""permission": "deny_all""#, "").replace("riker", "riker "), AllowAll),
        // The defaults cannot be read.
        (&denies, file(r#""permission": "deny""#, ""), DenyAll),
        (&denies, file(r#""permision": "ask""#, ""), DenyAll),
        (&denies, denies.replace("defaults", "default"), DenyAll),
        (&denies, denies.replace(r#""agents""#, "agents"), DenyAll),
        // The version is not ours, or not there.
        (&asks, own("allow_all").replace(r#""version": 1, "#, ""), Ask),
        (&asks, own("allow_all").replace("1,", "\"1\","), Ask),
        (&asks, own("allow_all").replace("1,", "1.5,"), Ask),
        // Nothing is wrong: what is written counts.
        (&denies, own("allow_all"), AllowAll),
    ];
    for (before, after, expected) in cases {
        let loaded = reload(&first(before), &after);
        assert_eq!(permission(&loaded, "riker"), Some(expected), "{before}\n{after}");
    }
}
