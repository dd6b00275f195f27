//! Names that are too much alike.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::{Rules, SECTIONS};
use crate::Code;
use crate::pointer::Pointer;
use crate::syntax::Node;

impl<'a> Rules<'a> {
    pub(super) fn names(&mut self) {
        for section in SECTIONS {
            let names =
                self.entries(section).map(|entry| (entry.key.as_str(), &entry.key_span, [section, &entry.key].into()));
            self.alike(names.collect(), |name| name.to_lowercase(), Code::NameDiffersByCase);
        }
        for section in ["agents", "channels", "workspaces"] {
            let shown = self.texts(section, "display_name");
            self.alike(shown, |name| name.trim().to_lowercase(), Code::SameDisplayName);
        }
        let paths = self.texts("workspaces", "path");
        self.alike(paths, |path| folder(path).to_owned(), Code::SamePath);
        for (variables, pointer) in self.variables() {
            let names =
                variables.members().map(|v| (v.key.as_str(), &v.key_span, pointer.key(&v.key))).collect::<Vec<_>>();
            for (name, span, pointer) in &names {
                if name.to_ascii_uppercase().starts_with("SIDEKICKS_") {
                    self.add(Code::ReservedVariable, pointer.clone(), span, None);
                }
            }
            // `http_proxy` and `HTTP_PROXY` are set side by side, since programs look for one or the other.
            let others = names.into_iter().filter(|(name, ..)| !name.to_lowercase().ends_with("_proxy")).collect();
            self.alike(others, |name| name.to_lowercase(), Code::VariableTwice);
        }
    }

    /// Tells of each that is the same as one before it, but for what `plain` takes away.
    fn alike(&mut self, names: Vec<(&str, &Range<usize>, Pointer)>, plain: fn(&str) -> String, code: Code) {
        let mut first = HashMap::new();
        for (name, span, pointer) in names {
            match first.entry(plain(name)) {
                Entry::Vacant(entry) => {
                    entry.insert(span);
                }
                Entry::Occupied(entry) => {
                    self.add(code.clone(), pointer, span, Some(entry.get()));
                }
            }
        }
    }

    /// The texts that the entries of a section have under this key.
    fn texts(&self, section: &'static str, key: &'static str) -> Vec<(&'a str, &'a Range<usize>, Pointer)> {
        let texts = self.entries(section).filter_map(|entry| {
            let node = entry.value.get(key)?;
            Some((node.text()?, &node.span, [section, &entry.key, key].into()))
        });
        texts.collect()
    }

    /// All maps of environment variables.
    fn variables(&self) -> Vec<(&'a Node, Pointer)> {
        let defaults = self.defaults.and_then(|node| node.get("env"));
        let mut all: Vec<(&'a Node, Pointer)> =
            defaults.map(|env| (env, ["defaults", "env"].into())).into_iter().collect();
        for section in ["agents", "mcp_servers"] {
            for entry in self.entries(section) {
                all.extend(entry.value.get("env").map(|env| (env, [section, &entry.key, "env"].into())));
            }
        }
        all
    }
}

/// A folder without the slashes at its end.
fn folder(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" => path,
        folder => folder,
    }
}
