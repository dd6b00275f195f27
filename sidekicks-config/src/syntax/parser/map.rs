//! Maps.

use super::{Before, Parser, stray};
use crate::Code;
use crate::syntax::seen::Seen;
use crate::syntax::text::closers;
use crate::syntax::{Kind, Member, Node};

impl Parser<'_> {
    pub(super) fn map(&mut self) -> Kind {
        let mut members: Vec<Member> = Vec::new();
        let mut seen = Seen::default();
        let mut before = Before::Comma; // Nothing has to part the first one from what was before.
        while let Some(c) = self.next('}') {
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
                ':' | '=' => {
                    let last = members.last_mut().filter(|_| before == Before::Value);
                    before = self.stray_colon(last);
                }
                _ if before == Before::Unclosed && (self.at_late_quote() || !self.is_quote(c) && !self.is_key()) => {
                    self.more_of_text();
                    before = self.left();
                }
                _ => {
                    if before == Before::Value
                        && let Some(last) = members.last()
                    {
                        let end = last.value.span.end.max(last.key_span.end);
                        let pointer = self.pointer.key(&last.key);
                        self.report_at(Code::MissingComma, pointer, end..end, None);
                    }
                    let member = self.member(before);
                    before = self.left();
                    let Some(mut member) = member else {
                        self.damage();
                        continue;
                    };
                    if member.value.is_broken() {
                        self.damage();
                    }
                    if let Some(first) = seen.first(&members, &member.key) {
                        let pointer = self.pointer.key(&member.key);
                        let code = Code::DuplicateKey { key: member.key.clone() };
                        let related = Some(members[first].key_span.clone());
                        self.report_at(code, pointer, member.key_span.clone(), related);
                        member.again = true;
                    }
                    members.push(member);
                }
            }
        }
        Kind::Map(members)
    }

    /// A colon where no key was. After a value, that one was meant for something else: `"a": "b": 1`.
    fn stray_colon(&mut self, last: Option<&mut Member>) -> Before {
        self.damage();
        let after = last.is_some();
        if let Some(last) = last {
            last.value.kind = Kind::Broken;
            self.pointer.push_key(last.key.clone());
        }
        self.skip(if after { Code::Unexpected } else { Code::MissingKey });
        self.take(|c| matches!(c, ':' | '=' | '>'));
        self.trivia();
        if self.begins_value() {
            self.nameless_value();
        }
        if after {
            self.pointer.pop();
        }
        Before::Slip
    }

    /// A key and its value; nothing where something stands here that is none, or that leaves in doubt which it is.
    fn member(&mut self, before: Before) -> Option<Member> {
        let Some(key) = self.key(before) else {
            self.left = Before::Slip;
            return None;
        };
        if !key.certain {
            self.at = key.span.end;
            for (code, span) in key.faults {
                self.report(code, span);
            }
            self.colon(&key.span);
            self.trivia();
            if self.begins_value() {
                self.nameless_value();
            }
            self.left = Before::Slip;
            return None;
        }
        self.at = key.span.end;
        self.pointer.push_key(key.value.clone());
        for (code, span) in key.faults {
            self.report(code, span);
        }
        self.colon(&key.span);
        let value = self.value_of_key();
        self.pointer.pop();
        Some(Member { key: key.value, key_span: key.span, value, again: false })
    }

    /// The value after a colon.
    fn value_of_key(&mut self) -> Node {
        let colon = self.at;
        self.trivia();
        if self.passed_conflict() {
            self.left = Before::Slip;
            return Node { kind: Kind::Broken, span: colon..colon, damaged: false };
        }
        if matches!(self.peek(), Some(':' | '=')) {
            self.skip(Code::Unexpected); // `"a": : 1`
            self.take(|c| matches!(c, ':' | '=' | '>'));
            self.trivia();
        }
        if self.begins_value() && !(self.breaks_line(colon) && self.is_key()) {
            return self.value();
        }
        self.report(Code::MissingValue, colon..colon);
        self.left = Before::Slip;
        Node { kind: Kind::Broken, span: colon..colon, damaged: false }
    }

    /// A value without a key that it could be told of by. If it is a word or a text it may be a secret: it is skipped.
    pub(super) fn nameless_value(&mut self) {
        let quiet = self.quiet || !matches!(self.peek(), Some('{' | '['));
        let before = std::mem::replace(&mut self.quiet, quiet);
        self.value();
        self.quiet = before;
    }

    pub(super) fn begins_value(&self) -> bool {
        !matches!(self.peek(), None | Some(',' | ':' | ';' | '=' | '}' | ']'))
    }

    fn is_quote(&self, c: char) -> bool {
        closers(c).is_some()
    }
}
