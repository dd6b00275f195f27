//! Paths of problems, as `agents.riker.env.KEY` and `agents["two words"]`.

use serde_json::{Deserializer, Value};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The steps of a path, as far as it can be read.
pub(super) fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (step, length) = match rest.strip_prefix('[') {
            Some(inner) if inner.starts_with('"') => {
                let mut texts = Deserializer::from_str(inner).into_iter::<String>();
                let Some(Ok(key)) = texts.next() else { break };
                (Step::Key(key), 1 + texts.byte_offset() + 1)
            }
            Some(inner) => {
                let end = inner.find(']').unwrap_or(inner.len());
                let Ok(index) = inner[..end].parse() else { break };
                (Step::Index(index), 1 + end + 1)
            }
            None => {
                let word = rest.strip_prefix('.').unwrap_or(rest);
                let end = word.find(['.', '[']).unwrap_or(word.len());
                (Step::Key(word[..end].to_owned()), rest.len() - word.len() + end)
            }
        };
        steps.push(step);
        rest = rest.get(length..).unwrap_or_default();
    }
    steps
}

/// The path of these steps.
pub(super) fn path<'a>(steps: impl IntoIterator<Item = &'a Step>) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Index(index) => path.push_str(&format!("[{index}]")),
            Step::Key(key) if !is_word(key) => path.push_str(&format!("[{}]", Value::from(key.as_str()))),
            Step::Key(key) if path.is_empty() => path.push_str(key),
            Step::Key(key) => path.push_str(&format!(".{key}")),
        }
    }
    path
}

fn is_word(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'))
}

/// The path of an entry.
pub(crate) fn entry(section: &str, name: &str) -> String {
    path(&[section, name].map(|key| Step::Key(key.to_owned())))
}

/// The name of the entry of this section that a path is of, or of something in it.
pub(crate) fn name_of(section: &str, path: &str) -> Option<String> {
    match <[Step; 2]>::try_from(steps(path).into_iter().take(2).collect::<Vec<_>>()) {
        Ok([Step::Key(first), Step::Key(name)]) if first == section => Some(name),
        _ => None,
    }
}

/// Whether `path` is that of `entry`, or of something in it.
pub(crate) fn is_in(path: &str, entry: &str) -> bool {
    path.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_steps() {
        let paths = ["", "version", "agents.riker.args[12]", r#"agents["a.b"].env["x\"]y"]"#, r#"["two words"][0]"#];
        for written in paths {
            assert_eq!(path(&steps(written)), written);
        }
        assert_eq!(steps(r#"a["b.c"][1]"#), [Step::Key("a".into()), Step::Key("b.c".into()), Step::Index(1)]);
        assert_eq!(steps("a[x"), [Step::Key("a".into())]);
    }

    #[test]
    fn entries_have_paths() {
        for (name, path) in [("riker", "agents.riker"), ("a.b", r#"agents["a.b"]"#), ("a\"b", r#"agents["a\"b"]"#)] {
            assert_eq!(entry("agents", name), path);
            for (place, inside) in [("", true), (".env.KEY", true), ("[0]", true), ("x", false)] {
                assert_eq!(is_in(&format!("{path}{place}"), path), inside, "{path}{place}");
                let found = name_of("agents", &format!("{path}{place}"));
                assert_eq!(found.as_deref().filter(|_| inside), Some(name).filter(|_| inside), "{path}{place}");
            }
        }
        assert_eq!(name_of("agents", "agents"), None);
        assert_eq!(name_of("agents", "channels.all"), None);
    }
}
