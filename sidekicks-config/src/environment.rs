//! What this machine says of a file.

mod search;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(crate) use search::{find_program, search_path};

use crate::expand::{Expander, Filled};
use crate::model::program_of;
use crate::pointer::Pointer;
use crate::problem::placed;
use crate::syntax::{Finding, Kind, Node};
use crate::validate::{Checked, bounded};
use crate::{Code, Problem};

/// What does not fit this machine: programs and folders that are not there, variables that are not set, a file with secrets
/// that others can read.
///
/// All of it is a warning, for a file is not wrong because a disk is not there. `file` is where the text is kept, or is to
/// be: relative paths begin at its folder, and its mode is looked at. `env` is the environment that agents will have, mostly
/// `&|name| std::env::var_os(name)`. Entries with [errors](crate::validate) are not looked at, nor programs of agents that
/// are not enabled or that no such agent uses. At most [`MAX_PROBLEMS`](crate::MAX_PROBLEMS). Looks at the disk.
pub fn check_environment(text: &str, file: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Vec<Problem> {
    let checked = Checked::of(text);
    if checked.foreign {
        return Vec::new();
    }
    let root = &checked.document.root;
    let section = |section: &'static str| {
        let entries = root.get(section).into_iter().flat_map(Node::members);
        entries
            .filter(|entry| !checked.wrong.has(section, &entry.key))
            .map(move |entry| (Pointer::from([section, entry.key.as_str()]), entry))
    };
    let mut look = Look { expander: Expander::new(file, env), public: is_public(file), found: Vec::new() };
    let defaults = root.get("defaults").filter(|_| !checked.wrong.is_in("defaults"));
    let default_env = defaults.and_then(|node| node.get("env"));
    if let Some(env) = default_env {
        look.variables(env, &["defaults", "env"].into());
    }
    for (pointer, workspace) in section("workspaces") {
        look.folder(&workspace.value, "path", &pointer);
    }
    let enabled = section("agents").map(|(_, agent)| &agent.value).filter(|agent| is_enabled(agent));
    let lists = enabled.filter_map(|agent| agent.get("mcp_servers"));
    let used: HashSet<&str> = lists.flat_map(Node::items).filter_map(Node::text).collect();
    for (pointer, server) in section("mcp_servers") {
        // It is started in a folder that may be another one in each session.
        look.program(&server.value, &pointer, default_env, None, used.contains(server.key.as_str()));
    }
    for (pointer, agent) in section("agents") {
        let agent = &agent.value;
        let of_its_own = look.folder(agent, "cwd", &pointer);
        let workspace = agent.get("workspace").and_then(|name| root.get("workspaces")?.get(name.text()?)?.get("path"));
        let shared = || look.expander.place(workspace?.text()?).known().map(|path| look.expander.path(&path));
        let folder = of_its_own.or_else(shared).unwrap_or_default();
        look.program(agent, &pointer, default_env, Some(&folder), is_enabled(agent));
        look.rules(agent, &pointer);
    }
    placed(text, bounded(look.found))
}

fn is_enabled(agent: &Node) -> bool {
    !matches!(agent.get("enabled").map(|node| &node.kind), Some(Kind::Bool(false)))
}

/// Whether others than its owner can read this file.
fn is_public(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o044 != 0)
}

struct Look<'a> {
    expander: Expander<'a>,
    public: bool,
    found: Vec<Finding>,
}

impl Look<'_> {
    fn add(&mut self, code: Code, pointer: Pointer, span: Range<usize>) {
        self.found.push(Finding { code, pointer, span, related: None });
    }

    /// The text, if all that was meant is known; what is not is told.
    fn known(&mut self, filled: Filled, node: &Node, pointer: &Pointer) -> Option<String> {
        for name in &filled.unset {
            self.add(Code::VariableNotSet { name: name.clone() }, pointer.clone(), node.span.clone());
        }
        if filled.is_odd {
            self.add(Code::NotAVariable, pointer.clone(), node.span.clone());
        }
        filled.known()
    }

    fn text(&mut self, node: &Node, pointer: &Pointer) -> Option<String> {
        let filled = self.expander.text(node.text()?);
        self.known(filled, node, pointer)
    }

    /// The same for a path or a program.
    fn place(&mut self, node: &Node, pointer: &Pointer) -> Option<String> {
        let filled = self.expander.place(node.text()?);
        self.known(filled, node, pointer)
    }

    fn folder(&mut self, entry: &Node, key: &str, pointer: &Pointer) -> Option<PathBuf> {
        let node = entry.get(key)?;
        let pointer = pointer.key(key);
        let folder = self.place(node, &pointer).map(|text| self.expander.path(&text))?;
        if !folder.is_dir() {
            self.add(Code::NoSuchFolder, pointer, node.span.clone());
        }
        Some(folder)
    }

    fn rules(&mut self, agent: &Node, pointer: &Pointer) {
        let rules = agent.get("permission_rules").map(Node::items).unwrap_or_default();
        let pointer = pointer.key("permission_rules");
        for (index, rule) in rules.iter().enumerate() {
            if let Some(path) = rule.get("path") {
                self.place(path, &pointer.index(index).key("path"));
            }
        }
    }

    /// What an agent or a tool server is started with, or reached at; `folder` is the one that it is started in.
    fn program(
        &mut self,
        entry: &Node,
        pointer: &Pointer,
        defaults: Option<&Node>,
        folder: Option<&Path>,
        is_used: bool,
    ) {
        for key in ["env", "headers"] {
            if let Some(variables) = entry.get(key) {
                self.variables(variables, &pointer.key(key));
            }
        }
        let args = entry.get("args").map(Node::items).unwrap_or_default();
        for (index, arg) in args.iter().enumerate() {
            self.text(arg, &pointer.key("args").index(index));
        }
        if let Some(url) = entry.get("url") {
            self.text(url, &pointer.key("url"));
        }
        let Some(command) = entry.get("command") else { return };
        let pointer = pointer.key("command");
        let Some(text) = self.place(command, &pointer).filter(|_| is_used) else { return };
        let own = [entry.get("env"), defaults].into_iter().flatten().find_map(|env| env.get("PATH")?.text());
        // One that names a variable which is not set is left out.
        let own = own.map(|path| self.expander.text(path)).filter(|path| path.unset.is_empty()).map(|path| path.text);
        let removed = entry.get("env_remove").map(Node::items).unwrap_or_default();
        let inherited = |name: &str| {
            let kept = removed.iter().all(|removed| removed.text() != Some(name));
            self.expander.env()(name).filter(|_| kept)
        };
        let program = self.expander.program(&text);
        let path = search_path(own.as_deref(), &inherited);
        if find_program(&program, &path, folder).is_none() {
            let named = own.is_none() && !program.contains('/');
            let path = named.then(|| path.to_string_lossy().into_owned());
            self.add(not_found(command.text().unwrap_or_default(), path), pointer, command.span.clone());
        }
    }

    fn variables(&mut self, variables: &Node, pointer: &Pointer) {
        for variable in variables.members() {
            let pointer = pointer.key(&variable.key);
            self.text(&variable.value, &pointer);
            let literal = variable.value.text().is_some_and(|text| !text.is_empty() && !text.contains("${"));
            if self.public && literal && is_secret(&variable.key) {
                self.add(Code::ReadableSecret, pointer, variable.key_span.clone());
            }
        }
    }
}

/// What is told of a command that is not found. Its arguments are not, nor the value of a variable: they may be secrets.
fn not_found(command: &str, path: Option<String>) -> Code {
    if command.contains(char::is_whitespace) {
        return Code::CommandWithArguments;
    }
    Code::CommandNotFound { command: program_of(command).to_owned(), path }
}

/// Whether what has this name is mostly a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase().replace('-', "_");
    name == "AUTHORIZATION" || ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|end| name.ends_with(end))
}
