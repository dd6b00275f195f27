//! Lists.

use super::{Before, Parser, stray};
use crate::Code;
use crate::syntax::text::closers;
use crate::syntax::{Kind, Node};

impl Parser<'_> {
    pub(super) fn list(&mut self) -> Kind {
        let mut items: Vec<Node> = Vec::new();
        let mut before = Before::Comma;
        let mut told = 0; // Before the last item.
        while let Some(c) = self.next(']') {
            if self.passed_conflict() {
                before = Before::Slip;
            }
            match c {
                ',' if before == Before::Comma => self.skip(stray(c)),
                ',' => {
                    self.at += 1;
                    before = Before::Comma;
                }
                ';' => {
                    self.skip(stray(c));
                    before = Before::Comma;
                }
                ':' if before == Before::Value && self.lacks_end() => {
                    // That was a key: the list should have ended before it.
                    if let Some(key) = items.pop() {
                        self.at = key.span.start;
                        self.found.truncate(told);
                    }
                    return Kind::List(items);
                }
                ':' => {
                    self.skip(stray(c));
                    self.damage();
                    before = Before::Slip;
                }
                _ if before == Before::Unclosed
                    && (self.at_late_quote() || closers(c).is_none() && !self.is_plain()) =>
                {
                    self.more_of_text();
                    before = self.left();
                }
                _ => {
                    told = self.found.len();
                    if before == Before::Value
                        && let Some(last) = items.last()
                    {
                        let end = last.span.end;
                        let pointer = self.pointer.index(items.len() - 1);
                        self.report_at(Code::MissingComma, pointer, end..end, None);
                    }
                    self.pointer.push_index(items.len());
                    let item = self.value();
                    self.pointer.pop();
                    before = self.left();
                    if item.is_broken() {
                        self.damage();
                    }
                    items.push(item);
                }
            }
        }
        Kind::List(items)
    }
}
