//! Simple commands, of which the parser tells in three ways.

use std::ops::Range;

use shuck_ast as ast;

use crate::danger::text::Text;
use crate::danger::tree::Word;

use super::{Lowering, range};

/// A simple command without its redirects.
#[derive(Default)]
pub(super) struct Simple<'a> {
    pub(super) assignments: &'a [ast::Assignment],
    pub(super) words: Vec<Word>,
    /// Where all that stands.
    pub(super) places: Vec<Range<usize>>,
}

impl Lowering<'_> {
    /// `None` where the command is a compound one.
    pub(super) fn simple<'c>(&mut self, command: &'c ast::Command) -> Option<Simple<'c>> {
        let mut simple = Simple::default();
        match command {
            ast::Command::Simple(it) => {
                simple.assignments = &it.assignments;
                if !it.name.span.slice(self.ascii).is_empty() {
                    self.add(&it.name, &mut simple);
                }
                it.args.iter().for_each(|word| self.add(word, &mut simple));
            }
            ast::Command::Builtin(it) => self.builtin(it, &mut simple),
            ast::Command::Decl(it) => self.declaration(it, &mut simple),
            _ => return None,
        }
        for assignment in simple.assignments {
            self.assignment(assignment);
            simple.places.push(range(assignment.span));
        }
        Some(simple)
    }

    fn builtin<'c>(&mut self, builtin: &'c ast::BuiltinCommand, simple: &mut Simple<'c>) {
        let (name, span, first, rest, assignments) = match builtin {
            ast::BuiltinCommand::Break(it) => ("break", it.span, &it.depth, &it.extra_args, &it.assignments),
            ast::BuiltinCommand::Continue(it) => ("continue", it.span, &it.depth, &it.extra_args, &it.assignments),
            ast::BuiltinCommand::Return(it) => ("return", it.span, &it.code, &it.extra_args, &it.assignments),
            ast::BuiltinCommand::Exit(it) => ("exit", it.span, &it.code, &it.extra_args, &it.assignments),
        };
        simple.assignments = assignments;
        let start = range(span).start;
        self.add_named(name, false, start..start + name.len(), simple);
        first.iter().chain(rest).for_each(|word| self.add(word, simple));
    }

    fn declaration<'c>(&mut self, declaration: &'c ast::DeclClause, simple: &mut Simple<'c>) {
        simple.assignments = &declaration.assignments;
        self.add_named(declaration.variant.as_str(), false, range(declaration.variant_span), simple);
        for operand in &declaration.operands {
            match operand {
                ast::DeclOperand::Flag(word) | ast::DeclOperand::Dynamic(word) => self.add(word, simple),
                ast::DeclOperand::Name(name) => {
                    self.reference(name);
                    self.add_named(name.name.as_str(), false, range(name.span), simple);
                }
                ast::DeclOperand::Assignment(assignment) => {
                    self.assignment(assignment);
                    self.add_named(assignment.target.name.as_str(), true, range(assignment.span), simple);
                }
            }
        }
    }

    fn add(&mut self, word: &ast::Word, simple: &mut Simple<'_>) {
        simple.places.push(range(word.span));
        let word = self.word(word);
        simple.words.push(word);
    }

    /// Adds a word of which the parser gives the beginning, with or without more of it that is `hidden`.
    fn add_named(&self, name: &str, hidden: bool, place: Range<usize>, simple: &mut Simple<'_>) {
        let span = self.code.span(place.start..place.start + name.len().max(1));
        let mut value = Text::default();
        value.push_str(name, span);
        let source = self.slice(place.clone()).to_owned();
        simple.words.push(Word { value, hidden, process: false, span, source });
        simple.places.push(place);
    }
}
