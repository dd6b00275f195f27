//! A second opinion on what JSONC is.

use std::collections::HashSet;

use jsonc_parser::ast::{self, Value as Ast};
use jsonc_parser::tokens::TokenAndRange;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

use super::mutants::{GOOD, documents, mutants, soup};
use crate::syntax::{DEPTH, read};

/// Comments and commas at the end, and nothing else that JSON does not have.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn another_parser_agrees(text in prop_oneof![3 => mutants(), 1 => documents(), 1 => soup()]) {
        assert_agreement(&text);
    }
}

#[test]
fn another_parser_agrees_on_what_is_good() {
    for text in GOOD {
        assert_eq!(assert_agreement(text), Verdict::BothAccept, "{text}");
    }
}

#[test]
#[ignore = "long: 100,000 mutants take minutes"]
fn another_parser_agrees_on_100_000_mutants() {
    use proptest::test_runner::TestRunner;
    let config = ProptestConfig { cases: 100_000, failure_persistence: None, ..ProptestConfig::default() };
    let (both_accept, both_refuse, stricter) =
        (std::cell::Cell::new(0), std::cell::Cell::new(0), std::cell::Cell::new(0));
    TestRunner::new(config)
        .run(&mutants(), |text| {
            let count = match assert_agreement(&text) {
                Verdict::BothAccept => &both_accept,
                Verdict::BothRefuse => &both_refuse,
                Verdict::Stricter => &stricter,
            };
            count.set(count.get() + 1);
            Ok(())
        })
        .expect("agreement");
    println!("both accept {both_accept:?}, both refuse {both_refuse:?}, ours is stricter {stricter:?}");
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    BothAccept,
    BothRefuse,
    /// The other one takes what RFC 8259 or this crate forbids.
    Stricter,
}

/// That both accept the text, with the same value, or both refuse it; save for [`Forbidden`] things, which only ours does.
fn assert_agreement(text: &str) -> Verdict {
    let document = read(text);
    let ours = document.found.is_empty().then(|| document.root.to_value());
    // The other one takes no byte order mark.
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let result = parse_to_ast(body, &collect, &STRICT).ok();
    let Some((ast, tokens)) = result.and_then(|result| Some((result.value?, result.tokens?))) else {
        assert_eq!(ours, None, "only ours accepts {text:?}");
        return Verdict::BothRefuse;
    };
    let mut forbidden = Forbidden { text: body, found: false };
    forbidden.blanks(&tokens);
    let theirs = forbidden.value(&ast, 0);
    if forbidden.found {
        assert_eq!(ours, None, "{text:?}");
        return Verdict::Stricter;
    }
    assert_eq!(ours, Some(theirs), "{text:?}: {:?}", document.found);
    Verdict::BothAccept
}

/// Takes note of what the other parser does not mind in this text: control characters and line breaks inside texts, a key
/// that stands twice, a number too large to be held, depth, and spaces that JSON does not have.
struct Forbidden<'a> {
    text: &'a str,
    found: bool,
}

impl Forbidden<'_> {
    fn blanks(&mut self, tokens: &[TokenAndRange<'_>]) {
        let mut end = 0;
        for token in tokens {
            self.found |= !self.text[end..token.range.start].chars().all(|c| " \t\r\n".contains(c));
            end = token.range.end;
        }
        self.found |= !self.text[end..].chars().all(|c| " \t\r\n".contains(c));
    }

    fn value(&mut self, ast: &Ast<'_>, depth: usize) -> Value {
        self.found |= depth > DEPTH;
        match ast {
            Ast::NullKeyword(_) => Value::Null,
            Ast::BooleanLit(literal) => Value::Bool(literal.value),
            Ast::StringLit(literal) => Value::String(self.text(literal)),
            Ast::NumberLit(literal) => match serde_json::from_str::<Number>(literal.value) {
                Ok(number) => Value::Number(number),
                Err(_) => {
                    let float: f64 = literal.value.parse().expect("a number");
                    assert!(float.is_infinite(), "{}", literal.value);
                    self.found = true;
                    Value::Null
                }
            },
            Ast::Array(array) => array.elements.iter().map(|item| self.value(item, depth + 1)).collect(),
            Ast::Object(object) => {
                let mut keys = HashSet::new();
                let mut map = Map::new();
                for member in &object.properties {
                    let ast::ObjectPropName::String(name) = &member.name else { panic!("a key without quotes") };
                    let key = self.text(name);
                    self.found |= !keys.insert(key.clone());
                    map.insert(key, self.value(&member.value, depth + 1));
                }
                Value::Object(map)
            }
        }
    }

    fn text(&mut self, literal: &ast::StringLit<'_>) -> String {
        self.found |= self.text[literal.range.start..literal.range.end].contains(|c| c < ' ');
        literal.value.to_string()
    }
}
