//! Everything that is wrong with a text.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::pointer::{Pointer, Step};
use crate::problem::{Problem, placed};
use crate::syntax::{self, Document, Finding, Kind};
use crate::{Code, MAX_PROBLEMS, Severity, rules, schema};

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
/// assert_eq!(unknown.message(Language::En), "the key “comand” is unknown here; did you mean “command”?");
/// ```
pub fn validate(text: &str) -> Vec<Problem> {
    Checked::of(text).problems
}

/// A text that was looked at.
pub(crate) struct Checked {
    pub(crate) document: Document,
    /// As plain JSON, where what is broken is null.
    pub(crate) value: Value,
    /// What is told of it, which is not all where there is too much.
    pub(crate) problems: Vec<Problem>,
    /// What has an error, told or not.
    pub(crate) wrong: Wrong,
    /// Nothing in it is certain: it could not be read as it is written, a key of the root stands there twice, or it is for
    /// another version than ours, or for none.
    pub(crate) uncertain: bool,
    /// It is for a version that is not ours.
    pub(crate) foreign: bool,
    /// A bracket stands where it closes too much, so that what is behind it may belong before it.
    pub(crate) closes_early: bool,
}

impl Checked {
    pub(crate) fn of(text: &str) -> Self {
        let mut document = syntax::read(text);
        let value = document.root.to_value();
        let mut found = std::mem::take(&mut document.found);
        let mut wrong = Wrong::default();
        if let Some(newer) = newer_version(&document) {
            found = vec![newer];
        } else if !document.root.is_broken() {
            let against = schema::check(&document, &value, &mut wrong);
            let rules = rules::check(&document.root, &against);
            found.extend(against);
            found.extend(rules);
        }
        let errors = found.iter().filter(|finding| finding.code.severity() == Severity::Error);
        errors.for_each(|error| wrong.add(&error.pointer));
        // What is of another version, or of none, may mean something else.
        let uncertain =
            found.iter().any(is_uncertain) || document.root.get("version").is_none() || wrong.is_at("version");
        // Of all that was found: what is told may be less.
        let has = |is: fn(&Code) -> bool| found.iter().any(|finding| is(&finding.code));
        let foreign = has(|code| matches!(code, Code::NewerVersion | Code::BadVersion));
        let closes_early =
            has(|code| matches!(code, Code::StrayBracket { .. } | Code::WrongBracket { .. } | Code::TrailingContent));
        Self { problems: placed(text, bounded(found)), value, document, wrong, uncertain, foreign, closes_early }
    }
}

fn is_uncertain(finding: &Finding) -> bool {
    let twice = matches!(finding.code, Code::DuplicateKey { .. }) && finding.pointer.steps().len() <= 1;
    twice || finding.code.is_syntax() || finding.code == Code::NewerVersion
}

/// Without the last warnings, where there are more than can be told beside the errors: too many of them are no error.
pub(crate) fn bounded(mut found: Vec<Finding>) -> Vec<Finding> {
    let is_error = |finding: &Finding| finding.code.severity() == Severity::Error;
    let mut room = MAX_PROBLEMS.saturating_sub(found.iter().filter(|finding| is_error(finding)).count());
    found.sort_by_key(|finding| finding.span.start);
    found.retain(|finding| {
        let told = is_error(finding) || room > 0;
        room -= usize::from(told && !is_error(finding));
        told
    });
    found
}

/// The keys of the root, and the entries and keys below them, that have an error in or at them.
#[derive(Debug, Default)]
pub(crate) struct Wrong {
    at_root: HashSet<String>,
    below: HashMap<String, HashSet<String>>,
}

impl Wrong {
    pub(crate) fn add(&mut self, pointer: &Pointer) {
        match pointer.steps() {
            [Step::Key(section), Step::Key(name), ..] if self.has(section, name) => {}
            [Step::Key(section), Step::Key(name), ..] => {
                self.below.entry(section.clone()).or_default().insert(name.clone());
            }
            [Step::Key(section), ..] => {
                self.at_root.insert(section.clone());
            }
            _ => {}
        }
    }

    /// Whether this key of the root has an error itself, and not in what is below it.
    pub(crate) fn is_at(&self, section: &str) -> bool {
        self.at_root.contains(section)
    }

    /// Whether this entry has one, or this key below one of the root.
    pub(crate) fn has(&self, section: &str, name: &str) -> bool {
        self.below.get(section).is_some_and(|names| names.contains(name))
    }

    /// Whether there is one at this key of the root or anywhere below it.
    pub(crate) fn is_in(&self, section: &str) -> bool {
        self.is_at(section) || self.below.contains_key(section)
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
