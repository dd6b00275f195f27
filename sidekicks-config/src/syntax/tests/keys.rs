//! Keys, colons, and values that have none.

use super::assert_read;

#[test]
fn a_key_has_no_quotes_or_others() {
    assert_read(&[
        (r#"{a: 1}"#, &["unquoted-key 1:2 a"], r#"{"a":1}"#),
        (
            r#"{a: 1, b-c: 2, $schema: "x"}"#,
            &["unquoted-key 1:2 a", "unquoted-key 1:8 b-c", "unquoted-key 1:16 $schema"],
            r#"{"a":1,"b-c":2,"$schema":"x"}"#,
        ),
        (
            r#"{My Agent: {"command": "x"}, "b": 1}"#,
            &[r#"unquoted-key 1:2 ["My Agent"]"#],
            r#"{"My Agent":{"command":"x"},"b":1}"#,
        ),
        (
            r#"{foo // why
 : 1}"#,
            &["unquoted-key 1:2 foo"],
            r#"{"foo":1}"#,
        ),
        (
            r#"{'a': 1, `b`: 2, “c”: 3, «d»: 4}"#,
            &["wrong-quotes 1:2 a", "wrong-quotes 1:10 b", "wrong-quotes 1:18 c", "wrong-quotes 1:26 d"],
            r#"{"a":1,"b":2,"c":3,"d":4}"#,
        ),
        (r#"{command": "x", "b": 1}"#, &["unquoted-key 1:2 command"], r#"{"command":"x","b":1}"#),
        (r#"{"command: "x", "b": 1}"#, &["unclosed-text 1:2 command"], r#"{"command":"x","b":1}"#),
        (r#"{'a: 1, "b": 2}"#, &["unclosed-text 1:2 a"], r#"{"a":1,"b":2}"#),
        (
            r#"{
 "agents: { "a": { "command": "x" } },
 "version: 1,
 "b": 1
}"#,
            &["unclosed-text 2:2 agents", "unclosed-text 3:2 version"],
            r#"{"agents":{"a":{"command":"x"}},"version":1,"b":1}"#,
        ),
        (r#"{"a\q": 1, "b": 2}"#, &["bad-escape 1:4"], r#"{"b":2}"#),
    ]);
}

#[test]
fn a_colon_is_missing() {
    assert_read(&[
        (r#"{"a" 1, "b": 2}"#, &["missing-colon 1:5 a"], r#"{"a":1,"b":2}"#),
        (
            r#"{"command" // why
 "x",
 "b": 2}"#,
            &["missing-colon 1:11 command"],
            r#"{"command":"x","b":2}"#,
        ),
        (
            r#"{"a"
 "b": 2}"#,
            &["missing-colon 1:5"],
            r#"{"b":2}"#,
        ),
        (r#"{"a", "b": 1}"#, &["missing-colon 1:5"], r#"{"b":1}"#),
        (r#"{"a"}"#, &["missing-colon 1:5"], r#"{}"#),
        (r#"{"a" "b": 1}"#, &["missing-colon 1:5"], r#"{"b":1}"#),
        (r#"{a {"b": 1}, "c": 2}"#, &["unquoted-key 1:2 a", "missing-colon 1:3 a"], r#"{"a":{"b":1},"c":2}"#),
        (
            r#"{"a" = 1, "b" => 2, "c" := 3, "d": : 4}"#,
            &["missing-colon 1:5 a", "missing-colon 1:14 b", "unexpected 1:26 c", "unexpected 1:36 d"],
            r#"{"a":1,"b":2,"c":3,"d":4}"#,
        ),
        (r#"{"a":: 1}"#, &["unexpected 1:6 a"], r#"{"a":1}"#),
        (
            r#"{
  a = "x"
}"#,
            &["unquoted-key 2:3 a", "missing-colon 2:4 a"],
            r#"{"a":"x"}"#,
        ),
    ]);
}

#[test]
fn a_value_is_missing() {
    assert_read(&[
        (r#"{"a": , "b": }"#, &["missing-value 1:6 a", "missing-value 1:13 b"], r#"{"a":null,"b":null}"#),
        (
            r#"{"a":
 "b": 1}"#,
            &["missing-value 1:6 a"],
            r#"{"a":null,"b":1}"#,
        ),
        (
            r#"{"a": // later
  b: 1}"#,
            &["missing-value 1:6 a", "unquoted-key 2:3 b"],
            r#"{"a":null,"b":1}"#,
        ),
        (
            r#"{"a":
  "x",
 "b": 1}"#,
            &[],
            r#"{"a":"x","b":1}"#,
        ),
        (r#"{"a": "b": 1, "c": 2}"#, &["unexpected 1:10 a"], r#"{"a":null,"c":2}"#),
        (r#"{"a": "b": {"x": 1}, "c": 2}"#, &["unexpected 1:10 a"], r#"{"a":null,"c":2}"#),
    ]);
}

#[test]
fn a_value_has_no_key() {
    assert_read(&[
        (r#"{1, "a": 2}"#, &["missing-key 1:2"], r#"{"a":2}"#),
        (r#"{: 1, "a": 2}"#, &["missing-key 1:2"], r#"{"a":2}"#),
        (r#"{1 2 3, "a": 2}"#, &["missing-key 1:2"], r#"{"a":2}"#),
        (r#"{{"a": 1,, }, "b": 2}"#, &["missing-key 1:2", "extra-comma 1:10"], r#"{"b":2}"#),
        (r#"{[1], "b": 2}"#, &["missing-key 1:2"], r#"{"b":2}"#),
    ]);
}

#[test]
fn what_may_be_a_secret_is_no_key() {
    assert_read(&[
        (r#"{sk-secret, "a": 2}"#, &["missing-key 1:2"], r#"{"a":2}"#),
        (r#"{sk-secret "x", "a": 2}"#, &["unquoted-key 1:2", "missing-colon 1:11"], r#"{"a":2}"#),
        (r#"{"a": 1, "sk-secret", "b": 2}"#, &["missing-colon 1:21"], r#"{"a":1,"b":2}"#),
        (r#"{"API_KEY", "sk-secret", "a": 2}"#, &["missing-colon 1:11"], r#"{"a":2}"#),
        (r#"{"a": "x", sk-secret", "b": 2}"#, &["missing-key 1:12"], r#"{"a":"x","b":2}"#),
    ]);
}

#[test]
fn a_key_stands_twice() {
    assert_read(&[
        (r#"{"a": 1, "a": 2, "a": 3}"#, &["duplicate-key 1:10 a", "duplicate-key 1:18 a"], r#"{"a":1}"#),
        (r#"{"a": 1, 'a': 2}"#, &["wrong-quotes 1:10 a", "duplicate-key 1:10 a"], r#"{"a":1}"#),
        (r#"{"a": 1, "\u0061": {"b": 1,,}}"#, &["duplicate-key 1:10 a", "extra-comma 1:28 a"], r#"{"a":1}"#),
        (r#"{"a": {"b": 1}, "c": {"b": 1}}"#, &[], r#"{"a":{"b":1},"c":{"b":1}}"#),
    ]);
}
