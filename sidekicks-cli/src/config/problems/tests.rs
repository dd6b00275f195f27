use super::*;
use crate::style::Color;

/// Every value is a secret here: nothing of one may be shown.
const TEXT: &str = r#"{
  "version": 1, // sk-secret
  "defaults": { "env": { "TOKEN": "sk-secret:1,{2}" } },
  "mcp_servers": { "m": { "type": "http", "url": "https://sk-secret", "headers": { "Authorization": "sk-secret x" } } },
  "agents": {
    "riker": { "command": "sh", "model": "sk-secret", "env": { "API_KEY": "sk-secret", "B": "x, sk-secret: 'y'" } },
    "data": { "command": "sh", "args": ["--key", "sk-secret \" sk-secret"], "env": { "C": "${NONE}sk-secret" } }
  }
}"#;

/// The text with a mistake at every place: a character that is missing, wrong, or one too many.
fn mistakes() -> impl Iterator<Item = String> {
    let places = TEXT.char_indices().map(|(at, c)| (at, at + c.len_utf8()));
    places.flat_map(|(at, end)| {
        let replaced = ["", "\"", "'", ":", "}", "\n"].map(|put| format!("{}{put}{}", &TEXT[..at], &TEXT[end..]));
        let added = ["\"", ":", ",", "\n"].map(|put| format!("{}{put}{}", &TEXT[..at], &TEXT[at..]));
        replaced.into_iter().chain(added)
    })
}

#[test]
fn no_value_is_ever_shown() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let look = Look { lang: Lang::En, paint: Color::Never.on_terminal(|_| None), width: 100 };
    let unquoted = TEXT.replace("\"sk-secret\"", "sk-secret");
    let single = TEXT.replace('"', "'");
    for text in mistakes().chain([TEXT.to_owned(), unquoted, single]) {
        std::fs::write(file.path(), &text).unwrap();
        let loaded = sidekicks_config::load(file.path()).unwrap();
        let problems = Problems::of(&loaded, Path::new("sidekicks.jsonc"));
        for shown in [problems.report(look), problems.json(Lang::Fr).to_string()] {
            // Nor a part of it.
            for part in ["sk-", "secret", "-sec", "cret"] {
                assert!(!shown.contains(part), "{part} of {text} in {shown}");
            }
        }
    }
}
