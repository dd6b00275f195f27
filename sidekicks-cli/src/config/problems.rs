//! The problems of a file, as they are shown.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};
use sidekicks_config::{Code, Language, Loaded, Problem, Severity, check_environment, schema};

use super::excerpt::{Excerpt, Excerpts};
use super::place::{self, Step};
use super::skeleton::keys;
use crate::harmless::{Reading, exact_line, visible};
use crate::lang::Lang;
use crate::manner::Manner;
use crate::say::About;
use crate::start::env;
use crate::style::{Line, Paint, Style};

/// Everything that is wrong with a file, in its order.
pub(crate) struct Problems<'a> {
    loaded: &'a Loaded,
    /// What the file is called.
    file: String,
    /// What is certainly a key in it.
    keys: HashSet<&'a str>,
    pub(crate) all: Vec<Problem>,
}

/// The columns where there is no terminal.
const COLUMNS: usize = 100;

/// How problems are to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) lang: Lang,
    pub(crate) paint: Paint,
    /// How many columns there are.
    pub(crate) width: usize,
}

impl Look {
    /// As it is on this stream: a line in a pipe is cut too, or one that was generated would fill the screen.
    pub(crate) fn of(stream: &(impl IsTerminal + AsFd), manner: Manner) -> Self {
        let size = terminal_size::terminal_size_of(stream);
        let width = size.map_or(COLUMNS, |(terminal_size::Width(width), _)| width.into());
        Self { lang: manner.lang, paint: manner.color.on(stream), width }
    }
}

impl<'a> Problems<'a> {
    /// What is wrong with what was read, and what this machine says of it. `file` is where it is, or is to be.
    pub(crate) fn of(loaded: &'a Loaded, file: &Path) -> Self {
        let mut all = loaded.problems.clone();
        all.extend(check_environment(&loaded.text, file, &env));
        all.sort_by_key(|problem| problem.span.start);
        Self { loaded, keys: keys(&loaded.text), file: file.display().to_string(), all }
    }

    /// Those of them that are errors, or that are not.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.all.iter().filter(|problem| problem.severity() == severity).count()
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// All of them, and how many they are.
    pub(crate) fn report(&self, look: Look) -> String {
        let (file, warnings) = (&*exact_line(&self.file), self.count(Severity::Warning));
        let summary = match self.count(Severity::Error) {
            0 => About::Fine { file, agents: self.loaded.config.agents.len(), warnings },
            errors => About::Wrong { file, errors, warnings },
        };
        format!("{}{}\n", self.shown(&self.all, look), summary.text(look.lang))
    }

    /// These problems, each with its line, as compilers show them.
    pub(crate) fn shown<'p>(&self, problems: impl IntoIterator<Item = &'p Problem>, look: Look) -> String {
        let mut excerpts = Excerpts::of(&self.loaded.text);
        let mut searched = None;
        let one = |problem: &Problem| {
            let mut problem = problem.clone();
            // It is long, and mostly the same.
            if let Code::CommandNotFound { path, .. } = &mut problem.code
                && path.is_some()
                && searched.replace(path.clone()).as_ref() == Some(path)
            {
                *path = None;
            }
            self.one(&problem, look, &mut excerpts)
        };
        problems.into_iter().map(one).collect()
    }

    fn one(&self, problem: &Problem, look: Look, excerpts: &mut Excerpts<'_>) -> String {
        let Look { lang, paint, width } = look;
        let (level, style) = match problem.severity() {
            Severity::Error => (About::Error, Style::Destructive),
            _ => (About::Warning, Style::Unclear),
        };
        let message = visible(&self.message(problem, lang), Reading::Prose).replace('\n', "␊");
        let mut head = Line::of(Style::Place, self.place(problem));
        head.push(Style::Plain, ": ");
        head.push(style, &format!("{}[{}]", level.text(lang), problem.id()));
        head.push(Style::Plain, &format!(": {message}"));
        let number = problem.start.line.to_string();
        let margin = " ".repeat(number.len());
        let known = |key: &str| self.is_known(key, problem);
        let room = width.saturating_sub(number.len() + 5);
        let Excerpt { line, marks } = excerpts.at(&problem.span, room, style, &known);
        let mut lines = vec![
            paint.line(&head),
            format!("  {number} │ {}", paint.line(&line)).trim_end().to_owned(),
            format!("  {margin} │ {}", paint.line(&marks)),
        ];
        if let Some(related) = problem.related {
            let also = About::SeeAlso { line: related.line, column: related.column }.text(lang);
            lines.push(format!("  {margin} = {also}"));
        }
        if let Some(hint) = problem.hint().filter(|hint| !message.contains(hint)) {
            lines.push(format!("  {margin} = {}", About::Hint(hint).text(lang)));
        }
        lines.join("\n") + "\n\n"
    }

    /// `file:line:column`.
    pub(crate) fn place(&self, problem: &Problem) -> String {
        format!("{}:{}:{}", exact_line(&self.file), problem.start.line, problem.start.column)
    }

    /// The sentence of a problem.
    pub(crate) fn message(&self, problem: &Problem, lang: Lang) -> String {
        let mut problem = problem.clone();
        // What the text has as a key may be a value, where a quote is one too many before it.
        if let Code::UnknownKey { key, .. } | Code::DuplicateKey { key } = &mut problem.code
            && !self.is_key(key)
        {
            "…".clone_into(key);
        }
        problem.message(lang)
    }

    /// The path of a problem, without what is not certainly a key.
    fn path(&self, problem: &Problem) -> String {
        let mut steps = place::steps(&problem.path);
        for step in &mut steps {
            match step {
                Step::Key(key) if !self.is_key(key) => "…".clone_into(key),
                _ => {}
            }
        }
        place::path(&steps)
    }

    fn is_key(&self, key: &str) -> bool {
        KEYS.contains(key) || self.keys.contains(key)
    }

    /// Whether a key may be shown in the line of a problem: one of the format, the name of an entry, or what the problem
    /// itself names.
    fn is_known(&self, key: &str, problem: &Problem) -> bool {
        let config = &self.loaded.config;
        let is_entry = config.agents.contains(key)
            || config.workspaces.contains(key)
            || config.mcp_servers.contains(key)
            || config.channels.contains(key);
        let mut steps = place::steps(&problem.path);
        if matches!(problem.code, Code::BadVariable | Code::BadHeader) {
            steps.pop(); // It may be a value that was put before its name.
        }
        let names_it = steps.iter().any(|step| matches!(step, Step::Key(name) if name == key));
        KEYS.contains(key) || ((is_entry || names_it) && self.keys.contains(key))
    }

    /// As one JSON document.
    pub(crate) fn json(&self, lang: Lang) -> Value {
        let problems: Vec<Value> = self.all.iter().map(|problem| self.one_as_json(problem, lang)).collect();
        json!({ "file": self.file, "problems": problems })
    }

    fn one_as_json(&self, problem: &Problem, lang: Lang) -> Value {
        let level = match problem.severity() {
            Severity::Error => "error",
            _ => "warning",
        };
        json!({
            "id": problem.id(),
            "level": level,
            "path": self.path(problem),
            "line": problem.start.line,
            "column": problem.start.column,
            "utf16Column": problem.start.utf16,
            "message": self.message(problem, lang),
            "hint": problem.hint(),
            "related": problem.related.map(|related| json!({ "line": related.line, "column": related.column })),
        })
    }
}

/// The keys of the format.
static KEYS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut keys = HashSet::new();
    let mut open: Vec<Value> = serde_json::from_str(schema(Language::En)).into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => {
                if let Some(Value::Object(properties)) = map.get("properties") {
                    keys.extend(properties.keys().cloned());
                }
                open.extend(map.into_iter().map(|(_, value)| value));
            }
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
    keys
});

#[cfg(test)]
mod tests;
