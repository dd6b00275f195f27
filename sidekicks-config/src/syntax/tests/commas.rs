//! Commas.

use super::assert_read;

#[test]
fn a_comma_is_missing() {
    assert_read(&[
        (
            r#"{"a": 1
 "b": 2}"#,
            &["missing-comma 1:8 a"],
            r#"{"a":1,"b":2}"#,
        ),
        (r#"{"a": 1 "b": 2}"#, &["missing-comma 1:8 a"], r#"{"a":1,"b":2}"#),
        (
            r#"{"a": {} "b": []
"c": 3}"#,
            &["missing-comma 1:9 a", "missing-comma 1:17 b"],
            r#"{"a":{},"b":[],"c":3}"#,
        ),
        (
            r#"{"a": "x" // one
 "b": 2}"#,
            &["missing-comma 1:10 a"],
            r#"{"a":"x","b":2}"#,
        ),
        (r#"{"a": 1 /* x */ "b": 2}"#, &["missing-comma 1:8 a"], r#"{"a":1,"b":2}"#),
        (
            r#"["a" "b"
 "c"]"#,
            &["missing-comma 1:5 [0]", "missing-comma 1:9 [1]"],
            r#"["a","b","c"]"#,
        ),
        (r#"["a""b"]"#, &["missing-comma 1:5 [0]"], r#"["a","b"]"#),
        (r#"[true false null]"#, &["missing-comma 1:6 [0]", "missing-comma 1:12 [1]"], r#"[true,false,null]"#),
        (r#"[1 2 [3]]"#, &["missing-comma 1:3 [0]", "missing-comma 1:5 [1]"], r#"[1,2,[3]]"#),
        (r#"{"a": true b: 1}"#, &["missing-comma 1:11 a", "unquoted-key 1:12 b"], r#"{"a":true,"b":1}"#),
        (
            r#"{"a": "x"
"b": "y"
"c": ["1"
"2"]}"#,
            &["missing-comma 1:10 a", "missing-comma 2:9 b", "missing-comma 3:10 c[0]"],
            r#"{"a":"x","b":"y","c":["1","2"]}"#,
        ),
    ]);
}

#[test]
fn a_comma_is_one_too_many() {
    assert_read(&[
        (r#"{"a": 1,, "b": 2}"#, &["extra-comma 1:9"], r#"{"a":1,"b":2}"#),
        (r#"{"a": 1,,, "b": 2,}"#, &["extra-comma 1:9", "extra-comma 1:10"], r#"{"a":1,"b":2}"#),
        (r#"{, "a": 1}"#, &["extra-comma 1:2"], r#"{"a":1}"#),
        (r#"[1,,2,,]"#, &["extra-comma 1:4", "extra-comma 1:7"], r#"[1,2]"#),
        (r#"[,]"#, &["extra-comma 1:2"], r#"[]"#),
        (r#"{"a": 1, , }"#, &["extra-comma 1:10"], r#"{"a":1}"#),
        (r#"{"a": 1, /* x */ , "b": 2}"#, &["extra-comma 1:18"], r#"{"a":1,"b":2}"#),
        (r#",{"a": 1}"#, &["extra-comma 1:1"], r#"{"a":1}"#),
    ]);
}

#[test]
fn another_mark_stands_for_a_comma() {
    assert_read(&[
        (
            r#"{"a": 1; "b": "x"; "c": opus; "d": 2;}"#,
            &["unexpected 1:8", "unexpected 1:18", "bare-word 1:25 c", "unexpected 1:29", "unexpected 1:37"],
            r#"{"a":1,"b":"x","c":null,"d":2}"#,
        ),
        (
            r#"{"a": opus;
 "b": 1}"#,
            &["bare-word 1:7 a", "unexpected 1:11"],
            r#"{"a":null,"b":1}"#,
        ),
        (r#"["a"; 1; "b"]"#, &["unexpected 1:5", "unexpected 1:8"], r#"["a",1,"b"]"#),
    ]);
}
