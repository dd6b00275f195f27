//! Brackets.

use super::assert_read;

#[test]
fn a_bracket_is_not_closed() {
    assert_read(&[
        (r#"{"a": {"b": [1}, "c": 2}"#, &["unclosed-bracket 1:13 a.b"], r#"{"a":{"b":[1]},"c":2}"#),
        (
            r#"{"a": {"b": [1]}, "c": {"d": [2}, "e": 3}"#,
            &["unclosed-bracket 1:30 c.d"],
            r#"{"a":{"b":[1]},"c":{"d":[2]},"e":3}"#,
        ),
        (
            r#"{"a": [1, 2
 "b": 3}"#,
            &["unclosed-bracket 1:7 a"],
            r#"{"a":[1,2],"b":3}"#,
        ),
        (
            r#"{"a": ["x", 'y', "b": 3}"#,
            &["unclosed-bracket 1:7 a", "wrong-quotes 1:13 a[1]"],
            r#"{"a":["x","y"],"b":3}"#,
        ),
        (r#"{"a": [1, 2, }"#, &["unclosed-bracket 1:7 a"], r#"{"a":[1,2]}"#),
    ]);
}

#[test]
fn the_file_is_cut_off() {
    assert_read(&[
        (
            r#"{"a": {"b": ["#,
            &["unclosed-bracket 1:1", "unclosed-bracket 1:7 a", "unclosed-bracket 1:13 a.b"],
            r#"{"a":{"b":[]}}"#,
        ),
        (r#"{"a": [1, 2"#, &["unclosed-bracket 1:1", "unclosed-bracket 1:7 a"], r#"{"a":[1,2]}"#),
        (
            r#"{"a": {"b": "x"#,
            &["unclosed-bracket 1:1", "unclosed-bracket 1:7 a", "unclosed-text 1:13 a.b"],
            r#"{"a":{"b":null}}"#,
        ),
        (r#"{"a": 1, "b"#, &["unclosed-bracket 1:1", "unclosed-text 1:10"], r#"{"a":1}"#),
        (r#"{"a": 1, "b""#, &["unclosed-bracket 1:1", "missing-colon 1:13"], r#"{"a":1}"#),
        (r#"{"a": 1, "b":"#, &["unclosed-bracket 1:1", "missing-value 1:14 b"], r#"{"a":1,"b":null}"#),
        (r#"{"a": 1,"#, &["unclosed-bracket 1:1"], r#"{"a":1}"#),
        (r#"{"a": "x""#, &["unclosed-bracket 1:1"], r#"{"a":"x"}"#),
    ]);
}

#[test]
fn a_bracket_is_of_the_other_kind() {
    assert_read(&[
        (r#"{"a": {"b": 1], "c": 2}"#, &["wrong-bracket 1:14 a"], r#"{"a":{"b":1},"c":2}"#),
        (r#"{"a": ["x"}, "b": 1}"#, &["wrong-bracket 1:11 a"], r#"{"a":["x"],"b":1}"#),
        (r#"["a", {"b": 1], "c"]"#, &["wrong-bracket 1:14 [1]"], r#"["a",{"b":1},"c"]"#),
        (r#"[1, 2}"#, &["wrong-bracket 1:6"], r#"[1,2]"#),
    ]);
}

#[test]
fn a_bracket_closes_nothing() {
    assert_read(&[
        (r#"{"a": 1]}"#, &["stray-bracket 1:8"], r#"{"a":1}"#),
        (r#"{"a": [1]], "b": 2}"#, &["stray-bracket 1:10"], r#"{"a":[1],"b":2}"#),
        (r#"{"a": 1}}"#, &["stray-bracket 1:9"], r#"{"a":1}"#),
        (r#"}"#, &["stray-bracket 1:1"], r#"null"#),
        (r#"]{"a": 1}"#, &["stray-bracket 1:1"], r#"{"a":1}"#),
        (r#"{"args": "a", "b"], "c": 1}"#, &["missing-colon 1:18", "stray-bracket 1:18"], r#"{"args":"a","c":1}"#),
    ]);
}

#[test]
fn a_list_has_colons() {
    assert_read(&[(r#"["a": 1, "b": 2]"#, &["unexpected 1:5", "unexpected 1:13"], r#"["a",1,"b",2]"#)]);
}
