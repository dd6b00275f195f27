//! Everything that is wrong with a text.

use serde_json::Value;

use crate::problem::{Problem, placed};
use crate::syntax::{self, Document, Finding, Kind};
use crate::{Code, rules, schema};

/// Everything that is wrong with this text, in its order; nothing where it can be used as it is.
///
/// Looks at the text alone, and not at the machine: for that there is
/// [`check_environment`](crate::check_environment). Of a file for a newer version only that is told.
///
/// ```
/// use sidekicks_config::{Language, validate};
///
/// let problems = validate(r#"{ "version": 1, "agents": { "riker": { "comand": "codex-acp" } } }"#);
/// let [missing, unknown] = &problems[..] else { panic!("two") };
/// assert_eq!((missing.id(), &*missing.path, missing.start.column), ("required-key", "agents.riker", 29));
/// assert_eq!((unknown.id(), unknown.hint()), ("unknown-key", Some("command")));
/// assert_eq!(unknown.message(Language::En), "there is no key “comand” here; did you mean “command”?");
/// ```
pub fn validate(text: &str) -> Vec<Problem> {
    Checked::of(text).problems
}

/// A text that was looked at.
pub(crate) struct Checked {
    pub(crate) document: Document,
    /// As plain JSON, where what is broken is null.
    pub(crate) value: Value,
    pub(crate) problems: Vec<Problem>,
}

impl Checked {
    pub(crate) fn of(text: &str) -> Self {
        let mut document = syntax::read(text);
        let value = document.root.to_value();
        let mut found = std::mem::take(&mut document.found);
        if let Some(newer) = newer_version(&document) {
            found = vec![newer];
        } else if !document.root.is_broken() {
            found.extend(schema::check(&document, &value));
            found.extend(rules::check(&document.root));
        }
        Self { problems: placed(text, found), value, document }
    }
}

/// Whether the file is for a program that is newer than this one: it may mean everything in another way.
fn newer_version(document: &Document) -> Option<Finding> {
    let member = document.root.member("version")?;
    let newer = matches!(&member.value.kind, Kind::Number(number) if number.as_f64().is_some_and(|n| n >= 2.0));
    newer.then(|| Finding {
        code: Code::NewerVersion,
        pointer: ["version"].into(),
        span: member.value.span.clone(),
        related: None,
    })
}
