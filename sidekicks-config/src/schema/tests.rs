use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::{Code, Config, Expected, validate};

/// All places of the schema, those of `$ref` not followed, with their JSON Pointers.
fn walk(node: &Value, pointer: &str, visit: &mut dyn FnMut(&str, &Map<String, Value>)) {
    let Value::Object(map) = node else { return };
    visit(pointer, map);
    for (keyword, value) in map {
        match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(children)) => {
                for (name, child) in children {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    walk(child, &format!("{pointer}/{keyword}/{name}"), visit);
                }
            }
            ("items" | "additionalProperties" | "propertyNames" | "if" | "then" | "else", child) => {
                walk(child, &format!("{pointer}/{keyword}"), visit);
            }
            _ => {}
        }
    }
}

fn places() -> Vec<(String, Map<String, Value>)> {
    let mut places = Vec::new();
    walk(&SCHEMA, "", &mut |pointer, map| places.push((pointer.to_owned(), map.clone())));
    places
}

/// Whether it is a condition, and no description of a value.
fn is_conditional(pointer: &str) -> bool {
    ["/if", "/then", "/else"].iter().any(|step| pointer.contains(step))
}

#[test]
fn every_error_has_one_kind_and_one_place() {
    // What `place` knows, and what says nothing of a value.
    let judging = [
        "type",
        "const",
        "enum",
        "pattern",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "minProperties",
        "maxProperties",
        "uniqueItems",
        "required",
        "additionalProperties",
        "properties",
        "propertyNames",
        "items",
        "if",
        "then",
        "else",
        "$ref",
    ];
    let silent = ["$schema", "$id", "$defs", "title", "description", "default", "examples", "enumDescriptions"];
    for (pointer, node) in places() {
        for keyword in node.keys() {
            assert!(judging.contains(&&**keyword) || silent.contains(&&**keyword), "{pointer}: {keyword}");
        }
        if let Some(pattern) = node.get("pattern") {
            assert!(place::unit(pattern.as_str().expect("a text")).is_some(), "{pointer}: {pattern}");
        }
        assert_eq!(node.contains_key("minimum"), node.contains_key("maximum"), "{pointer}");
        if is_conditional(&pointer) || node.contains_key("$ref") {
            continue;
        }
        assert!(node.get("type").is_some_and(Value::is_string), "{pointer} has one type");
        // A list or a map says what is in it, and a map that its other keys are no keys.
        match node["type"].as_str().expect("a text") {
            "array" => assert!(node.contains_key("items"), "{pointer}"),
            "object" if pointer == "/$defs/mcp_server" => {} // Its branches do.
            "object" => assert!(node.contains_key("additionalProperties"), "{pointer}"),
            _ => {}
        }
    }
    let branches = places().into_iter().filter(|(pointer, _)| pointer.starts_with("/$defs/mcp_server/"));
    let closed = branches.filter(|(_, node)| node.get("additionalProperties") == Some(&json!(false)));
    assert_eq!(closed.count(), 2, "one for programs, one for addresses");
}

#[test]
fn what_others_call_our_keys_is_a_key() {
    let keys: BTreeSet<String> = places()
        .iter()
        .filter_map(|(_, node)| Some(node.get("properties")?.as_object()?.keys().cloned().collect::<Vec<_>>()))
        .flatten()
        .collect();
    for (theirs, ours) in advice::FOREIGN.into_iter().chain(advice::OPPOSITES) {
        assert!(keys.contains(ours) && !keys.contains(theirs), "{theirs} → {ours}");
    }
}

#[test]
fn what_others_write_for_our_values_is_a_value() {
    let enums: Vec<Value> = places().into_iter().filter_map(|(_, node)| node.get("enum").cloned()).collect();
    for (theirs, ours) in advice::FOREIGN_VALUES {
        let has = |values: &Value, value: &str| values.as_array().is_some_and(|values| values.contains(&json!(value)));
        let with_ours: Vec<&Value> = enums.iter().filter(|values| has(values, ours)).collect();
        assert!(!with_ours.is_empty() && !with_ours.iter().any(|values| has(values, theirs)), "{theirs} → {ours}");
    }
}

#[test]
fn habits_of_other_programs_are_hinted_at() {
    let agent = |settings: &str| format!(r#"{{"version":1,"agents":{{"a":{{"command":"x",{settings}}}}}}}"#);
    let server = |server: &str| {
        format!(
            r#"{{"version":1,"agents":{{"a":{{"command":"x","mcp_servers":["m"]}}}},"mcp_servers":{{"m":{{{server}}}}}}}"#
        )
    };
    let cases: [(String, &str, Option<&str>); 20] = [
        (agent(r#""arguments":[]"#), "unknown-key", Some("args")),
        (agent(r#""workdir":"/""#), "unknown-key", Some("cwd")),
        (agent(r#""work_dir":"/""#), "unknown-key", Some("cwd")),
        (agent(r#""workingDir":"/""#), "unknown-key", Some("cwd")),
        (agent(r#""disabled":true"#), "unknown-key", Some("enabled")),
        (agent(r#""timeout":"30s""#), "unknown-key", None),
        (agent(r#""start_timeout":"1m""#), "bad-duration", Some("1min")),
        (agent(r#""start_timeout":"10 minutes""#), "bad-duration", Some("10min")),
        (agent(r#""start_timeout":"600""#), "bad-duration", None),
        (agent(r#""start_timeout":600"#), "bad-duration", None),
        (agent(r#""idle_timeout":"Never""#), "bad-duration", Some("never")),
        (agent(r#""memory_limit":"2GB""#), "bad-size", Some("2GiB")),
        (agent(r#""memory_limit":"512M""#), "bad-size", Some("512MiB")),
        (agent(r#""permission":"allow""#), "not-one-of", None),
        (agent(r#""permission":"approve-reads""#), "not-one-of", Some("allow_reads")),
        (agent(r#""permission":"deny""#), "not-one-of", Some("deny_all")),
        (server(r#""type":"streamable-http","url":"https://x""#), "not-one-of", Some("http")),
        (server(r#""type":"streamable_http","url":"https://x""#), "not-one-of", Some("http")),
        (server(r#""type":"remote","url":"https://x""#), "not-one-of", Some("http")),
        (server(r#""type":"local","command":"x""#), "not-one-of", Some("stdio")),
    ];
    for (text, id, hint) in cases {
        let problems = validate(&text);
        let [problem] = &problems[..] else { panic!("{text}: {problems:?}") };
        assert_eq!((problem.id(), problem.hint()), (id, hint), "{text}");
    }
}

#[test]
fn nothing_is_started_with_a_nul() {
    let text = r#"{"version":1,"workspaces":{"w":{"path":"/\u0000"}},"defaults":{"env":{"A":"\u0000"}},"agents":{
        "a":{"command":"x\u0000","args":["y","\u0000"],"env":{"B":"\u0000"},"workspace":"w","model":"\u0000"},
        "b":{"command":"x","cwd":"\u0000"},
        "c":{"command":"x"}}}"#
        .replace("\\\\", "\\");
    let told: Vec<String> = validate(&text).iter().map(|p| format!("{} {}", p.id(), p.path)).collect();
    let paths = [
        "workspaces.w.path",
        "defaults.env.A",
        "agents.a.command",
        "agents.a.args[1]",
        "agents.a.env.B",
        "agents.b.cwd",
    ];
    assert_eq!(told, paths.map(|path| format!("nul-character {path}")));
}

#[test]
fn everything_is_described_in_both_languages() {
    let mut english = BTreeSet::new();
    for (pointer, node) in places().into_iter().filter(|(pointer, _)| !is_conditional(pointer)) {
        match node.get("description") {
            Some(text) => {
                assert!(text.as_str().is_some_and(|text| text.ends_with('.')), "{pointer}");
                english.insert(format!("{pointer}/description"));
            }
            None => assert!(node.contains_key("$ref"), "{pointer} has no description"),
        }
        if let Some(Value::Array(values)) = node.get("enum") {
            let described = node.get("enumDescriptions").and_then(Value::as_array).map(Vec::len);
            assert_eq!(described, Some(values.len()), "{pointer}");
            english.extend((0..values.len()).map(|index| format!("{pointer}/enumDescriptions/{index}")));
        }
    }
    let french: BTreeSet<String> = parsed(FRENCH).as_object().expect("a map").keys().cloned().collect();
    assert_eq!(english.difference(&french).collect::<Vec<_>>(), [""; 0], "not in French");
    assert_eq!(french.difference(&english).collect::<Vec<_>>(), [""; 0], "only in French");

    let translated: Value = serde_json::from_str(schema(Language::Fr)).expect("JSON");
    for pointer in &french {
        assert_eq!(translated.pointer(pointer), parsed(FRENCH).get(pointer), "{pointer}");
    }
    // Nothing else differs.
    let mut plain = translated;
    for pointer in &french {
        *plain.pointer_mut(pointer).expect("it is there") = SCHEMA.pointer(pointer).cloned().expect("here too");
    }
    assert_eq!(plain, *SCHEMA);
}

#[test]
fn french_is_set_as_french_is() {
    for (pointer, text) in parsed(FRENCH).as_object().expect("a map") {
        let text: Vec<char> = text.as_str().expect("a text").chars().collect();
        for (at, c) in text.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| text[at]);
            let right = match c {
                ':' | '»' => before == Some('\u{a0}') || (*c == ':' && text.get(at + 1) == Some(&'/')),
                ';' | '!' | '?' => before == Some('\u{202f}') || before == Some('\u{a0}'),
                '«' => text.get(at + 1) == Some(&'\u{a0}'),
                '\'' | '"' | '“' | '”' => false,
                _ => true,
            };
            assert!(right, "{pointer}: {c} in {}", text.iter().collect::<String>());
        }
    }
}

/// A value with all that this place may have, which is right.
fn maximal(node: &Value) -> Value {
    if let Some(target) = node.get("$ref").and_then(Value::as_str) {
        return maximal(SCHEMA.pointer(target.trim_start_matches('#')).expect("it is there"));
    }
    let given = node.get("examples").and_then(|examples| examples.get(0)).or_else(|| node.get("default"));
    let given = given.or_else(|| node.get("enum").and_then(|values| values.get(0))).cloned();
    match node["type"].as_str().expect("one type") {
        "array" => json!([maximal(&node["items"])]),
        "object" => match node.get("properties").and_then(Value::as_object) {
            Some(properties) => properties.iter().map(|(key, node)| (key.clone(), maximal(node))).collect(),
            None => {
                let name = maximal(&node["propertyNames"]);
                json!({ name.as_str().expect("a text"): maximal(&node["additionalProperties"]) })
            }
        },
        _ => given.expect("an example, a default or a choice"),
    }
}

/// A file with every key that the schema has: of the keys that exclude each other first one, then the other.
fn maximal_files() -> [Value; 3] {
    [("stdio", "workspace"), ("http", "cwd"), ("sse", "cwd")].map(|(transport, folder)| {
        let mut file = maximal(&SCHEMA);
        let mut agent = file["agents"]["riker"].take();
        let other = if folder == "cwd" { "workspace" } else { "cwd" };
        agent.as_object_mut().expect("a map").shift_remove(other);
        agent["permission_rules"] = json!([maximal(&SCHEMA["$defs"]["permission_rule"])]);
        let mut server = file["mcp_servers"]["riker"].take();
        server["type"] = transport.into();
        let (theirs, ours) = (["command", "args", "env"], ["url", "headers"]);
        let unwanted: &[&str] = if transport == "stdio" { &ours } else { &theirs };
        unwanted.iter().for_each(|key| drop(server.as_object_mut().expect("a map").shift_remove(*key)));
        let workspace = file["workspaces"]["riker"].take();
        file["agents"] = json!({ "riker": agent });
        file["mcp_servers"] = json!({ "files": server });
        file["workspaces"] = json!({ "api": workspace });
        file
    })
}

#[test]
fn every_key_of_the_schema_is_one_of_ours() {
    for file in maximal_files() {
        let text = serde_json::to_string_pretty(&file).expect("JSON").replace("\"60s\"", "\"1min\"");
        let file: Value = serde_json::from_str(&text).expect("JSON");
        let errors: Vec<_> = validate(&text).into_iter().filter(crate::Problem::is_error).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
        let config: Config = serde_json::from_str(&text).expect(&text);
        // Written again it is the same, but for what is the default.
        let mut written = serde_json::to_value(&config).expect("JSON");
        written["mcp_servers"]["files"]["type"] = file["mcp_servers"]["files"]["type"].clone();
        written["language"] = "auto".into();
        written["agents"]["riker"]["enabled"] = true.into();
        for key in file.as_object().expect("a map").keys() {
            assert_eq!(written[key], file[key], "{key}");
        }
        assert_eq!(written.as_object().map(Map::len), file.as_object().map(Map::len));
    }
}

#[test]
fn a_value_of_another_kind_is_told_as_what_is_wanted() {
    let file =
        |key: &str, value: &str| format!(r#"{{"version":1,"agents":{{"a":{{"command":"x","{key}":{value}}}}}}}"#);
    let codes =
        |key: &str, value: &str| -> Vec<Code> { validate(&file(key, value)).into_iter().map(|p| p.code).collect() };
    let cases = [
        ("model", "1", Code::WrongType { expected: Expected::Text }),
        ("model", "\"\"", Code::EmptyText),
        ("enabled", "\"true\"", Code::WrongType { expected: Expected::Bool }),
        ("args", "{}", Code::WrongType { expected: Expected::List }),
        ("args", "null", Code::WrongType { expected: Expected::List }),
        ("env", "[]", Code::WrongType { expected: Expected::Map }),
        ("start_timeout", "30", Code::BadDuration { never: false, nearest: None }),
        ("start_timeout", "\"never\"", Code::BadDuration { never: false, nearest: None }),
        ("idle_timeout", "false", Code::BadDuration { never: true, nearest: None }),
        ("memory_limit", "1024", Code::BadSize { nearest: None }),
        ("memory_limit", "\"0MiB\"", Code::BadSize { nearest: None }),
        ("memory_limit", "\"1MiB\\n\"", Code::BadSize { nearest: Some("1MiB".to_owned()) }),
        ("display_name", &format!("\"{}\"", "x".repeat(81)), Code::TooLong { max: 80 }),
    ];
    for (key, value, code) in cases {
        assert_eq!(codes(key, value), [code], "{key}: {value}");
    }
    let agents: String = (0..257).map(|n| format!(r#","a{n}":{{"command":"x"}}"#)).collect();
    let problems = validate(&format!(r#"{{"version":1,"agents":{{{}}}}}"#, &agents[1..]));
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!((&problem.code, problem.start.column), (&Code::TooMany { max: 256 }, 14));
}
