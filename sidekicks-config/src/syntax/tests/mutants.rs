//! Texts for the laws: good ones, and good ones that somebody's hand slipped on.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

/// Good texts, with all that is allowed in them.
pub(super) const GOOD: [&str; 4] = [
    "\u{feff}// \u{e9}quipe \u{1f980}\r\n{\r\n\t/* the format */ \"version\": 1,\r\n\t\"agents\": {\r\n\t\t\"riker\": { \"command\": \
     \"mm\", \"args\": [\"acp\", \"\u{e9}\u{1f980}\"], }, // trailing\r\n\t},\r\n}\r\n",
    r#"{
  "$schema": "https://example.invalid/schema.json",
  "version": 1,
  "limits": { "max_running": 4, "max_memory": "16GiB" },
  "workspaces": { "api": { "path": "~/src/api" }, "web": { "path": "C:\\src\\web" } },
  "mcp_servers": { "bugs": { "type": "http", "url": "https://example.invalid/mcp" } }, // http
  "agents": {
    "data": {
      "command": "agent", "args": ["--acp", "--name=\"x\""], "enabled": true,
      "env": { "API_KEY": "${KEY}", "DEBUG": "1" },
      "idle_timeout": "10min", /* long */ "mcp_servers": ["bugs",],
    },
    "geordi": { "command": "agent" }
  },
  "channels": { "review": { "members": ["data", "geordi"] } }
}
"#,
    r#"{"a":[0,-1,1.5,2e3,-0.25E-2,18446744073709551615,null,true,false,[],{}],"é🦀":"\u00e9\ud83e\udd80\n\"\\\/","":{"b":{"c":[[[1]]]}}}"#,
    "[1, 2.0, \"x\", // one\r /* two */ {\"a\" : null},\n]",
];

/// A slip of the hand. Places are in characters.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    Delete(Index, usize),
    Insert(Index, char),
    Replace(Index, char),
    Repeat(Index, Index, usize),
    Cut(Index),
}

pub(super) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let typed = "{}[],:\"'\\/*#\n\r\t \u{1f980}\u{e9}0-.etrue".chars().collect::<Vec<_>>();
    let typed = || prop::sample::select(typed.clone());
    let edit = prop_oneof![
        4 => (any::<Index>(), prop_oneof![4 => Just(1), 1 => 2..30usize]).prop_map(|(at, count)| Edit::Delete(at, count)),
        4 => (any::<Index>(), typed()).prop_map(|(at, c)| Edit::Insert(at, c)),
        4 => (any::<Index>(), typed()).prop_map(|(at, c)| Edit::Replace(at, c)),
        2 => (any::<Index>(), any::<Index>(), 1..30usize).prop_map(|(at, to, count)| Edit::Repeat(at, to, count)),
        1 => any::<Index>().prop_map(Edit::Cut),
    ];
    prop::collection::vec(edit, 1..=3)
}

/// The text after these slips.
pub(super) fn slipped(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for edit in edits {
        let len = chars.len();
        if len == 0 {
            break;
        }
        match edit {
            Edit::Delete(at, count) => {
                let at = at.index(len);
                chars.drain(at..len.min(at + count));
            }
            Edit::Insert(at, c) => chars.insert(at.index(len + 1), *c),
            Edit::Replace(at, c) => chars[at.index(len)] = *c,
            Edit::Repeat(at, to, count) => {
                let at = at.index(len);
                let slice = chars[at..len.min(at + count)].to_vec();
                let to = to.index(len + 1);
                chars.splice(to..to, slice);
            }
            Edit::Cut(at) => chars.truncate(at.index(len)),
        }
    }
    chars.into_iter().collect()
}

/// A good text or one of the grammar, with up to three slips.
pub(super) fn mutants() -> impl Strategy<Value = String> {
    let good = prop_oneof![3 => prop::sample::select(&GOOD[..]).prop_map(str::to_owned), 2 => documents()];
    (good, edits()).prop_map(|(text, edits)| slipped(&text, &edits))
}

/// Texts of the marks that matter, in no order.
pub(super) fn soup() -> impl Strategy<Value = String> {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "'",
        "\\",
        "//",
        "/*",
        "*/",
        "#",
        "\n<<<<<<< a\n",
        "\n=======\n",
        "\n>>>>>>> b\n",
        "\n",
        "\r\n",
        "\r",
        "\t",
        " ",
        "\u{a0}",
        "\u{feff}",
        "\u{201c}",
        "\u{201d}",
        "\u{ab}",
        "=",
        ";",
        "a",
        "\u{e9}",
        "\u{1f980}",
        "0",
        "-1",
        ".5",
        "1e9",
        "true",
        "null",
        "\"k\":",
        "\"v\"",
        "\\u",
        "d83e",
        "\0",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60).prop_map(|words| words.concat())
}

/// JSONC of any shape: every blank, comment and last comma that may be there.
pub(super) fn documents() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        text(),
    ];
    let value = leaf.prop_recursive(5, 40, 6, |inner| {
        let items = prop::collection::vec((blank(), inner.clone(), blank()), 0..6);
        let list = (items, any::<bool>(), blank()).prop_map(|(items, comma, end)| {
            let items: Vec<String> = items.into_iter().map(|(before, item, after)| before + &item + &after).collect();
            format!("[{}{}{end}]", items.join(","), if comma && !items.is_empty() { "," } else { "" })
        });
        let members = prop::collection::vec((blank(), text(), blank(), inner, blank()), 0..6);
        let map = (members, any::<bool>(), blank()).prop_map(|(members, comma, end)| {
            let members: Vec<String> = members
                .into_iter()
                .map(|(before, key, between, value, after)| format!("{before}{key}{between}:{between}{value}{after}"))
                .collect();
            format!("{{{}{}{end}}}", members.join(","), if comma && !members.is_empty() { "," } else { "" })
        });
        prop_oneof![list, map]
    });
    (blank(), value, blank()).prop_map(|(before, value, after)| before + &value + &after)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>().prop_map(|text| Value::from(text).to_string()),
        "\"([a-c]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4}|\\\\ud83[de]\\\\ud[c-f][0-9a-f]{2}|\u{7f}|\u{e9}|\u{1f980}){0,8}\"",
    ]
}

fn blank() -> impl Strategy<Value = String> {
    let blank = ["", " ", "\t", "\n", "\r\n", "\r", "// x\n", "// \"\r", "/**/", "/* {[, */", "//\r\n"];
    prop::collection::vec(prop_oneof![3 => Just(""), 2 => prop::sample::select(blank.to_vec())], 0..3)
        .prop_map(|blanks| blanks.concat())
}
