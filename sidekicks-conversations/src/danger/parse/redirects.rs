//! What a command reads, and the files that it writes.

use std::ops::Range;
use std::rc::Rc;

use shuck_ast as ast;

use crate::danger::tree::{Input, Redirect, Word, Writes};

use super::{Lowering, range};

/// All redirects of a command.
pub(super) struct Redirects {
    pub(super) writes: Vec<Redirect>,
    pub(super) input: Input,
    /// Where they stand.
    pub(super) all: Vec<Range<usize>>,
    /// Where those stand that write a file.
    pub(super) writing: Vec<Range<usize>>,
}

impl Lowering<'_> {
    /// `input` is read where no redirect says otherwise.
    pub(super) fn redirects(&mut self, redirects: &[ast::Redirect], input: &Input) -> Redirects {
        let mut found = Redirects { writes: Vec::new(), input: input.clone(), all: Vec::new(), writing: Vec::new() };
        for redirect in redirects {
            let place = range(redirect.span);
            // `{name}>`
            let start = redirect.fd_var_span.map_or(place.start, |name| range(name).start.saturating_sub(1));
            let place = start..place.end;
            found.all.push(place.clone());
            match &redirect.target {
                ast::RedirectTarget::Heredoc(document) => {
                    let text = self.document(document);
                    if reads(redirect) {
                        found.input = Input::Text(Rc::new(text));
                    }
                }
                ast::RedirectTarget::Word(word) => self.redirect(redirect, word, place, &mut found),
            }
        }
        found
    }

    fn redirect(&mut self, redirect: &ast::Redirect, word: &ast::Word, place: Range<usize>, found: &mut Redirects) {
        let target = self.word(word);
        if let Some(input) = read(redirect, &target) {
            found.input = input;
        }
        let Some(writes) = self.writes(redirect, &target) else { return };
        if target.keeps() {
            found.writing.push(place);
            found.writes.push(Redirect { writes, span: self.origin(redirect.span) });
        }
    }

    fn writes(&self, redirect: &ast::Redirect, target: &Word) -> Option<Writes> {
        use ast::RedirectKind as Kind;
        match redirect.kind {
            Kind::Append | Kind::ReadWrite => Some(Writes::Into),
            Kind::Output | Kind::Clobber | Kind::OutputBoth => Some(Writes::Over),
            Kind::DupOutput if is_descriptor(target.text()) => None,
            // `2>&$x` can only be a descriptor, `>&$x` a file too.
            Kind::DupOutput if target.hidden => {
                let numbered = self.source(redirect.span).starts_with(|c: char| c.is_ascii_digit());
                (!numbered).then_some(Writes::Perhaps)
            }
            Kind::DupOutput => Some(Writes::Over),
            Kind::Input | Kind::DupInput | Kind::HereString | Kind::HereDoc | Kind::HereDocStrip => None,
        }
    }
}

fn read(redirect: &ast::Redirect, target: &Word) -> Option<Input> {
    use ast::RedirectKind as Kind;
    match redirect.kind {
        _ if !reads(redirect) => None,
        Kind::HereString => Some(Input::Text(Rc::new(target.value.clone()))),
        // What another command prints, or what cannot be told.
        Kind::Input if target.process => Some(Input::Pipe(None)),
        Kind::DupInput => Some(Input::Pipe(None)),
        Kind::Input | Kind::ReadWrite => Some(Input::File),
        _ => None,
    }
}

/// It is about what a command reads by itself.
fn reads(redirect: &ast::Redirect) -> bool {
    redirect.fd.is_none_or(|fd| fd == 0) && redirect.fd_var.is_none()
}

fn is_descriptor(target: &str) -> bool {
    let number = target.strip_suffix('-').unwrap_or(target);
    number.bytes().all(|byte| byte.is_ascii_digit())
}
