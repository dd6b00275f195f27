//! Commands, and what stands around them.

use shuck_ast as ast;

use crate::danger::tree::{Input, Piece, Step};

use super::Lowering;

impl Lowering<'_> {
    pub(super) fn sequence(&mut self, sequence: &ast::StmtSeq, input: &Input) {
        self.see_separated(sequence);
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
        let redirects = self.redirects(&statement.redirects, input);
        let (places, words) = match self.simple(&statement.command) {
            Some(simple) => ([simple.places, redirects.all].concat(), simple.words),
            None => {
                self.compound(&statement.command, &redirects.input);
                (redirects.writing, Vec::new())
            }
        };
        let start = places.iter().map(|place| place.start).min()?;
        let end = places.iter().map(|place| place.end).max()?;
        let is_command = !words.is_empty();
        let written = self.joined(places);
        self.pieces.push(Piece::Step(Step {
            span: self.code.span(start..end),
            written,
            words,
            writes: redirects.writes,
            input: redirects.input,
        }));
        is_command.then(|| self.pieces.len() - 1)
    }

    fn compound(&mut self, command: &ast::Command, input: &Input) {
        match command {
            ast::Command::Function(function) => {
                // What is called by this name from here on is another command.
                let names: Vec<String> = function.static_names().map(|name| format!("{}()", name.as_str())).collect();
                self.aside(function.span, names.join(" "));
                self.statement(&function.body, input);
            }
            // Of zsh, which this is not.
            ast::Command::AnonymousFunction(_) => self.broken = true,
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
                let words = it.words.as_deref().unwrap_or_default();
                it.targets.iter().for_each(|target| self.loop_variable(target.span, words));
                words.iter().for_each(|word| self.nested(word));
                self.sequence(&it.body, input);
            }
            Kind::Select(it) => {
                self.loop_variable(it.variable_span, &it.words);
                it.words.iter().for_each(|word| self.nested(word));
                self.sequence(&it.body, input);
            }
            Kind::ArithmeticFor(it) => {
                self.aside(it.span, "for ((".to_owned());
                self.see_summed(it.init_span, it.init_ast.as_ref());
                self.see_summed(it.condition_span, it.condition_ast.as_ref());
                self.see_summed(it.step_span, it.step_ast.as_ref());
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
                // It may set what others run by, and a variable in it is evaluated once more.
                self.aside(it.span, self.source(it.span));
                self.see_summed(it.expr_span, it.expr_ast.as_ref());
            }
            Kind::Time(it) => it.command.iter().for_each(|command| {
                self.statement(command, input);
            }),
            Kind::Conditional(it) => {
                if self.conditional(&it.expression) {
                    self.aside(it.span, self.source(it.span));
                }
            }
            Kind::Coproc(it) => {
                self.statement(&it.body, input);
            }
            // Of zsh, which this is not.
            Kind::Repeat(_) | Kind::Foreach(_) | Kind::Always(_) => self.broken = true,
        }
    }

    /// A loop over a name that is one of the environment changes what commands do, as an assignment does; so does one over
    /// code, which is run where the name is taken for a number (`$((x))`) or for a prompt (`${x@P}`).
    fn loop_variable(&mut self, span: ast::Span, words: &[ast::Word]) {
        let name = self.source(span);
        let is = |test: fn(&u8) -> bool| name.as_bytes().iter().any(test);
        let quotes_code = |word: &ast::Word| {
            let slice = word.span.slice(self.ascii);
            slice.contains(['\'', '\\']) && slice.contains(['$', '`'])
        };
        if is(u8::is_ascii_uppercase) && !is(u8::is_ascii_lowercase) || words.iter().any(quotes_code) {
            self.aside(span, format!("for {name}"));
        }
    }

    /// What is no command, and yet changes what commands do, or what they are.
    fn aside(&mut self, span: ast::Span, written: String) {
        let span = self.origin(span);
        self.pieces.push(Piece::Step(Step { span, written, ..Step::default() }));
    }
}
