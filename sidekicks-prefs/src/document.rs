//! The text of the preferences: JSON in which everything that is not ours is kept.

use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::preferences::{MOST_RECENT, Preferences};

/// The version of the shape that this crate writes.
const VERSION: u64 = 1;

/// What a preferences file says, fields included that this version does not know. Each field is the text that it has, so
/// that a number which we could not hold stays what it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document(IndexMap<String, Box<RawValue>>);

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.fields().eq(other.fields())
    }
}

/// A field is there and has another type than ours.
struct Foreign;

impl Document {
    /// `None` where this is no JSON object. A byte order mark is passed over.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)).ok().map(Self)
    }

    pub(crate) fn text(&self) -> io::Result<String> {
        Ok(serde_json::to_string_pretty(&self.0)? + "\n")
    }

    /// The fields, in order, with their texts.
    fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, raw)| (name.as_str(), raw.get()))
    }

    /// `None` where there is no such field, and `Some(None)` where its value is none that can be held.
    pub(crate) fn field(&self, name: &str) -> Option<Option<Value>> {
        Some(serde_json::from_str(self.0.get(name)?.get()).ok())
    }

    /// Sets a field, at the end or where it is already. `false` where that cannot be.
    pub(crate) fn insert(&mut self, name: &str, value: &Value) -> bool {
        let text = serde_json::to_string_pretty(value).map(|text| text.replace('\n', "\n  "));
        match text.and_then(RawValue::from_string) {
            Ok(raw) => {
                self.0.insert(name.to_owned(), raw);
                true
            }
            Err(_) => false,
        }
    }

    /// A field of another type counts as one that is not there.
    pub(crate) fn preferences(&self) -> Preferences {
        Preferences { last: self.last().unwrap_or_default(), recent: self.recent().unwrap_or_default() }
    }

    /// The version of the shape, where a newer program wrote this.
    pub(crate) fn newer_version(&self) -> Option<u64> {
        self.field("version")??.as_u64().filter(|version| *version > VERSION)
    }

    /// Writes what differs, and only that. `false` where a newer program gave a field a type that we do not know: its
    /// value is left to it.
    #[must_use]
    pub(crate) fn set(&mut self, to: &Preferences) -> bool {
        let now = self.preferences();
        let mut done = true;
        if to.last != now.last {
            let value = to.last.as_deref().and_then(Path::to_str).map_or(Value::Null, Value::from);
            done &= self.put("last", value, self.last().is_err());
        }
        if to.recent != now.recent {
            let value = to.recent.iter().filter_map(|path| path.to_str()).collect();
            done &= self.put("recent", value, self.recent().is_err());
        }
        done
    }

    fn put(&mut self, name: &str, value: Value, foreign: bool) -> bool {
        if foreign && self.newer_version().is_some() {
            return false;
        }
        if !self.0.contains_key("version") && !self.insert("version", &VERSION.into()) {
            return false;
        }
        self.insert(name, &value)
    }

    fn last(&self) -> Result<Option<PathBuf>, Foreign> {
        match self.field("last") {
            None | Some(Some(Value::Null)) => Ok(None),
            Some(Some(Value::String(path))) => Ok(absolute(&path)),
            Some(_) => Err(Foreign),
        }
    }

    /// What was edited by hand may be too long, or name a file twice.
    fn recent(&self) -> Result<Vec<PathBuf>, Foreign> {
        let values = match self.field("recent") {
            None | Some(Some(Value::Null)) => return Ok(Vec::new()),
            Some(Some(Value::Array(values))) => values,
            Some(_) => return Err(Foreign),
        };
        let paths: Vec<&str> = values.iter().map(|value| value.as_str().ok_or(Foreign)).collect::<Result<_, _>>()?;
        let mut recent = Vec::new();
        for path in paths.into_iter().filter_map(absolute) {
            if !recent.contains(&path) && recent.len() < MOST_RECENT {
                recent.push(path);
            }
        }
        Ok(recent)
    }
}

/// A relative path would be another file wherever the program is started, and a stranger's project could answer for it.
fn absolute(path: &str) -> Option<PathBuf> {
    Some(PathBuf::from(path)).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn preferences(last: Option<&str>, recent: &[&str]) -> Preferences {
        Preferences { last: last.map(PathBuf::from), recent: recent.iter().map(PathBuf::from).collect() }
    }

    #[test]
    fn reading() {
        for (text, last, recent) in [
            ("{}", None, &[][..]),
            ("\u{feff}{\"last\": \"/a\"}", Some("/a"), &[]),
            (r#"{"version": 1, "last": "/a", "recent": ["/a", "/b"]}"#, Some("/a"), &["/a", "/b"]),
            (r#"{"version": 9, "last": "/a", "recent": ["/a"]}"#, Some("/a"), &["/a"]),
            (r#"{"version": "one", "last": "/a"}"#, Some("/a"), &[]),
            (r#"{"last": null, "recent": null}"#, None, &[]),
            (r#"{"last": 1, "recent": ["/a"]}"#, None, &["/a"]),
            (r#"{"last": "/a", "recent": ["/a", 1]}"#, Some("/a"), &[]),
            (r#"{"last": "/a", "recent": {"0": "/a"}}"#, Some("/a"), &[]),
            (r#"{"last": "a", "recent": ["", "a", "./a", "/a"]}"#, None, &["/a"]),
            (r#"{"recent": ["/a", "/b", "/a"]}"#, None, &["/a", "/b"]),
            (
                r#"{"recent": ["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"]}"#,
                None,
                &["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"],
            ),
        ] {
            let document = Document::parse(text.as_bytes()).unwrap();
            assert_eq!(document.preferences(), preferences(last, recent), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_object() {
        let deep = "[".repeat(100_000);
        for text in ["", " ", "{", "[]", "null", "\"/a\"", "{} {}", "{\"last\": \"/a\",}", deep.as_str()] {
            assert_eq!(Document::parse(text.as_bytes()), None, "{text:.20}");
        }
        assert_eq!(Document::parse(b"{\"last\": \"\xff\"}"), None, "not UTF-8");
        assert_eq!(Document::parse(&[0; 64]), None, "zeros, as a crash of the system can leave them");
    }

    #[test]
    fn writing() {
        let a = preferences(Some("/a"), &["/a"]);
        for (before, to, expected) in [
            ("{}", a.clone(), Some(r#"{"version":1,"last":"/a","recent":["/a"]}"#)),
            // Order and what is not ours stay.
            (
                r#"{"x":[1.5,{}],"recent":["/b"],"last":"/a","y":null}"#,
                a.clone(),
                Some(r#"{"x":[1.5,{}],"recent":["/a"],"last":"/a","y":null,"version":1}"#),
            ),
            (
                r#"{"version":7,"recent":[],"new":true}"#,
                a.clone(),
                Some(r#"{"version":7,"recent":["/a"],"new":true,"last":"/a"}"#),
            ),
            // A wrong type stays until that very field is written.
            (
                r#"{"version":"?","last":5,"recent":["/b"]}"#,
                preferences(None, &[]),
                Some(r#"{"version":"?","last":5,"recent":[]}"#),
            ),
            (r#"{"last":5,"recent":["/a"]}"#, a.clone(), Some(r#"{"last":"/a","recent":["/a"],"version":1}"#)),
            // In a newer version it is no mistake.
            (r#"{"version":2,"last":"/b","recent":[{"path":"/b"}]}"#, a.clone(), None),
            // Nothing differs.
            (r#"{"last":"/a","recent":["/a","b","/a"]}"#, a.clone(), Some(r#"{"last":"/a","recent":["/a","b","/a"]}"#)),
            (
                r#"{"last":"/a","recent":["/a"]}"#,
                preferences(None, &["/a"]),
                Some(r#"{"last":null,"recent":["/a"],"version":1}"#),
            ),
        ] {
            let mut document = Document::parse(before.as_bytes()).unwrap();
            let done = document.set(&to);
            let text = || serde_json::from_str::<Value>(&document.text().unwrap()).unwrap().to_string();
            assert_eq!(done.then(text).as_deref(), expected, "{before}");
        }
    }

    #[test]
    fn what_is_not_ours_keeps_its_text() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        for value in
            ["1e400", "12345678901234567890123", "1.0", "-0", "1E2", "\"\\ud800\"", "{\"a\":1,\"a\": 2}", &deep]
        {
            let text = format!("{{\"x\": {value}, \"last\": \"/b\"}}");
            let mut document = Document::parse(text.as_bytes()).expect(value);
            assert!(document.set(&preferences(Some("/a"), &["/a"])));
            assert_eq!(document.preferences(), preferences(Some("/a"), &["/a"]));
            let written = document.text().unwrap();
            assert!(written.contains(&format!("\n  \"x\": {value},\n")), "{written:.200}");
            assert_eq!(Document::parse(written.as_bytes()), Some(document));
        }
        // One of ours that we cannot hold has a wrong type.
        let document = Document::parse(br#"{"last": 1e400, "recent": ["/a"]}"#).unwrap();
        assert_eq!(document.preferences(), preferences(None, &["/a"]));
    }

    /// A field as anybody may have left it.
    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            (0..3u64).prop_map(Value::from),
            "/?[a-c]".prop_map(Value::from),
            proptest::collection::vec(prop_oneof![9 => "/?[a-l]".prop_map(Value::from), 1 => Just(Value::Null)], 0..12)
                .prop_map(Value::from),
            Just(serde_json::json!({"path": "/a"})),
        ]
    }

    proptest! {
        #[test]
        fn laws(
            fields in proptest::collection::vec((r"version|last|recent|x|y", value()), 0..6),
            to in ("/[a-c]", proptest::collection::btree_set("/[a-l]", 0..=8)),
        ) {
            let mut before = Document::default();
            for (name, value) in fields {
                prop_assert!(before.insert(&name, &value));
            }
            let read = before.preferences();
            prop_assert!(read.recent.len() <= MOST_RECENT);
            prop_assert!(read.recent.iter().chain(&read.last).all(|path| path.is_absolute()));
            let twice = |(at, path): (usize, &PathBuf)| read.recent[..at].contains(path);
            prop_assert!(!read.recent.iter().enumerate().any(twice));
            let mut same = before.clone();
            prop_assert!(same.set(&read));
            prop_assert_eq!(&same, &before, "what was read changes nothing");

            let to = Preferences { last: Some(to.0.into()), recent: to.1.into_iter().map(PathBuf::from).collect() };
            let mut after = before.clone();
            if after.set(&to) {
                prop_assert_eq!(after.preferences(), to);
            } else {
                prop_assert!(before.newer_version().is_some());
            }
            let kept = |document: &Document| {
                let others = document.fields().filter(|(name, _)| !["last", "recent"].contains(name));
                others.map(|(name, text)| (name.to_owned(), text.to_owned())).collect::<Vec<_>>()
            };
            prop_assert!(kept(&after).starts_with(&kept(&before)), "what is not ours stays, in its order");
            prop_assert_eq!(Document::parse(after.text()?.as_bytes()), Some(after));
        }
    }
}
