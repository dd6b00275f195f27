//! Texts.

use super::assert_read;

#[test]
fn a_text_has_other_quotes() {
    assert_read(&[
        (
            r#"{"a": 'x', "b": '', "c": "it's"}"#,
            &["wrong-quotes 1:7 a", "wrong-quotes 1:17 b"],
            r#"{"a":"x","b":"","c":"it's"}"#,
        ),
        (
            r#"{"a": “x”, "b": `y`, "c": «z»}"#,
            &["wrong-quotes 1:7 a", "wrong-quotes 1:17 b", "wrong-quotes 1:27 c"],
            r#"{"a":"x","b":"y","c":"z"}"#,
        ),
        (r#"{"a": 'it's', "b": 1}"#, &["wrong-quotes 1:7 a"], r#"{"a":null,"b":1}"#),
    ]);
}

#[test]
fn a_text_has_no_quotes() {
    assert_read(&[
        (r#"{"a": opus, "b": 1}"#, &["bare-word 1:7 a"], r#"{"a":null,"b":1}"#),
        (
            r#"{"a": opus
}"#,
            &["bare-word 1:7 a"],
            r#"{"a":null}"#,
        ),
        (
            r#"{"a": claude opus 4, "b": opus[1m], "c": ${HOME}/bin, "d": 1}"#,
            &["bare-word 1:7 a", "bare-word 1:27 b", "bare-word 1:42 c"],
            r#"{"a":null,"b":null,"c":null,"d":1}"#,
        ),
        (r#"{"a": opus", "b": 1}"#, &["bare-word 1:7 a"], r#"{"a":null,"b":1}"#),
        (
            r#"{"a": http://x/y, "b": ~/x // home
}"#,
            &["bare-word 1:7 a", "bare-word 1:24 b"],
            r#"{"a":null,"b":null}"#,
        ),
        (
            r#"{"a": --acp, "b": @x, "c": *.rs, "d": <none>, "e": (1)}"#,
            &["bare-word 1:7 a", "bare-word 1:19 b", "bare-word 1:28 c", "bare-word 1:39 d", "bare-word 1:52 e"],
            r#"{"a":null,"b":null,"c":null,"d":null,"e":null}"#,
        ),
        (r#"{"a": Bearer sk-1 "b": 1}"#, &["bare-word 1:7 a", "missing-comma 1:18 a"], r#"{"a":null,"b":1}"#),
        (
            r#"["--acp" --x, y"]"#,
            &["missing-comma 1:9 [0]", "bare-word 1:10 [1]", "bare-word 1:15 [2]"],
            r#"["--acp",null,null]"#,
        ),
        (
            r#"{"a": undefined, "b": True, "c": None, "d": NaN, "e": -Infinity}"#,
            &["bare-word 1:7 a", "bare-word 1:23 b", "bare-word 1:34 c", "bare-word 1:45 d", "bare-word 1:55 e"],
            r#"{"a":null,"b":null,"c":null,"d":null,"e":null}"#,
        ),
        (
            r#"{"a": 10 minutes, "b": 512 MiB, "c": 10min}"#,
            &["bare-word 1:7 a", "bare-word 1:24 b", "bare-word 1:38 c"],
            r#"{"a":null,"b":null,"c":null}"#,
        ),
    ]);
}

#[test]
fn a_text_is_not_closed() {
    assert_read(&[
        (
            r#"{"a": "opus,
 "b": 1}"#,
            &["unclosed-text 1:7 a"],
            r#"{"a":null,"b":1}"#,
        ),
        (
            r#"{"a": "opus
}"#,
            &["unclosed-text 1:7 a"],
            r#"{"a":null}"#,
        ),
        (
            r#"{"a": {"b": "opus },
 "c": 1}"#,
            &["unclosed-text 1:13 a.b"],
            r#"{"a":{"b":null},"c":1}"#,
        ),
        (r#"{"a": "opus, "b": 1}"#, &["unclosed-text 1:7 a"], r#"{"a":null,"b":1}"#),
        (r#"["a, "b", "c"]"#, &["unclosed-text 1:2 [0]"], r#"[null,"b","c"]"#),
        (r#"["a", "b]"#, &["unclosed-text 1:7 [1]"], r#"["a",null]"#),
        (r#"{"a": {"b": "x }, "c": {"d": 1}}"#, &["unclosed-text 1:13 a.b"], r#"{"a":{"b":null},"c":{"d":1}}"#),
        (r#"{"a": "x”, "b": 1}"#, &["unclosed-text 1:7 a"], r#"{"a":null,"b":1}"#),
        (r#"{"a": "x', "b": 1}"#, &["unclosed-text 1:7 a"], r#"{"a":null,"b":1}"#),
        (
            r#"{"a": "opus, // which
 "b": 1}"#,
            &["unclosed-text 1:7 a"],
            r#"{"a":null,"b":1}"#,
        ),
        (r#"{"a": "C:\dir\", "b": 1}"#, &["unclosed-text 1:7 a"], r#"{"a":null,"b":1}"#),
        (
            r#"{"a": "C:\dir\",
 "b": 1}"#,
            &["unclosed-text 1:7 a"],
            r#"{"a":null,"b":1}"#,
        ),
    ]);
}

#[test]
fn a_text_goes_over_several_lines() {
    assert_read(&[
        (
            r#"{"a": "one
 two, three
 four", "b": 1}"#,
            &["unclosed-text 1:7 a"],
            r#"{"a":null,"b":1}"#,
        ),
        (
            r#"{"a": "one
 two
 ",
 "b": 1}"#,
            &["unclosed-text 1:7 a"],
            r#"{"a":null,"b":1}"#,
        ),
        (
            r#"["one
 two", "x"]"#,
            &["unclosed-text 1:2 [0]"],
            r#"[null,"x"]"#,
        ),
    ]);
}

#[test]
fn a_quote_stands_inside_a_text() {
    assert_read(&[
        (r#"{"a": "say "hi" now", "b": 1}"#, &["inner-quote 1:12 a"], r#"{"a":null,"b":1}"#),
        (r#"{"a": "{"b": 1, "c": 2}", "d": 1}"#, &["inner-quote 1:9 a"], r#"{"a":null,"d":1}"#),
        (r#"{"a": ""x"", "b": 1}"#, &["inner-quote 1:8 a"], r#"{"a":null,"b":1}"#),
        (r#"{"a": "x"", "b": 1}"#, &["unexpected 1:10 a"], r#"{"a":"x","b":1}"#),
        (r#"["a""]"#, &["unexpected 1:5 [0]"], r#"["a"]"#),
    ]);
}

#[test]
fn a_character_cannot_stand_in_a_text() {
    assert_read(&[
        (
            "{\"a\": \"\tx\t\", \"b\": \"\u{0}\"}",
            &["control-character 1:8 a", "control-character 1:20 b"],
            r#"{"a":"\tx\t","b":"\u0000"}"#,
        ),
        ("{\"a\": \"x\u{7f}\u{2028}\"}", &[], "{\"a\":\"x\u{7f}\u{2028}\"}"),
        (
            r#"{"a": "C:\bin\z", "b": "\u12", "c": "\ud800", "d": "\x41", "e": "\u00e9\ud83e\udd80\n\/"}"#,
            &["bad-escape 1:14 a", "bad-escape 1:25 b", "bad-escape 1:38 c", "bad-escape 1:53 d"],
            r#"{"a":null,"b":null,"c":null,"d":null,"e":"é🦀\n/"}"#,
        ),
    ]);
}

#[test]
fn words_of_other_languages_are_hinted_at() {
    let cases = [
        ("True", Some("true")),
        ("FALSE", Some("false")),
        ("None", Some("null")),
        ("NULL", Some("null")),
        ("opus", None),
        ("True story", None),
        ("yes", None),
    ];
    for (word, nearest) in cases {
        let text = format!("{{\"a\": {word}, \"b\": 1}}");
        let found = crate::syntax::read(&text).found;
        let code = crate::Code::BareWord { nearest: nearest.map(str::to_owned) };
        assert_eq!(found.into_iter().map(|finding| finding.code).collect::<Vec<_>>(), [code], "{word}");
    }
}
