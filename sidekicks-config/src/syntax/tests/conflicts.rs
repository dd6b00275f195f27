//! What a merge leaves where it could not choose.

use super::assert_read;

/// A conflict of these two texts.
fn conflict(ours: &str, theirs: &str) -> String {
    format!("<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other/branch\n")
}

#[test]
fn a_conflict_is_told_once_and_neither_text_is_taken() {
    let entry = conflict(r#""a": { "x": 1 },"#, r#""a": { "x": 2 },"#);
    let inside = conflict(r#""x": 1"#, r#""x": 2"#);
    let cases = [
        (format!("{{\n{entry}\"b\": 1\n}}"), &["conflict-marker 2:1"][..], r#"{"b":1}"#),
        (format!("{{\n\"b\": 1,\n{entry}}}"), &["conflict-marker 3:1"], r#"{"b":1}"#),
        (format!("{{\n\"b\": 1\n{}}}", conflict("", ", \"c\": 2")), &["conflict-marker 3:1"], r#"{"b":1}"#),
        (format!("{{\"b\": {{\n{inside}}}, \"c\": 1}}"), &["conflict-marker 2:1 b"], r#"{"b":{},"c":1}"#),
        (format!("{{\"b\": [\n1,\n{}2]}}", conflict("3,", "4,")), &["conflict-marker 3:1 b"], r#"{"b":[1,2]}"#),
        (format!("{{\"b\":\n{}\"c\": 1}}", conflict("3,", "4,")), &["conflict-marker 2:1 b"], r#"{"b":null,"c":1}"#),
        (
            format!("{{\n{entry}\"b\": 1,\n{entry}\"c\": 2\n}}"),
            &["conflict-marker 2:1", "conflict-marker 8:1"],
            r#"{"b":1,"c":2}"#,
        ),
        // With the text that both come from, other line ends, and marks without a name.
        (
            "{\r\n<<<<<<<\r\n\"a\": 1\r\n||||||| base\r\n\"a\": 2\r\n=======\r\n\"a\": 3\r\n>>>>>>>\r\n}".to_owned(),
            &["conflict-marker 2:1"],
            "{}",
        ),
        (conflict("{}", "{\"a\": 1}"), &["conflict-marker 1:1"], "null"),
        // A mark is a line of its own, and has seven characters.
        ("{\"a\": \"\n>>>>>>> x\"}".replace('\n', ""), &[], r#"{"a":">>>>>>> x"}"#),
        ("{ // x\n//\n/*\n=======\n*/ }".to_owned(), &[], "{}"),
    ];
    for (text, found, value) in cases {
        assert_read(&[(&text, found, value)]);
    }
}

#[test]
fn marks_that_do_not_come_out_even_end_the_reading() {
    let across = conflict("\"x\": 1 },\n\"b\": {", "\"y\": 1 },\n\"c\": {");
    let later = conflict("\"e\": 1,", "\"e\": 2,");
    let cases = [
        (format!("{{\"a\": {{\n{across}}},\n{later}}}"), &["conflict-marker 2:1 a", "conflict-marker 10:1"][..]),
        ("{\"a\": {\n<<<<<<< HEAD\n\"x\": 1\n=======\n} }".to_owned(), &["conflict-marker 2:1 a"]),
        ("{\"a\": {\n\"x\": 1\n=======\n\"x\": 2\n} }".to_owned(), &["conflict-marker 3:1 a"]),
    ];
    for (text, found) in &cases[..2] {
        assert_read(&[(text, found, r#"{"a":{}}"#)]);
    }
    assert_read(&[(&cases[2].0, cases[2].1, r#"{"a":{"x":1}}"#)]);
    // Only the beginning is gone, or only the end is there.
    assert_read(&[
        ("{\n\"x\": 1,\n=======\n\"x\": 2,\n>>>>>>> b\n\"y\": 1}", &["conflict-marker 3:1"], r#"{"x":1,"y":1}"#),
        ("{\n\"x\": 1,\n>>>>>>> b\n\"y\": 1}", &["conflict-marker 3:1"], r#"{"x":1,"y":1}"#),
    ]);
}
