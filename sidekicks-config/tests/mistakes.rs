//! What a file is taken for that has mistakes which programs and habits make.

use std::fs;

use sidekicks_config::{Config, load};

/// What is told of these bytes, as `id path`, and what of them is used.
fn read(bytes: impl AsRef<[u8]>) -> (Vec<String>, Config) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sidekicks.jsonc");
    fs::write(&path, bytes).unwrap();
    let loaded = load(&path).unwrap();
    let told = loaded.problems.iter().map(|problem| format!("{} {}", problem.id(), problem.path));
    (told.collect(), (*loaded.config).clone())
}

#[test]
fn neither_side_of_a_merge_conflict_is_used() {
    let between = |ours: &str, theirs: &str| format!("\n<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> b\n");
    let file = |agents: &str| format!("{{ \"version\": 1, \"agents\": {{ {agents} }} }}");
    let data = "\"data\": { \"command\": \"b\" }";
    let allow = "\"permission\": \"allow_all\"";
    let cases = [
        // Of whole entries, and inside one.
        (
            format!(
                "{}{data}",
                between(
                    &format!("\"riker\": {{ \"command\": \"a\", {allow} }},"),
                    "\"riker\": { \"command\": \"a\" },"
                )
            ),
            "agents",
        ),
        (
            format!("\"riker\": {{ \"command\": \"a\", {} }}, {data}", between(allow, "\"permission\": \"ask\"")),
            "agents.riker",
        ),
        (
            format!("\"riker\": {{ \"command\": \"a\", \"args\": [{}] }}, {data}", between("\"x\"", "\"y\"")),
            "agents.riker.args",
        ),
    ];
    for (agents, path) in cases {
        let (told, config) = read(file(&agents));
        assert_eq!(told, [format!("conflict-marker {path}")], "{agents}");
        assert_eq!(config.agents.names().collect::<Vec<_>>(), ["data"], "{agents}");
    }
}
