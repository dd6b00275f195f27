//! That the types, the schema and the rules say the same.

use std::num::NonZeroU16;
use std::time::Duration;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::entries::{Entries, Variables};
use crate::{
    Action, Agent, Channel, Config, Decide, Defaults, IdleTimeout, LanguageSetting, Limits, McpServer, Permission,
    PermissionRule, Problem, Version, Workspace, validate,
};

fn written(config: &Config) -> String {
    serde_json::to_string_pretty(config).expect("JSON")
}

fn assert_valid_and_equal(config: &Config) {
    let text = written(config);
    let errors: Vec<Problem> = validate(&text).into_iter().filter(Problem::is_error).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    assert_eq!(serde_json::from_str::<Config>(&text).expect(&text), *config);
}

fn variables(names: &[&str]) -> Variables {
    names.iter().map(|name| (*name, "x")).collect()
}

/// Every field is set. A new one is to be set here too: without `..` nothing is left out.
#[test]
fn every_field_is_a_key_of_the_schema() {
    let rule = PermissionRule {
        decide: Decide::Deny,
        action: Some(Action::RunCommand),
        command: Some("git *".into()),
        path: Some("src/**".into()),
    };
    let agent = Agent {
        command: "x".into(),
        args: vec!["--acp".into()],
        env: variables(&["KEY"]),
        env_remove: vec!["OTHER".into()],
        display_name: Some("Number One".into()),
        enabled: false,
        model: Some("opus".into()),
        mode: Some("plan".into()),
        workspace: Some("api".into()),
        cwd: None,
        permission: Some(Permission::AllowReads),
        permission_rules: vec![rule],
        start_timeout: Some(Duration::from_secs(5)),
        idle_timeout: Some(IdleTimeout::Never),
        memory_estimate: Some(1 << 30),
        memory_limit: Some(1 << 31),
        mcp_servers: vec!["files".into(), "bugs".into(), "news".into()],
    };
    let elsewhere = Agent { cwd: Some("/srv".into()), workspace: None, ..agent.clone() };
    let url = || "https://x".to_owned();
    let config = Config {
        schema: Some("./config-1.json".into()),
        version: Version::V1,
        language: LanguageSetting::Fr,
        limits: Limits { max_running: NonZeroU16::new(256), max_memory: Some(1 << 40) },
        defaults: Defaults {
            permission: Some(Permission::DenyAll),
            start_timeout: Some(Duration::from_secs(60)),
            idle_timeout: Some(IdleTimeout::After(Duration::from_secs(600))),
            memory_estimate: Some(1 << 20),
            memory_limit: Some(1 << 30),
            env: variables(&["LEVEL"]),
        },
        workspaces: [("api", Workspace { path: "~/api".into(), display_name: Some("The API".into()) })]
            .into_iter()
            .collect(),
        mcp_servers: [
            ("files", McpServer::Stdio { command: "x".into(), args: vec!["a".into()], env: variables(&["A"]) }),
            ("bugs", McpServer::Http { url: url(), headers: variables(&["X-Key"]) }),
            ("news", McpServer::Sse { url: url(), headers: variables(&["X-Key"]) }),
        ]
        .into_iter()
        .collect(),
        agents: [("riker", agent), ("data", elsewhere)].into_iter().collect(),
        channels: [("bridge", Channel { members: vec!["riker".into()], display_name: Some("Bridge".into()) })]
            .into_iter()
            .collect(),
    };
    assert_valid_and_equal(&config);
}

#[test]
fn numbers_with_a_fraction_of_nothing_are_whole() {
    let text = r#"{"version":1.0,"limits":{"max_running":4e0},"agents":{"a":{"command":"x"}}}"#;
    assert!(validate(text).is_empty());
    let config: Config = serde_json::from_str(text).expect("it is valid");
    assert_eq!(config.limits.max_running, NonZeroU16::new(4));
    for running in ["0", "257", "4.5", "-1", "null", "\"4\""] {
        let text = text.replace("4e0", running);
        assert!(!validate(&text).is_empty() && serde_json::from_str::<Config>(&text).is_err(), "{text}");
    }
}

fn text() -> impl Strategy<Value = String> {
    // With all that has to be escaped in JSON, and what is no ASCII.
    "[ -~éß🦀\u{2028}\"\\\\/]{0,12}"
}

fn filled() -> impl Strategy<Value = String> {
    "[a-z~$é🦀/{}]{1,8}"
}

fn env() -> impl Strategy<Value = Variables> {
    btree_map("[a-r_][a-z0-9_]{0,5}", text(), 0..3).prop_map(|map| map.into_iter().collect())
}

fn duration() -> impl Strategy<Value = Duration> {
    (1_u64..=9_999_999, select(vec![1, 1000, 60_000, 3_600_000])).prop_map(|(n, unit)| Duration::from_millis(n * unit))
}

fn idle() -> impl Strategy<Value = IdleTimeout> {
    prop_oneof![
        Just(IdleTimeout::Never),
        Just(IdleTimeout::After(Duration::ZERO)),
        duration().prop_map(IdleTimeout::After)
    ]
}

/// An estimate and a limit that go together, also with those of others.
fn memory() -> impl Strategy<Value = (Option<u64>, Option<u64>)> {
    (option::of((1_u64..=1024).prop_map(|n| n << 10)), option::of((1024_u64..=9_999_999).prop_map(|n| n << 10)))
}

fn permission() -> impl Strategy<Value = Permission> {
    use Permission::{AllowAll, AllowReads, Ask, DenyAll};
    select(vec![Ask, AllowReads, AllowAll, DenyAll])
}

fn rule() -> impl Strategy<Value = PermissionRule> {
    use Action::{DeleteFile, EditFile, Fetch, MoveFile, Other, ReadFile, RunCommand, Search, SwitchMode};
    let action = select(vec![RunCommand, EditFile, DeleteFile, MoveFile, ReadFile, Fetch, Search, SwitchMode, Other]);
    let decide = select(vec![Decide::Allow, Decide::Ask, Decide::Deny]);
    (decide, option::of(action), option::of(filled()), option::of(filled()))
        .prop_map(|(decide, action, command, path)| PermissionRule { decide, action, command, path })
}

fn server() -> impl Strategy<Value = McpServer> {
    let headers = || btree_map("[A-Za-z!#$%&'*+.^_`|~-]{1,6}", text(), 0..3);
    let url = || "https?://[a-z]{1,5}".prop_map(String::from);
    prop_oneof![
        ("[a-z/]{1,5}", vec(text(), 0..3), env()).prop_map(|(command, args, env)| McpServer::Stdio {
            command,
            args,
            env
        }),
        (url(), headers()).prop_map(|(url, map)| McpServer::Http { url, headers: map.into_iter().collect() }),
        (url(), headers()).prop_map(|(url, map)| McpServer::Sse { url, headers: map.into_iter().collect() }),
    ]
}

fn agent() -> impl Strategy<Value = Agent> {
    let program =
        ("[a-z/. ]{0,5}[a-z]", vec(text(), 0..3), env(), btree_set("[A-Z_]{1,4}", 0..3), option::of(filled()));
    let more = (any::<bool>(), option::of(filled()), option::of(filled()), 0..3_u8, filled(), option::of(permission()));
    let last = (vec(rule(), 0..3), option::of(duration()), option::of(idle()), memory(), any::<bool>());
    (program, more, last).prop_map(|(program, more, last)| {
        let (command, args, env, removed, display_name) = program;
        let (enabled, model, mode, place, cwd, permission) = more;
        let (permission_rules, start_timeout, idle_timeout, (memory_estimate, memory_limit), served) = last;
        Agent {
            command,
            args,
            env,
            env_remove: removed.into_iter().collect(),
            display_name,
            enabled,
            model,
            mode,
            workspace: (place == 1).then(|| "w".into()),
            cwd: (place == 2).then_some(cwd),
            permission,
            permission_rules,
            start_timeout,
            idle_timeout,
            memory_estimate,
            memory_limit,
            mcp_servers: if served { vec!["m".into()] } else { vec![] },
        }
    })
}

fn config() -> impl Strategy<Value = Config> {
    let defaults = (option::of(permission()), option::of(duration()), option::of(idle()), memory(), env());
    let limits = (option::of(1_u16..=256), option::of((1024_u64..=9_999_999).prop_map(|n| n << 20)));
    let language = select(vec![LanguageSetting::Auto, LanguageSetting::En, LanguageSetting::Fr]);
    let head = (option::of(text()), language, limits, defaults);
    let entries = (filled(), option::of(filled()), server(), btree_map("[a-z0-9][a-z0-9._-]{0,8}", agent(), 1..4));
    (head, entries, any::<bool>()).prop_map(|(head, entries, has_channel)| {
        let (schema, language, (running, max_memory), (permission, start_timeout, idle_timeout, memory, env)) = head;
        let (path, display_name, server, agents) = entries;
        let members: Vec<String> = agents.keys().take(2).cloned().collect();
        let channel = Channel { members, display_name: display_name.clone() };
        Config {
            schema,
            version: Version::V1,
            language,
            limits: Limits { max_running: running.and_then(NonZeroU16::new), max_memory },
            defaults: Defaults {
                permission,
                start_timeout,
                idle_timeout,
                memory_estimate: memory.0,
                memory_limit: memory.1,
                env,
            },
            workspaces: [("w", Workspace { path, display_name })].into_iter().collect(),
            mcp_servers: [("m", server)].into_iter().collect(),
            agents: agents.into_iter().collect(),
            channels: if has_channel { [("c", channel)].into_iter().collect() } else { Entries::default() },
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_valid_and_read_back(config in config()) {
        assert_valid_and_equal(&config);
    }
}
