use super::*;
use crate::Action;

const FILE: &str = "/etc/sidekicks/sidekicks.jsonc";

fn env(name: &str) -> Option<OsString> {
    match name {
        "HOME" => Some("/home/will".into()),
        "KEY" => Some("secret".into()),
        "TILDE" => Some("~/x".into()),
        _ => None,
    }
}

/// The agent `a` of a file with these settings of it, and other keys.
fn effective(settings: &str, others: &str) -> EffectiveAgent {
    let text = format!(r#"{{"version":1{others},"agents":{{"a":{{"command":"x"{settings}}}}}}}"#);
    let errors: Vec<_> = crate::validate(&text).into_iter().filter(crate::Problem::is_error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let config: Config = serde_json::from_str(&text).expect(&text);
    assert_eq!(config.effective("b", Path::new(FILE), &env), None);
    config.effective("a", Path::new(FILE), &env).expect("it is there")
}

#[test]
fn without_more_the_defaults_of_the_format_count() {
    let agent = effective("", "");
    let expected = EffectiveAgent {
        name: "a".into(),
        display_name: "a".into(),
        enabled: true,
        command: "x".into(),
        args: vec![],
        env: Variables::default(),
        env_remove: vec![],
        cwd: None,
        workspace: None,
        model: None,
        mode: None,
        permission: Permission::Ask,
        permission_rules: vec![],
        start_timeout: Duration::from_secs(60),
        idle_timeout: IdleTimeout::After(Duration::from_secs(600)),
        memory_estimate: None,
        memory_limit: None,
        mcp_servers: Entries::default(),
    };
    assert_eq!(agent, expected);
    assert_eq!(Config::default().limits.max_running().get(), 4);
}

#[test]
fn an_agent_goes_before_the_defaults() {
    let defaults = r#","defaults":{"permission":"deny_all","start_timeout":"1s","idle_timeout":"never",
        "memory_estimate":"1MiB","memory_limit":"2MiB","env":{"A":"1","B":"2","C":"${NO}"}}"#;
    let agent = effective("", defaults);
    assert_eq!(
        (agent.permission, agent.start_timeout, agent.idle_timeout, agent.memory_estimate, agent.memory_limit),
        (Permission::DenyAll, Duration::from_secs(1), IdleTimeout::Never, Some(1 << 20), Some(2 << 20))
    );
    assert_eq!(agent.env.iter().collect::<Vec<_>>(), [("A", "1"), ("B", "2")]);
    let own = r#","permission":"ask","start_timeout":"2s","idle_timeout":"0s","memory_estimate":"1KiB",
        "memory_limit":"3MiB","env":{"B":"own","D":"${KEY}","C":"c"}"#;
    let agent = effective(own, defaults);
    assert_eq!(
        (agent.permission, agent.start_timeout, agent.idle_timeout, agent.memory_estimate, agent.memory_limit),
        (Permission::Ask, Duration::from_secs(2), IdleTimeout::After(Duration::ZERO), Some(1 << 10), Some(3 << 20))
    );
    assert_eq!(agent.env.iter().collect::<Vec<_>>(), [("A", "1"), ("B", "own"), ("C", "c"), ("D", "secret")]);
}

#[test]
fn variables_are_taken_away_unless_they_are_given() {
    let cases: [(&str, &[&str]); 4] = [
        (r#","env_remove":["A","B"]"#, &["A", "B"]),
        (r#","env_remove":["A","B"],"env":{"A":""}"#, &["B"]),
        // One that is not given, since a variable is not set, is taken away.
        (r#","env_remove":["A","B"],"env":{"A":"${NO}"}"#, &["A", "B"]),
        // A default, too.
        (r#","env_remove":["A","B","D"]"#, &["A", "B", "D"]),
    ];
    for (settings, removed) in cases {
        let defaults = if settings.contains("\"D\"") { r#","defaults":{"env":{"D":""}}"# } else { "" };
        assert_eq!(effective(settings, defaults).env_remove, removed, "{settings}");
    }
}

#[test]
fn folders() {
    let workspaces = r#","workspaces":{"w":{"path":"~/api"},"v":{"path":"${KEY}/${NO}"}}"#;
    let cases = [
        ("", None),
        (r#","workspace":"w""#, Some("/home/will/api")),
        (r#","workspace":"v""#, Some("/etc/sidekicks/secret/${NO}")),
        (r#","cwd":"src""#, Some("/etc/sidekicks/src")),
        (r#","cwd":"/srv""#, Some("/srv")),
        (r#","cwd":"${TILDE}""#, Some("/home/will/x")),
    ];
    for (settings, cwd) in cases {
        let agent = effective(settings, workspaces);
        assert_eq!(agent.cwd.as_deref(), cwd.map(Path::new), "{settings}");
        assert_eq!(agent.workspace.is_some(), settings.contains("workspace"));
    }
}

#[test]
fn variables_are_filled_in_where_they_may_stand() {
    let settings = r#","args":["${KEY}","--x=${NO}","$${KEY}"],"display_name":"${KEY}","model":"${KEY}","mode":"${KEY}",
        "mcp_servers":["m","n"],"permission_rules":[{"decide":"ask","command":"${KEY}","path":"${KEY}"}]"#;
    let servers = r#","mcp_servers":{"n":{"type":"http","url":"http://${KEY}","headers":{"A":"Bearer ${KEY}","B":"${NO}"}},
        "m":{"command":"./m","args":["${KEY}"],"env":{"A":"${KEY}","B":"${NO}"}},"o":{"command":"o"}}"#;
    let agent = effective(settings, servers);
    assert_eq!(agent.args, ["secret", "--x=${NO}", "${KEY}"]);
    assert_eq!((agent.display_name.as_str(), agent.mode.as_deref()), ("${KEY}", Some("${KEY}")));
    let [PermissionRule { command, path, .. }] = &agent.permission_rules[..] else { panic!("one rule") };
    assert_eq!((command.as_deref(), path.as_deref()), (Some("${KEY}"), Some("secret")));
    // In the order of the agent, and only those that it names.
    assert_eq!(agent.mcp_servers.names().collect::<Vec<_>>(), ["m", "n"]);
    let Some(McpServer::Stdio { command, args, env }) = agent.mcp_servers.get("m") else { panic!("a program") };
    assert_eq!((command.as_str(), &args[..]), ("/etc/sidekicks/m", &["secret".to_owned()][..]));
    assert_eq!(env.iter().collect::<Vec<_>>(), [("A", "secret")]);
    let Some(McpServer::Http { url, headers }) = agent.mcp_servers.get("n") else { panic!("an address") };
    assert_eq!((url.as_str(), headers.iter().collect::<Vec<_>>()), ("http://secret", vec![("A", "Bearer secret")]));
    // A secret that was filled in is not shown either.
    assert!(!format!("{:?}", agent.mcp_servers.get("n")).contains("Bearer"));
}

#[test]
fn rules_below_the_home() {
    let rules = r#","permission_rules":[
        {"decide":"allow","action":"read_file","path":"~/a/**"},{"decide":"deny","path":"~/b"},
        {"decide":"ask","path":"~"},{"decide":"deny","path":"~x"},{"decide":"allow","command":"~/run"}]"#;
    let agent = effective(rules, "");
    let written: Vec<_> = agent.permission_rules.iter().map(|rule| (rule.decide, rule.path.as_deref())).collect();
    let expected = [
        (Decide::Allow, Some("/home/will/a/**")),
        // What forbids or asks counts for both ways to write it.
        (Decide::Deny, Some("/home/will/b")),
        (Decide::Deny, Some("~/b")),
        (Decide::Ask, Some("/home/will")),
        (Decide::Ask, Some("~")),
        (Decide::Deny, Some("~x")),
        (Decide::Allow, None),
    ];
    assert_eq!(written, expected);
    assert_eq!(agent.permission_rules[0].action, Some(Action::ReadFile));
    assert_eq!(agent.permission_rules[6].command.as_deref(), Some("~/run"));
}

/// Each row: what `permission` is, the rules as they are written, and what counts. Of `${NO}` nobody knows what it was to be.
#[test]
fn a_rule_whose_path_is_not_known_allows_nothing() {
    let cases = [
        ("allow_all", r#"{"decide":"deny","path":"${NO}/**"}"#, "ask"),
        ("ask", r#"{"decide":"deny","path":"${NO}/**"}"#, "ask"),
        // It is refused either way.
        ("deny_all", r#"{"decide":"deny","path":"${NO}/**"}"#, ""),
        ("allow_all", r#"{"decide":"ask","action":"edit_file","path":"${NO:-x}"}"#, "ask EditFile"),
        ("allow_all", r#"{"decide":"deny","command":"x *","path":"$HOME/x"}"#, "ask x *"),
        ("allow_all", r#"{"decide":"allow","path":"${NO}/**"}"#, ""),
        // What is allowed before it stays allowed; what is allowed after it is asked, unless something forbids it.
        (
            "allow_reads",
            r#"{"decide":"allow","path":"/a"},{"decide":"deny","path":"${NO}"},{"decide":"allow","path":"~/b"},
               {"decide":"deny","path":"/c"},{"decide":"ask","path":"/d"}"#,
            "allow /a, deny /c, ask /d, ask, ask /home/will/b",
        ),
        (
            "deny_all",
            r#"{"decide":"deny","path":"${NO}"},{"decide":"allow","path":"/b"},{"decide":"ask","path":"/d"}"#,
            "ask /d",
        ),
    ];
    for (permission, written, expected) in cases {
        let agent = effective(&format!(r#","permission":"{permission}","permission_rules":[{written}]"#), "");
        let shown = |rule: &PermissionRule| {
            let decide = format!("{:?}", rule.decide).to_lowercase();
            let action = rule.action.map(|action| format!("{action:?}"));
            let more = [action, rule.command.clone(), rule.path.clone()];
            [Some(decide)].into_iter().chain(more).flatten().collect::<Vec<_>>().join(" ")
        };
        let rules: Vec<String> = agent.permission_rules.iter().map(shown).collect();
        assert_eq!(rules.join(", "), expected, "{permission} {written}");
    }
}

#[test]
fn the_program_is_looked_for_on_the_path_that_the_agent_has() {
    let dir = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink("/bin/sh", dir.path().join("x")).expect("a link");
    let found = Some(dir.path().join("x"));
    let path = dir.path().to_str().expect("UTF-8").to_owned();
    let with = |name: &str| (name == "PATH").then(|| OsString::from(&path));
    let without = |_: &str| None;
    assert_eq!(effective("", "").find_program(&with), found);
    assert_eq!(effective("", "").find_program(&without), None);
    let own = format!(r#","env":{{"PATH":"/nowhere:{path}"}}"#);
    assert_eq!(effective(&own, "").find_program(&without), found);
    assert_eq!(effective(r#","env":{"PATH":"/nowhere"}"#, "").find_program(&with), None);
    assert_eq!(effective(r#","env_remove":["PATH"]"#, "").find_program(&with), None);
}
