use crate::{MAX_PROBLEMS, Position, Problem, validate};

/// What is told of the text: each as `id path token`, and with the token at the other place where there is one. A token goes
/// from the place to the next quote, comma or bracket.
fn told(text: &str) -> Vec<String> {
    let token = |place: Position| {
        let rest: String = text.chars().skip(place.column as usize - 1).collect();
        let rest = rest.trim_start_matches('"');
        rest[..rest.find(['"', ',', '}', ']']).unwrap_or(rest.len())].to_owned()
    };
    let line = |p: &Problem| {
        let other = p.related.map(|other| format!(" ({})", token(other))).unwrap_or_default();
        format!("{} {} {}{other}", p.id(), p.path, token(p.start))
    };
    validate(text).iter().map(line).collect()
}

/// A file with these agents, and other keys after them.
fn file(agents: &str, others: &str) -> String {
    format!(r#"{{"version":1,"agents":{{{agents}}}{others}}}"#)
}

fn check(cases: &[(&str, &str, &[&str])]) {
    for (agents, others, expected) in cases {
        assert_eq!(told(&file(agents, others)), *expected, "{agents} {others}");
    }
}

#[test]
fn names_that_differ_by_case() {
    check(&[
        (r#""a":{"command":"x"},"A":{"command":"x"}"#, "", &["name-differs-by-case agents.A A (a)"]),
        // Each is told of with the first.
        (
            r#""ab":{"command":"x"},"aB":{"command":"x"},"AB":{"command":"x"}"#,
            "",
            &["name-differs-by-case agents.aB aB (ab)", "name-differs-by-case agents.AB AB (ab)"],
        ),
        // The same name twice is another mistake.
        (r#""a":{"command":"x"},"a":{"command":"x"}"#, "", &["duplicate-key agents.a a (a)"]),
        // Sections do not share names.
        (
            r#""a":{"command":"x","workspace":"A"}"#,
            r#","workspaces":{"A":{"path":"p"}},"channels":{"A":{"members":["a"]}}"#,
            &[],
        ),
    ]);
}

#[test]
fn references() {
    check(&[
        // Names are the same only with upper and lower case; the right one is near.
        (
            r#""a":{"command":"x","workspace":"API"}"#,
            r#","workspaces":{"api":{"path":"p"}}"#,
            &["unknown-workspace agents.a.workspace API"],
        ),
        (r#""a":{"command":"x","workspace":"api"}"#, "", &["unknown-workspace agents.a.workspace api"]),
        (r#""a":{"command":"x","mcp_servers":["f"]}"#, "", &["unknown-mcp-server agents.a.mcp_servers[0] f"]),
        (
            r#""a":{"command":"x"}"#,
            r#","channels":{"c":{"members":["a","b"]}}"#,
            &["unknown-agent channels.c.members[1] b"],
        ),
        // A reference to what has errors of its own is right.
        (r#""a":{"command":"x","workspace":"w"}"#, r#","workspaces":{"w":{}}"#, &["required-key workspaces.w w"]),
        // One mistake in one value: none of these is an unknown name too.
        (r#""a":{"command":"x","workspace":""}"#, "", &["empty-text agents.a.workspace "]),
        (r#""a":{"command":"x","workspace":1}"#, "", &["wrong-type agents.a.workspace 1"]),
        (
            r#""a":{"command":"x"}"#,
            r#","channels":{"c":{"members":["b","b"]}}"#,
            &["unknown-agent channels.c.members[0] b", "repeated channels.c.members[1] b (b)"],
        ),
    ]);
}

#[test]
fn nothing_is_unknown_where_it_may_be_in_what_could_not_be_read() {
    for text in [
        r#"{"version":1,"agents":{"a":{"command":"x","workspace":"w"}},"workspaces":{"v" {"path":"p"}, {} }}"#,
        r#"{"version":1,"agents":{"a":{"command":"x","workspace":"w"}},"workspaces":[]}"#,
        r#"{"version":1,"agents":{"a":{"command":"x","workspace":"w"}},"workspace":{}}"#,
        r#"{"version":1,"agents":{"a":{"command":"x","workspace":"w"}},"workspaces":}"#,
        r#"{"version":1,"agents":{"a":{"command":"x","workspace":"w"}} {}}"#,
        r#"{"version":1,"agent":{"b":{"command":"x"}},"channels":{"c":{"members":["b"]}}}"#,
    ] {
        let told = told(text);
        assert!(!told.is_empty() && !told.iter().any(|line| line.starts_with("unknown-w")), "{text}: {told:?}");
        assert!(!told.iter().any(|line| line.starts_with("unknown-a")), "{text}: {told:?}");
    }
}

#[test]
fn memory() {
    check(&[
        (r#""a":{"command":"x","memory_estimate":"1GiB","memory_limit":"1024MiB"}"#, "", &[]),
        (
            r#""a":{"command":"x","memory_limit":"1GiB","memory_estimate":"1025MiB"}"#,
            "",
            &["estimate-above-limit agents.a.memory_estimate 1025MiB (1GiB)"],
        ),
        // The default limit counts, and is the other place.
        (
            r#""a":{"command":"x","memory_estimate":"2GiB"}"#,
            r#","defaults":{"memory_limit":"1GiB"}"#,
            &["estimate-above-limit agents.a.memory_estimate 2GiB (1GiB)"],
        ),
        // The agent's own limit is too small for the default estimate: that is where to look.
        (
            r#""a":{"command":"x","memory_limit":"1GiB"}"#,
            r#","defaults":{"memory_estimate":"2GiB"}"#,
            &["estimate-above-limit agents.a.memory_limit 1GiB (2GiB)"],
        ),
        // Two defaults that do not go together are told once, and not for each agent.
        (
            r#""a":{"command":"x"},"b":{"command":"x"}"#,
            r#","defaults":{"memory_estimate":"2GiB","memory_limit":"1GiB"}"#,
            &["estimate-above-limit defaults.memory_estimate 2GiB (1GiB)"],
        ),
        (
            r#""a":{"command":"x","memory_estimate":"2GiB"}"#,
            r#","limits":{"max_memory":"1GiB"}"#,
            &["estimate-above-total agents.a.memory_estimate 2GiB (1GiB)"],
        ),
        (
            r#""a":{"command":"x"}"#,
            r#","defaults":{"memory_estimate":"2GiB"},"limits":{"max_memory":"1GiB"}"#,
            &["estimate-above-total defaults.memory_estimate 2GiB (1GiB)"],
        ),
        // A limit above the total is no mistake.
        (r#""a":{"command":"x","memory_limit":"2GiB"}"#, r#","limits":{"max_memory":"1GiB"}"#, &[]),
        // What is no size is told, and compared with nothing.
        (
            r#""a":{"command":"x","memory_estimate":"2GiB","memory_limit":"1GB"}"#,
            r#","defaults":{"memory_limit":"1GiB"}"#,
            &["bad-size agents.a.memory_limit 1GB"],
        ),
    ]);
}

#[test]
fn a_workspace_and_a_folder() {
    check(&[
        (
            r#""a":{"command":"x","cwd":"/","workspace":"w"}"#,
            r#","workspaces":{"w":{"path":"p"}}"#,
            &["workspace-and-cwd agents.a.workspace workspace (cwd)"],
        ),
        (
            r#""a":{"workspace":"w","command":"x","cwd":"/"}"#,
            r#","workspaces":{"w":{"path":"p"}}"#,
            &["workspace-and-cwd agents.a.cwd cwd (workspace)"],
        ),
    ]);
}

#[test]
fn patience() {
    check(&[
        (
            r#""a":{"command":"x","idle_timeout":"59s","start_timeout":"1min"}"#,
            "",
            &["idle-before-start agents.a.idle_timeout 59s (1min)"],
        ),
        (r#""a":{"command":"x","idle_timeout":"60s","start_timeout":"1min"}"#, "", &[]),
        (r#""a":{"command":"x","idle_timeout":"0s","start_timeout":"1min"}"#, "", &[]),
        (r#""a":{"command":"x","idle_timeout":"never","start_timeout":"1min"}"#, "", &[]),
        // What stands nowhere in the file is nobody's mistake.
        (r#""a":{"command":"x","idle_timeout":"1s"}"#, "", &[]),
        (r#""a":{"command":"x","start_timeout":"1h"}"#, "", &[]),
        (
            r#""a":{"command":"x","start_timeout":"1h"}"#,
            r#","defaults":{"idle_timeout":"1min"}"#,
            &["idle-before-start agents.a.start_timeout 1h (1min)"],
        ),
        (
            r#""a":{"command":"x"}"#,
            r#","defaults":{"idle_timeout":"1s","start_timeout":"2s"}"#,
            &["idle-before-start defaults.idle_timeout 1s (2s)"],
        ),
    ]);
}

#[test]
fn nobody_enabled() {
    check(&[
        (r#""a":{"command":"x","enabled":false}"#, "", &["no-agent-enabled agents agents"]),
        (r#""a":{"command":"x","enabled":false},"b":{"command":"x","enabled":true}"#, "", &[]),
        (
            r#""a":{"command":"x","enabled":false},"b":{"command":"x"}"#,
            r#","channels":{"c":{"members":["a"]},"d":{"members":["a","b"]}}"#,
            &["channel-disabled channels.c c"],
        ),
        // Of a member that is not there nobody knows whether it is enabled.
        (
            r#""a":{"command":"x","enabled":false},"b":{"command":"x"}"#,
            r#","channels":{"c":{"members":["a","z"]}}"#,
            &["unknown-agent channels.c.members[1] z"],
        ),
        (
            r#""a":{"command":"x","enabled":false},"b":{"command":"x","enabled":0}"#,
            "",
            &["wrong-type agents.b.enabled 0"],
        ),
    ]);
}

#[test]
fn the_same_twice() {
    check(&[
        (
            r#""a":{"command":"x","display_name":"É"},"b":{"command":"x","display_name":" é"}"#,
            "",
            &["same-display-name agents.b.display_name  é (É)"],
        ),
        (
            r#""a":{"command":"x","workspace":"v"},"b":{"command":"x","workspace":"w"}"#,
            r#","workspaces":{"v":{"path":"/"},"w":{"path":"//"}}"#,
            &[],
        ),
        (
            r#""a":{"command":"x","workspace":"v"},"b":{"command":"x","workspace":"w"}"#,
            r#","workspaces":{"v":{"path":"~/x"},"w":{"path":"~/x/"}}"#,
            &["same-path workspaces.w.path ~/x/ (~/x)"],
        ),
    ]);
}

#[test]
fn unused() {
    let unused = r#","workspaces":{"w":{"path":"p"}},"mcp_servers":{"m":{"command":"x"}}"#;
    check(&[
        (r#""a":{"command":"x"}"#, unused, &["unused-workspace workspaces.w w", "unused-mcp-server mcp_servers.m m"]),
        // An agent that is not enabled uses it too.
        (r#""a":{"command":"x","enabled":false,"workspace":"w","mcp_servers":["m"]},"b":{"command":"x"}"#, unused, &[]),
        // What an agent meant is not known: then it may be any of them.
        (
            r#""a":{"command":"x","workspace":"x","mcp_servers":[1]}"#,
            unused,
            &["unknown-workspace agents.a.workspace x", "wrong-type agents.a.mcp_servers[0] 1"],
        ),
        (
            r#""a":{"command":"x","workspce":"w","mcp_servers":["m"]}"#,
            unused,
            &["unknown-key agents.a.workspce workspce"],
        ),
        (r#""a":{"command":"x","workspace":"w","mcp_servers":"m"}"#, unused, &["wrong-type agents.a.mcp_servers m"]),
        ("", unused, &["too-few agents agents"]),
    ]);
}

#[test]
fn variables() {
    check(&[
        (
            r#""a":{"command":"x","env":{"SIDEKICKS_":"","Sidekicks_X":"","SIDEKICK":"","XSIDEKICKS_":""}}"#,
            "",
            &[
                "reserved-variable agents.a.env.SIDEKICKS_ SIDEKICKS_",
                "reserved-variable agents.a.env.Sidekicks_X Sidekicks_X",
            ],
        ),
        (r#""a":{"command":"x","env":{"A":"","a":""}}"#, "", &["variable-twice agents.a.env.a a (A)"]),
        (r#""a":{"command":"x","env":{"HTTPS_PROXY":"","https_proxy":"","no_proxy":"","NO_PROXY":""}}"#, "", &[]),
        // To say a default again, in other letters, is no mistake in one map.
        (r#""a":{"command":"x","env":{"A":""}}"#, r#","defaults":{"env":{"a":""}}"#, &[]),
        // Headers are no variables, and to take one away sets none.
        (
            r#""a":{"command":"x","env_remove":["SIDEKICKS_","a","A"],"mcp_servers":["m"]}"#,
            r#","mcp_servers":{"m":{"type":"sse","url":"http://x","headers":{"SIDEKICKS_":""}}}"#,
            &[],
        ),
        (
            r#""a":{"command":"x","mcp_servers":["m"]}"#,
            r#","mcp_servers":{"m":{"command":"x","env":{"sidekicks_":""}}}"#,
            &["reserved-variable mcp_servers.m.env.sidekicks_ sidekicks_"],
        ),
    ]);
}

#[test]
fn of_a_newer_version_only_that_is_told() {
    for version in ["2", "2.0", "3", "1e3", "99999999999999999999"] {
        let text = format!(r#"{{"version":{version},"version":1,"agents":{{"a":[}},"x":1}}"#);
        assert_eq!(told(&text), [format!("newer-version version {version}")], "{text}");
    }
    for version in ["0", "1.5", "-2", "true", "\"2\"", "null", "[2]"] {
        let text = format!(r#"{{"version":{version},"agents":{{"a":{{"command":"x"}}}}}}"#);
        let [told] = &told(&text)[..] else { panic!("{text}") };
        assert!(told.starts_with("bad-version version "), "{text}: {told}");
    }
    assert!(told(r#"{"version":1.0,"agents":{"a":{"command":"x"}}}"#).is_empty());
}

#[test]
fn many_warnings_are_no_error() {
    let workspaces: Vec<String> = (0..300).map(|n| format!(r#""w{n}":{{"path":"{n}"}}"#)).collect();
    let others = format!(r#","workspaces":{{{}}}"#, workspaces.join(","));
    let told = |agents| validate(&file(agents, &others));
    let warnings = told(r#""a":{"command":"x"}"#);
    assert_eq!(warnings.len(), MAX_PROBLEMS);
    assert!(warnings.iter().all(|problem| problem.id() == "unused-workspace"));
    // An error is told before any of them.
    let others = format!(r#"{others},"language":"de""#);
    let with_error = validate(&file(r#""a":{"command":"x"}"#, &others));
    assert_eq!(with_error.len(), MAX_PROBLEMS);
    assert_eq!(with_error.last().map(Problem::id), Some("not-one-of"));
}
