//! Time in proportion to the text, whatever it is.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::problem::placed;
use crate::syntax::read;

const MANY: usize = 100_000;
const MIB: usize = 1 << 20;

/// Square time takes minutes for these, so that the bound can be wide.
const BOUND: Duration = Duration::from_secs(5);

/// What a text is filled with.
const PARTS: &[&str] = &[
    "[",
    "{",
    "]",
    "}",
    "\"",
    "a ",
    "a",
    "'",
    ":",
    "=",
    ",",
    ";",
    "/",
    "/*",
    "/**/",
    "//",
    "*/",
    "\\",
    "#",
    "\u{a0}",
    " ",
    "\u{201c}",
    "\u{ab}",
    "`",
    "\r",
    "\n",
    "\r\n",
    "\n<<<<<<< a\n",
    "\n=======\n",
    "\n>>>>>>> a\n",
    "\n<<<<<<<\n{\n=======\n}\n>>>>>>>\n",
    "1 ",
    "1,",
    "a,",
    "a:",
    "\"a\" ",
    "\"a\",",
    "\"a\":",
    "\"a\"b",
    "\"a\nb\n",
    "'a ",
    "'a'b",
    "\\\"",
    "\"\\",
    "a\"",
    "a[",
    "a[b]",
    "${",
    "[]",
    "{}",
    "[1",
    "{\"a\":",
    "{\"a\":1},",
    "{\"a\":\n",
    "\"a\"\n",
    "a\n",
    "a //",
    "a /*",
    "a:1\n",
    "\"a\n,",
    "\"\"\n\"a",
    "]}",
    "[}",
    "{]",
    "\u{1f980}",
    "\0",
    "\t",
    "true ",
    "tru",
    "10 a",
    "10 a:",
];

#[test]
fn no_text_takes_the_square() {
    for part in PARTS {
        assert_time_around(&part.repeat(MANY), part);
    }
}

#[test]
#[ignore = "long: texts of 1 MiB take a minute"]
fn no_text_of_a_mebibyte_takes_the_square() {
    for part in PARTS {
        assert_time_around(&part.repeat(MIB / part.len()), part);
    }
}

#[test]
fn a_large_good_text_on_one_line_takes_no_square() {
    let members: Vec<String> = (0..60_000).map(|at| format!("\"key{at}\" : {{ \"a\": [\"x\",true], /**/ }}")).collect();
    let text = format!("{{{}}}", members.join(","));
    assert_time(&text, || "members".to_owned());
    let document = read(&text);
    assert!(document.found.is_empty(), "{:?}", document.found);
    assert_eq!(document.root.to_value().as_object().map(serde_json::Map::len), Some(60_000));
    let items = format!("[{}1]", "1, ".repeat(MIB / 3));
    assert_time(&items, || "items".to_owned());
    assert_eq!(read(&items).root.to_value().as_array().map(Vec::len), Some(MIB / 3 + 1));
}

#[test]
fn a_slip_on_each_of_many_long_lines_takes_no_square() {
    let line = format!("{} ", "a ".repeat(5_000));
    for slip in ["opus", "\"x\" \"y\"", "\"x\"y\"", "'x'", "{ ]", "\"a", "k:", "\u{a0}", "#"] {
        let text = format!("[{}]", format!("{slip} {line}\n").repeat(100));
        assert_time(&text, || slip.to_owned());
    }
}

/// Where values, keys or texts are due.
fn assert_time_around(filling: &str, part: &str) {
    for (head, tail) in [("", ""), ("[", "]"), ("{", "}"), ("{\"a\":", "}"), ("[\"", "\"]"), ("{\"a\n", "")] {
        assert_time(&[head, filling, tail].concat(), || format!("{head:?} {part:?} {tail:?}"));
    }
}

fn assert_time(text: &str, what: impl Fn() -> String) {
    let start = Instant::now();
    let document = read(text);
    let _: Value = document.root.to_value();
    placed(text, document.found);
    let taken = start.elapsed();
    assert!(taken < BOUND, "{taken:?} for {}", what());
}
