//! What holds for every text.

use std::ops::Range;

use proptest::prelude::*;
use serde_json::Value;

use super::mutants::{documents, mutants, soup};
use crate::problem::placed;
use crate::syntax::{Kind, Node, read};
use crate::{Code, Language, MAX_PROBLEMS};

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_place_is_in_the_text(text in prop_oneof![mutants(), soup(), any::<String>()]) {
        assert_places(&text);
    }

    #[test]
    fn what_json_is_is_read_as_json(text in prop_oneof![documents(), mutants()]) {
        let Ok(json) = serde_json::from_str::<Value>(&text) else { return Ok(()) };
        let document = read(&text);
        // The last of two equal keys counts there, and none does here.
        let duplicate = |code: &Code| matches!(code, Code::DuplicateKey { .. });
        if document.found.iter().any(|finding| duplicate(&finding.code)) {
            return Ok(());
        }
        prop_assert!(document.found.is_empty(), "{:?}", document.found);
        prop_assert_eq!(document.root.to_value(), json);
    }
}

/// That nothing points out of the text or into a character, and that all of it can be told.
fn assert_places(text: &str) {
    let document = read(text);
    let inside = |span: &Range<usize>| assert!(text.get(span.clone()).is_some(), "{span:?} in {text:?}");
    walk(&document.root, &inside);
    assert!(document.found.len() <= MAX_PROBLEMS + 1, "{} in {text:?}", document.found.len());
    for finding in &document.found {
        inside(&finding.span);
        finding.related.iter().for_each(inside);
    }
    let found = document.found.len();
    let problems = placed(text, document.found);
    assert_eq!(problems.len(), found);
    let told = &problems[..found.min(MAX_PROBLEMS)]; // What may come after them is last.
    assert!(told.is_sorted_by_key(|problem| problem.start), "{text:?}");
    for problem in problems {
        assert!(problem.code.is_syntax() || matches!(problem.code, Code::DuplicateKey { .. }));
        assert!(problem.end >= problem.start, "{text:?}");
        assert!(!problem.message(Language::En).is_empty() && !problem.message(Language::Fr).is_empty());
    }
}

fn walk(node: &Node, inside: &dyn Fn(&Range<usize>)) {
    inside(&node.span);
    let within = |inner: &Range<usize>| {
        assert!(node.span.start <= inner.start && inner.end <= node.span.end, "{inner:?} out of {:?}", node.span);
    };
    match &node.kind {
        Kind::List(items) => items.iter().for_each(|item| {
            within(&item.span);
            walk(item, inside);
        }),
        Kind::Map(members) => members.iter().for_each(|member| {
            within(&member.key_span);
            within(&member.value.span);
            inside(&member.key_span);
            walk(&member.value, inside);
        }),
        _ => {}
    }
}
