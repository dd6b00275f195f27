//! What is around the values.

use super::assert_read;

#[test]
fn comments_are_those_of_jsonc() {
    assert_read(&[
        (
            r#"{"a": 1// one
, "b": true/* two */}"#,
            &[],
            r#"{"a":1,"b":true}"#,
        ),
        (
            r#"# head
{}"#,
            &["hash-comment 1:1"],
            r#"{}"#,
        ),
        (
            r#"{"a": 1 # one
 , # two
 "b": 2# three
}"#,
            &["hash-comment 1:9", "hash-comment 2:4", "hash-comment 3:8"],
            r#"{"a":1,"b":2}"#,
        ),
        (
            r#"{"a" # why
 : 1}"#,
            &["hash-comment 1:6 a"],
            r#"{"a":1}"#,
        ),
        (
            r#"{"a": 1 /* x
 "b": 2, }"#,
            &["unclosed-comment 1:9"],
            r#"{"a":1}"#,
        ),
        (r#"{"a": 1} /*"#, &["unclosed-comment 1:10"], r#"{"a":1}"#),
    ]);
}

#[test]
fn there_is_more_than_one_value() {
    assert_read(&[
        (r#"{"a": 1}{"b": 2}"#, &["trailing-content 1:9"], r#"{"a":1}"#),
        (r#"{"a": 1},"#, &["trailing-content 1:9"], r#"{"a":1}"#),
        (r#"{"a": 1} x {"#, &["trailing-content 1:10"], r#"{"a":1}"#),
        (r#""version": 1, "agents": {}"#, &["trailing-content 1:10"], r#""version""#),
        (
            r#"version: 1
agents:
  a: x"#,
            &["bare-word 1:1"],
            r#"null"#,
        ),
    ]);
}

#[test]
fn there_is_nothing() {
    assert_read(&[
        (r#""#, &["empty 1:1"], r#"null"#),
        ("\u{feff}", &["empty 1:1"], r#"null"#),
        (
            r#" // only
"#,
            &["empty 2:1"],
            r#"null"#,
        ),
        ("\r\n", &["empty 2:1"], r#"null"#),
    ]);
}

#[test]
fn spaces_are_those_of_json() {
    assert_read(&[
        ("{\"a\":\u{a0}1,\u{a0} \u{a0}\"b\": 2}", &["odd-space 1:6 a", "odd-space 1:9"], r#"{"a":1,"b":2}"#),
        ("\u{feff}{\u{feff}\"a\": 1\u{200b}}", &["odd-space 1:2", "odd-space 1:9"], r#"{"a":1}"#),
        ("{\u{b}\"a\": opus\u{a0}x}", &["odd-space 1:2", "bare-word 1:8 a"], r#"{"a":null}"#),
        ("{\"a\": \"\u{a0}\"}", &[], "{\"a\":\"\u{a0}\"}"),
    ]);
}

#[test]
fn lines_end_in_three_ways() {
    assert_read(&[
        ("{\r\n  \"a\": 1\r\n  \"b\": 2\r\n}\r\n", &["missing-comma 2:9 a"], r#"{"a":1,"b":2}"#),
        ("{\r  // x\r  \"a\": 1\r  \"b\": 2\r}", &["missing-comma 3:9 a"], r#"{"a":1,"b":2}"#),
        (
            "\u{feff}{\"🦀\": 1 \"b\": \"x\r\n\"c\": 2}",
            &[r#"missing-comma 1:8 ["🦀"]"#, "unclosed-text 1:14 b"],
            r#"{"🦀":1,"b":null,"c":2}"#,
        ),
    ]);
}

#[test]
fn it_is_in_another_encoding() {
    for text in ["\u{fffd}\u{fffd}{\0\"\0v\0", "{\0\"\0v\0", "\0{\0\"", "\0\0\0\0", "{\0\0\0}\0\0\0"] {
        assert_read(&[(text, &["not-utf8 1:1"], "null")]);
    }
    let utf16: Vec<u8> = "{ \"a\": \"\u{e9}\" }".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_read(&[(&String::from_utf8_lossy(&utf16), &["not-utf8 1:1"], "null")]);
}
