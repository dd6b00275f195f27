//! That the schema is one, and says the same, to a validator that is not ours: `check-jsonschema`, where it is on the `PATH`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use sidekicks_config::{Language, schema};

const GOOD: [&str; 2] = [
    r#"{"version":1,"agents":{"a":{"command":"x"}}}"#,
    r#"{"version":1,"agents":{"a":{"command":"x","idle_timeout":"never"}},"mcp_servers":{"m":{"type":"sse","url":"https://x"}}}"#,
];

const BAD: [&str; 5] = [
    r#"{"agents":{"a":{"command":"x"}}}"#,
    r#"{"version":1,"agents":{"a":{"comand":"x"}}}"#,
    r#"{"version":1,"agents":{"a":{"command":"x","idle_timeout":"5 min"}}}"#,
    r#"{"version":1,"agents":{"a":{"command":"x"}},"mcp_servers":{"m":{"type":"http","command":"x"}}}"#,
    r#"{"version":1,"agents":{"a":{"command":"x"}},"mcp_servers":{"m":{"url":"https://x"}}}"#,
];

#[test]
fn another_validator_agrees() {
    let is_right = |args: &[&Path]| {
        let mut command = Command::new("check-jsonschema");
        Some(command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?.success())
    };
    if is_right(&[Path::new("--version")]).is_none() {
        println!("skipped: check-jsonschema is not on the PATH");
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let (schema_file, file) = (dir.path().join("schema.json"), dir.path().join("file.json"));
    for language in [Language::En, Language::Fr] {
        fs::write(&schema_file, schema(language)).expect("written");
        assert_eq!(is_right(&[Path::new("--check-metaschema"), &schema_file]), Some(true), "{language:?}");
        for (text, right) in GOOD.iter().map(|text| (text, true)).chain(BAD.iter().map(|text| (text, false))) {
            fs::write(&file, text).expect("written");
            assert_eq!(is_right(&[Path::new("--schemafile"), &schema_file, &file]), Some(right), "{text}");
        }
    }
}
