//! Commands, and what stands around them.

use std::rc::Rc;

use shuck_ast as ast;

use crate::danger::tree::{Input, Piece, Redirect, Step, Word, Writes};

use super::Lowering;

impl Lowering<'_> {
    pub(super) fn sequence(&mut self, sequence: &ast::StmtSeq, input: &Input) {
        for statement in sequence.iter() {
            self.statement(statement, input);
        }
    }

    /// Gives the step whose output is the output of the statement, where it is one.
    fn statement(&mut self, statement: &ast::Stmt, input: &Input) -> Option<usize> {
        // A list of thousands leans to the left: no recursion there.
        let mut rest = Vec::new();
        let mut first = statement;
        while let ast::Command::Binary(binary) = &first.command {
            if !first.redirects.is_empty() {
                break;
            }
            rest.push((binary.op, &*binary.right));
            first = &binary.left;
        }
        if rest.is_empty() {
            return self.single(statement, input);
        }
        let mut output = self.single(first, input);
        for (op, right) in rest.into_iter().rev() {
            let piped = matches!(op, ast::BinaryOp::Pipe | ast::BinaryOp::PipeAll);
            let input = if piped { Input::Pipe(output) } else { input.clone() };
            output = self.statement(right, &input);
        }
        output
    }

    fn single(&mut self, statement: &ast::Stmt, input: &Input) -> Option<usize> {
        let mut redirections = Vec::new();
        let mut overwrites = Vec::new();
        let mut input = input.clone();
        for redirect in &statement.redirects {
            self.redirect(redirect, &mut redirections, &mut overwrites, &mut input);
        }
        let (words, assignments): (Vec<Word>, &[ast::Assignment]) = match &statement.command {
            ast::Command::Simple(simple) => {
                let name = (!simple.name.span.slice(self.ascii).is_empty()).then_some(&simple.name);
                (self.words(name.into_iter().chain(&simple.args)), &simple.assignments)
            }
            ast::Command::Builtin(builtin) => self.builtin(builtin),
            ast::Command::Decl(declaration) => (self.declaration(declaration), &declaration.assignments),
            other => {
                self.compound(other, &input);
                (Vec::new(), &[])
            }
        };
        for assignment in assignments {
            self.assignment(assignment);
        }
        if words.is_empty() && overwrites.is_empty() {
            return None;
        }
        let is_command = !words.is_empty();
        let assignments = assignments.iter().map(|assignment| self.source(assignment.span)).collect();
        self.pieces.push(Piece::Step(Step { assignments, words, redirections, overwrites, input }));
        is_command.then(|| self.pieces.len() - 1)
    }

    fn builtin<'b>(&mut self, builtin: &'b ast::BuiltinCommand) -> (Vec<Word>, &'b [ast::Assignment]) {
        let (name, span, first, rest, assignments) = match builtin {
            ast::BuiltinCommand::Break(it) => ("break", it.span, &it.depth, &it.extra_args, &it.assignments),
            ast::BuiltinCommand::Continue(it) => ("continue", it.span, &it.depth, &it.extra_args, &it.assignments),
            ast::BuiltinCommand::Return(it) => ("return", it.span, &it.code, &it.extra_args, &it.assignments),
            ast::BuiltinCommand::Exit(it) => ("exit", it.span, &it.code, &it.extra_args, &it.assignments),
        };
        let mut words = vec![self.plain(name, span)];
        words.extend(self.words(first.iter().chain(rest)));
        (words, assignments)
    }

    fn declaration(&mut self, declaration: &ast::DeclClause) -> Vec<Word> {
        let mut words = vec![self.plain(declaration.variant.as_str(), declaration.variant_span)];
        for operand in &declaration.operands {
            match operand {
                ast::DeclOperand::Flag(word) | ast::DeclOperand::Dynamic(word) => words.push(self.word(word)),
                ast::DeclOperand::Name(name) => {
                    self.reference(name);
                    words.push(self.plain(name.name.as_str(), name.span));
                }
                ast::DeclOperand::Assignment(assignment) => {
                    self.assignment(assignment);
                    words.push(self.plain(assignment.target.name.as_str(), assignment.span));
                }
            }
        }
        words
    }

    fn compound(&mut self, command: &ast::Command, input: &Input) {
        match command {
            ast::Command::Function(function) => {
                self.statement(&function.body, input);
            }
            ast::Command::AnonymousFunction(function) => {
                function.args.iter().for_each(|word| self.nested(word));
                self.statement(&function.body, input);
            }
            ast::Command::Binary(binary) => {
                let output = self.statement(&binary.left, input);
                let piped = matches!(binary.op, ast::BinaryOp::Pipe | ast::BinaryOp::PipeAll);
                let input = if piped { Input::Pipe(output) } else { input.clone() };
                self.statement(&binary.right, &input);
            }
            ast::Command::Compound(compound) => self.control(compound, input),
            ast::Command::Simple(_) | ast::Command::Builtin(_) | ast::Command::Decl(_) => {}
        }
    }

    fn control(&mut self, command: &ast::CompoundCommand, input: &Input) {
        use ast::CompoundCommand as Kind;
        match command {
            Kind::If(it) => {
                self.sequence(&it.condition, input);
                self.sequence(&it.then_branch, input);
                for (condition, branch) in &it.elif_branches {
                    self.sequence(condition, input);
                    self.sequence(branch, input);
                }
                it.else_branch.iter().for_each(|branch| self.sequence(branch, input));
            }
            Kind::For(it) => {
                it.words.iter().flatten().for_each(|word| self.nested(word));
                self.sequence(&it.body, input);
            }
            Kind::Repeat(it) => {
                self.nested(&it.count);
                self.sequence(&it.body, input);
            }
            Kind::Foreach(it) => {
                it.words.iter().for_each(|word| self.nested(word));
                self.sequence(&it.body, input);
            }
            Kind::Select(it) => {
                it.words.iter().for_each(|word| self.nested(word));
                self.sequence(&it.body, input);
            }
            Kind::ArithmeticFor(it) => {
                [&it.init_ast, &it.condition_ast, &it.step_ast]
                    .into_iter()
                    .flatten()
                    .for_each(|it| self.arithmetic(it));
                self.sequence(&it.body, input);
            }
            Kind::While(it) => {
                self.sequence(&it.condition, input);
                self.sequence(&it.body, input);
            }
            Kind::Until(it) => {
                self.sequence(&it.condition, input);
                self.sequence(&it.body, input);
            }
            Kind::Case(it) => {
                self.nested(&it.word);
                for case in &it.cases {
                    case.patterns.iter().for_each(|pattern| self.pattern(pattern));
                    self.sequence(&case.body, input);
                }
            }
            Kind::Subshell(body) | Kind::BraceGroup(body) => {
                self.broken |= body.is_empty();
                self.sequence(body, input);
            }
            Kind::Arithmetic(it) => {
                self.perhaps_subshells(it.span, it.expr_span);
                it.expr_ast.iter().for_each(|it| self.arithmetic(it));
            }
            Kind::Time(it) => it.command.iter().for_each(|command| {
                self.statement(command, input);
            }),
            Kind::Conditional(it) => self.conditional(&it.expression),
            Kind::Coproc(it) => {
                self.statement(&it.body, input);
            }
            Kind::Always(it) => {
                self.sequence(&it.body, input);
                self.sequence(&it.always_body, input);
            }
        }
    }

    fn redirect(
        &mut self,
        redirect: &ast::Redirect,
        redirections: &mut Vec<String>,
        overwrites: &mut Vec<Redirect>,
        input: &mut Input,
    ) {
        use ast::RedirectKind as Kind;
        let reads = redirect.fd.is_none_or(|fd| fd == 0) && redirect.fd_var.is_none();
        let target = match &redirect.target {
            ast::RedirectTarget::Heredoc(document) => {
                let text = self.document(document);
                if reads {
                    *input = Input::Text(Rc::new(text));
                }
                return;
            }
            ast::RedirectTarget::Word(word) => self.word(word),
        };
        redirections.push(self.source(redirect.span));
        let writes = match redirect.kind {
            Kind::HereString | Kind::Input | Kind::ReadWrite | Kind::DupInput if reads => {
                *input = match redirect.kind {
                    Kind::HereString => Input::Text(Rc::new(target.value)),
                    // What another command prints, or what cannot be told.
                    Kind::Input if target.process => Input::Pipe(None),
                    Kind::DupInput => Input::Pipe(None),
                    _ => Input::File,
                };
                return;
            }
            Kind::Output | Kind::Clobber | Kind::OutputBoth => Writes::Over,
            Kind::DupOutput if is_descriptor(target.text()) => return,
            Kind::DupOutput if target.hidden => {
                // `2>&$x` can only be a descriptor, `>&$x` a file too.
                if self.source(redirect.span).starts_with(|c: char| c.is_ascii_digit()) {
                    return;
                }
                Writes::Perhaps
            }
            Kind::DupOutput => Writes::Over,
            _ => return,
        };
        let span = self.origin(redirect.span);
        overwrites.push(Redirect { writes, target, span });
    }
}

fn is_descriptor(target: &str) -> bool {
    let number = target.strip_suffix('-').unwrap_or(target);
    number.bytes().all(|byte| byte.is_ascii_digit())
}
