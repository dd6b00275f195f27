//! Their order, their places, and how many there are.

use std::ops::Range;

use crate::pointer::Pointer;
use crate::problem::placed;
use crate::syntax::Finding;
use crate::{Code, MAX_PROBLEMS, Problem};

fn finding(code: Code, span: Range<usize>) -> Finding {
    Finding { code, pointer: Pointer::default(), span, related: None }
}

fn starts(problems: &[Problem]) -> Vec<usize> {
    problems.iter().map(|problem| problem.span.start).collect()
}

#[test]
fn they_are_in_the_order_of_the_text() {
    // What is found at one place stays as it was found.
    let found = [
        (Code::Repeated, 7..8),
        (Code::MissingComma, 2..2),
        (Code::BadSize { nearest: None }, 2..5),
        (Code::EmptyText, 0..1),
    ];
    let problems = placed("a\n🦀\r\nxyz", found.map(|(code, span)| finding(code, span)).into());
    assert_eq!(starts(&problems), [0, 2, 2, 7]);
    assert_eq!(problems[1].code, Code::MissingComma);
    let place = |problem: &Problem| {
        let [start, end] = [problem.start, problem.end].map(|place| (place.line, place.column, place.utf16));
        (start, end)
    };
    assert_eq!(place(&problems[1]), ((2, 1, 1), (2, 1, 1)));
    assert_eq!(place(&problems[3]), ((2, 3, 4), (3, 1, 1)));
}

#[test]
fn the_other_place_is_where_it_begins() {
    let mut found = finding(Code::Repeated, 6..7);
    found.related = Some(2..5);
    let problems = placed("a\nbcd\ne", vec![found]);
    assert_eq!(problems[0].related.map(|place| (place.line, place.column)), Some((2, 1)));
    assert_eq!(problems[0].start.line, 3);
}

#[test]
fn the_path_is_that_of_the_pointer() {
    let mut found = finding(Code::EmptyText, 0..1);
    found.pointer = Pointer::from(["agents", "two words"]).index(1);
    let problems = placed("x", vec![found]);
    assert_eq!(problems[0].path, "agents[\"two words\"][1]");
}

#[test]
fn there_are_a_hundred_and_one_at_most() {
    let text = "x".repeat(1000);
    for (count, expected) in [(0, 0), (1, 1), (MAX_PROBLEMS, 100), (MAX_PROBLEMS + 1, 101), (900, 101)] {
        let found = (0..count).rev().map(|at| finding(Code::EmptyText, at..at + 1)).collect();
        let problems = placed(&text, found);
        assert_eq!(problems.len(), expected, "{count}");
        assert_eq!(starts(&problems), (0..expected).collect::<Vec<_>>(), "{count}");
        let more: Vec<bool> = problems.iter().map(|problem| problem.code == Code::TooManyProblems).collect();
        assert_eq!(more.iter().position(|more| *more), (count > MAX_PROBLEMS).then_some(MAX_PROBLEMS));
    }
}

#[test]
fn what_the_parser_had_enough_of_is_said_once_and_last() {
    let text = "x".repeat(1000);
    let mut found = vec![finding(Code::TooManyProblems, 5..5)];
    found.extend((10..300).map(|at| finding(Code::EmptyText, at..at + 1)));
    let problems = placed(&text, found);
    assert_eq!(problems.len(), MAX_PROBLEMS + 1);
    assert_eq!(problems.last().map(|problem| (problem.id(), problem.span.start)), Some(("too-many-problems", 5)));
}

#[test]
fn errors_come_before_warnings_where_not_all_can() {
    let text = "x".repeat(1000);
    let mut found: Vec<Finding> = (0..150).map(|at| finding(Code::NoSuchFolder, at..at + 1)).collect();
    found.push(finding(Code::BadSize { nearest: None }, 500..501));
    let problems = placed(&text, found);
    assert_eq!(problems.iter().filter(|problem| problem.is_error()).count(), 2, "it, and that there are more");
    assert_eq!((problems[98].span.start, problems[99].id()), (98, "bad-size"));
}
