//! Where reading ends, and whole files.

use super::assert_read;
use crate::problem::placed;
use crate::syntax::{DEPTH, read};
use crate::{Code, MAX_PROBLEMS};

#[test]
fn nesting_has_an_end() {
    for (open, inner, close) in [("[", "", "]"), ("{\"a\":", "1", "}")] {
        let nested = |depth: usize| [&open.repeat(depth), inner, &close.repeat(depth)].concat();
        assert!(read(&nested(DEPTH)).found.is_empty());
        // The one that is too deep is all that is told, and not what is not closed for it.
        for depth in [DEPTH + 1, 10_000] {
            let found = read(&nested(depth)).found;
            let found: Vec<_> = found.iter().map(|finding| (&finding.code, finding.span.clone())).collect();
            assert_eq!(found, [(&Code::TooDeep, DEPTH * open.len()..DEPTH * open.len() + 1)]);
        }
    }
}

#[test]
fn a_hundred_problems_are_enough() {
    for (count, expected) in [(99, 99), (100, 100), (101, 101), (100_000, 101)] {
        // The list is not closed: that is told at its beginning.
        let text = format!("[{}", "x,".repeat(count - 1));
        let problems = placed(&text, read(&text).found);
        assert_eq!(problems.len(), expected, "{count}");
        let last = problems.last().expect("a problem");
        assert_eq!(last.code == Code::TooManyProblems, count > MAX_PROBLEMS, "{count}");
        assert_eq!(problems.iter().filter(|problem| problem.code == Code::TooManyProblems).count(), expected / 101);
    }
}

#[test]
fn several_slips_in_one_file_are_told_each() {
    assert_read(&[(
        r#"{
  "version": 1
  "agents": {
    'a': { command: "x", "args": ["1" "2",,] },
    "b": { "command": "y", "model": opus, },
    "c": { "command": "C:\bin\z" },
    "d": { "command" "y" },
    "e": { "command": }
  }
}
"#,
        &[
            "missing-comma 2:15 version",
            "wrong-quotes 4:5 agents.a",
            "unquoted-key 4:12 agents.a.command",
            "missing-comma 4:38 agents.a.args[0]",
            "extra-comma 4:43 agents.a.args",
            "bare-word 5:37 agents.b.model",
            "bad-escape 6:30 agents.c.command",
            "missing-colon 7:21 agents.d.command",
            "missing-value 8:22 agents.e.command",
        ],
        r#"{"version":1,"agents":{"a":{"command":"x","args":["1","2"]},"b":{"command":"y","model":null},
            "c":{"command":null},"d":{"command":"y"},"e":{"command":null}}}"#,
    )]);
}

#[test]
fn columns_are_right_after_wide_characters() {
    let agent = |name: &str, env: &str, model: &str| {
        format!(
            "\t\t{name}: {{ \"display_name\": \"\u{1f980}\u{1f980}\", \"env\": {{ {env} }}, \"model\": {model} }},\r\n"
        )
    };
    let text = [
        "\u{feff}{\r\n\t// \u{e9}quipe \u{1f980}\r\n\t\"agents\": {\r\n",
        &agent("\"a\"", "\"API_KEY\": \"sk\"", "\"opus\""),
        &agent("\"a\"", "\"API_KEY\": \"sk\"", "\"opus\""),
        &agent("agent12", "\"API_KEY\": \"sk\"", "\"opus\""),
        &agent("\"b\"", "\"API_KEY\": \"sk\" \"DEBUG\": \"1\"", "\"opus\""),
        &agent("\"c\"", "\"API_KEY\": \"sk\"", "\"opus, \r\n\"mode\": \"x\""),
        "\t},\r\n}\r\n",
    ]
    .concat();
    let problems = placed(&text, read(&text).found);
    let places =
        problems.iter().map(|problem| (problem.id(), problem.start.line, problem.start.column, problem.start.utf16));
    assert_eq!(
        places.collect::<Vec<_>>(),
        [
            ("duplicate-key", 5, 3, 3),
            ("unquoted-key", 6, 3, 3),
            ("missing-comma", 7, 56, 58),
            ("unclosed-text", 8, 69, 71),
        ]
    );
    assert_eq!(problems[0].related.map(|place| (place.line, place.column)), Some((4, 3)));
}

#[test]
fn equal_keys_are_found_among_many() {
    let members: Vec<String> = (0..100).map(|at| format!("\"k{}\": {at}", at % 40)).collect();
    let text = format!("{{{}}}", members.join(","));
    let document = read(&text);
    assert_eq!(document.found.len(), 60);
    for finding in &document.found {
        let Code::DuplicateKey { key } = &finding.code else { panic!("{finding:?}") };
        let first = text.find(&format!("\"{key}\"")).expect("the first one");
        assert_eq!(finding.related, Some(first..first + key.len() + 2));
    }
    let values = document.root.to_value();
    assert_eq!((values["k0"].as_u64(), values["k39"].as_u64()), (Some(0), Some(39)));
}
