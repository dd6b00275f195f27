//! Numbers.

use super::assert_read;

#[test]
fn a_number_is_not_one_of_json() {
    assert_read(&[
        (
            r#"{"a": +1, "b": 0x10, "c": 1., "d": 007, "e": .5, "f": 1_000, "g": 1e, "h": --1}"#,
            &[
                "bad-number 1:7 a",
                "bad-number 1:16 b",
                "bad-number 1:27 c",
                "bad-number 1:36 d",
                "bad-number 1:46 e",
                "bad-number 1:55 f",
                "bad-number 1:67 g",
                "bad-number 1:76 h",
            ],
            r#"{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null,"h":null}"#,
        ),
        (
            r#"{"a": 1.5.2, "b": 2024-01-01, "c": -}"#,
            &["bad-number 1:7 a", "bad-number 1:19 b", "bare-word 1:36 c"],
            r#"{"a":null,"b":null,"c":null}"#,
        ),
        (r#"{"a": 1e999, "b": -1e999}"#, &["bad-number 1:7 a", "bad-number 1:19 b"], r#"{"a":null,"b":null}"#),
    ]);
}

#[test]
fn a_number_may_be_large_or_small() {
    assert_read(&[(
        r#"[0, -0, 1e5, 1E-400, 18446744073709551615, 18446744073709551616, 12345678901234567890123, -9223372036854775808]"#,
        &[],
        r#"[0,-0.0,100000.0,0.0,18446744073709551615,1.8446744073709552e+19,1.2345678901234568e+22,-9223372036854775808]"#,
    )]);
}
