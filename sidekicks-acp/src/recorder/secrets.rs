//! What must not be in a record.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Texts that are kept out of a record.
#[derive(Debug, Default)]
pub(super) struct Secrets(Vec<String>);

/// Shorter ones are everywhere.
const SHORTEST: usize = 4;

const HIDDEN: &str = "[hidden]";

impl Secrets {
    pub(super) fn add(&mut self, secret: String) {
        // Logs are searched line by line, and may hold JSON.
        for line in secret.lines().map(str::trim) {
            self.look_for(line);
            self.look_for(serde_json::Value::from(line).to_string().trim_matches('"'));
        }
        self.look_for(&secret);
    }

    fn look_for(&mut self, secret: &str) {
        if secret.len() >= SHORTEST && !self.0.iter().any(|known| known == secret) {
            self.0.push(secret.to_owned());
            // One that holds another one goes first, so that nothing of it is left.
            self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// Of a line that is no message, and may be JSON all the same.
    pub(super) fn hidden_in_line<'t>(&self, line: &'t str) -> Cow<'t, str> {
        match self.hidden_in_json(line) {
            Cow::Borrowed(line) => self.hidden_in_text(line),
            hidden => hidden,
        }
    }

    /// The text without what may be the beginning of a secret at its end, where it was cut.
    pub(super) fn without_a_cut_one<'t>(&self, text: &'t str) -> &'t str {
        let ends_with = |secret: &&str| {
            (SHORTEST..secret.len()).rev().find(|&n| text.as_bytes().ends_with(&secret.as_bytes()[..n]))
        };
        let longest = self.0.iter().map(String::as_str).filter_map(|secret| ends_with(&secret)).max().unwrap_or(0);
        let end = (0..=text.len() - longest).rev().find(|&end| text.is_char_boundary(end));
        &text[..end.unwrap_or(0)]
    }

    pub(super) fn hidden_in_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.0 {
            if text.contains(secret) {
                text = Cow::Owned(text.replace(secret, HIDDEN));
            }
        }
        text
    }

    /// Of a message: as it is, or, where it holds a secret, written anew without it.
    pub(super) fn hidden_in_json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        // Without an escape a secret stands in the text as it is.
        let suspicious = json.contains('\\') || self.0.iter().any(|secret| json.contains(secret));
        if self.0.is_empty() || !suspicious {
            return Cow::Borrowed(json);
        }
        let mut value = crate::raw::value(json);
        if value.is_null() {
            return self.hidden_in_text(json); // It is none, or nested too deeply for a tree.
        }
        self.hide_in(&mut value);
        // Never the text itself, which may hold the secret in a field that comes twice.
        Cow::Owned(value.to_string())
    }

    /// The same of a message of ours, whose MCP servers may bring secrets of their own.
    pub(super) fn hidden_in_ours<'t>(&mut self, json: &'t str) -> Cow<'t, str> {
        if !json.contains("\"mcpServers\"") {
            return self.hidden_in_json(json);
        }
        let mut value = crate::raw::value(json);
        let servers = value.pointer_mut("/params/mcpServers").and_then(Value::as_array_mut);
        for server in servers.into_iter().flatten() {
            for list in ["env", "headers"] {
                let set = server.get_mut(list).and_then(Value::as_array_mut);
                for value in set.into_iter().flatten().filter_map(|variable| variable.get_mut("value")) {
                    if let Value::String(secret) = value.take() {
                        // What follows the scheme, as in "Bearer …", is secret by itself.
                        self.look_for(secret.split_once(' ').map_or("", |(_, token)| token));
                        self.add(secret);
                    }
                    *value = HIDDEN.into();
                }
            }
        }
        self.hide_in(&mut value);
        Cow::Owned(value.to_string())
    }

    fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(hidden) = self.hidden_in_text(text) {
                    *text = hidden;
                }
            }
            Value::Number(number) if matches!(self.hidden_in_text(&number.to_string()), Cow::Owned(_)) => {
                *value = HIDDEN.into();
            }
            Value::Array(list) => list.iter_mut().for_each(|element| self.hide_in(element)),
            Value::Object(fields) => {
                let hidden = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                    self.hide_in(&mut value);
                    (self.hidden_in_text(&key).into_owned(), value)
                });
                *fields = hidden.collect::<Map<_, _>>();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_in_whatever_form() {
        let mut secrets = Secrets::default();
        for secret in ["sk-é\"1", "sk-é\"1-long", "90210", "abc"] {
            secrets.add(secret.to_owned());
        }
        let cases = [
            (r#"{"a":"key sk-é\"1, and"}"#, r#"{"a":"key [hidden], and"}"#),
            (r#"{"a":["\u0073k-\u00e9\u00221"]}"#, r#"{"a":["[hidden]"]}"#),
            (r#"{"sk-é\"1":{"zip":90210}}"#, r#"{"[hidden]":{"zip":"[hidden]"}}"#),
            (r#"{"a":"sk-é\"1-long"}"#, r#"{"a":"[hidden]"}"#),
            (r#"{"id":1.0,  "a":"abc"}"#, r#"{"id":1.0,  "a":"abc"}"#),
            (r#"{"a":"90210","a":"y"}"#, r#"{"a":"y"}"#),
            (r#"{"a":"\u00390210","a":"y"}"#, r#"{"a":"y"}"#),
        ];
        for (json, expected) in cases {
            assert_eq!(secrets.hidden_in_json(json), expected, "{json}");
        }
        assert_eq!(secrets.hidden_in_line("90210 90211"), "[hidden] 90211");
        assert_eq!(secrets.hidden_in_line(r#"ERROR {"key":"sk-é\"1"} "#), r#"ERROR {"key":"[hidden]"} "#);
        assert_eq!(
            secrets.hidden_in_line(r#"{"level":"info","key":"sk-\u00e9\"1"}"#),
            r#"{"level":"info","key":"[hidden]"}"#
        );
        secrets.add("-----BEGIN KEY-----\n  MIIsecretbody\n".to_owned());
        assert_eq!(secrets.hidden_in_line("read: MIIsecretbody"), "read: [hidden]");
        assert_eq!(secrets.hidden_in_json(r#"{"a":"-----BEGIN KEY-----\n  MIIsecretbody\n"}"#), r#"{"a":"[hidden]"}"#);
        let deep = format!("{}\"sk-é\\\"1 90210\"{}", "[".repeat(200), "]".repeat(200));
        assert!(!secrets.hidden_in_json(&deep).contains("90210"));
    }

    #[test]
    fn what_a_server_gets_is_hidden_where_it_is_set_and_ever_after() {
        let mut secrets = Secrets::default();
        let ours = concat!(
            r#"{"method":"session/new","params":{"mcpServers":[{"name":"m","env":[{"name":"N","value":"1"},"#,
            r#"{"name":"KEY","value":"hunter22"}]},{"headers":[{"name":"Authorization","value":"Bearer token7"}]}],"cwd":"/1"}}"#
        );
        let hidden = secrets.hidden_in_ours(ours);
        let expected = concat!(
            r#"{"method":"session/new","params":{"mcpServers":[{"name":"m","env":[{"name":"N","value":"[hidden]"},"#,
            r#"{"name":"KEY","value":"[hidden]"}]},{"headers":[{"name":"Authorization","value":"[hidden]"}]}],"cwd":"/1"}}"#
        );
        assert_eq!(hidden, expected);
        assert_eq!(secrets.hidden_in_text("KEY=hunter22 Bearer token7 token7 1"), "KEY=[hidden] [hidden] [hidden] 1");
        assert_eq!(secrets.hidden_in_json(r#"{"a":-1.5,"b":"hunter22"}"#), r#"{"a":-1.5,"b":"[hidden]"}"#);
        assert_eq!(secrets.without_a_cut_one("KEY=hunter2"), "KEY=");
        assert_eq!(secrets.without_a_cut_one("KEY=hun"), "KEY=hun");
        assert_eq!(secrets.without_a_cut_one(""), "");
    }
}
