//! The syntax tree of a command line: the one place that knows the parser.
//!
//! The parser is young, so nothing is given to it that it was seen to fail on: only ASCII, no deep nesting, a bounded
//! length. Whatever it does not call clean is refused.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use shuck_ast as ast;
use shuck_parser::parser::Parser;

use super::text::{HOLE, Span, Text};
use super::tree::{Input, Piece, Redirect, Step, Word, Writes};

/// No longer code is read.
pub(super) const MAX_LEN: usize = 64 * 1024;
/// So deep may one kind of bracket be nested, and both together.
const MAX_NESTING: usize = 20;
const MAX_NESTINGS: usize = 24;
/// The parser calls itself for each of these words.
const MAX_PREFIXES: usize = 60;

/// Why there is no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    TooComplex,
    Unreadable,
}

/// Reads `code` as a shell does.
pub(super) fn parse(code: &Text) -> Result<Vec<Piece>, Refused> {
    let source = code.as_str();
    if source.len() > MAX_LEN || is_nested(source) || prefixes(source) > MAX_PREFIXES {
        return Err(Refused::TooComplex);
    }
    let ascii: String = source.bytes().map(|byte| if byte.is_ascii() { char::from(byte) } else { 'x' }).collect();
    let read = || {
        let parsed = Parser::new(&ascii).parse();
        if !parsed.is_ok() {
            return Err(Refused::Unreadable);
        }
        let mut lowering = Lowering { code, ascii: &ascii, pieces: Vec::new() };
        lowering.sequence(&parsed.file.body, &Input::Inherited);
        Ok(lowering.pieces)
    };
    catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(Refused::Unreadable))
}

/// Brackets in quotes count too: only the parser knows quotes.
fn is_nested(source: &str) -> bool {
    let (mut round, mut curly, mut deepest_round, mut deepest_curly) = (0_usize, 0_usize, 0, 0);
    for byte in source.bytes() {
        match byte {
            b'(' => round += 1,
            b')' => round = round.saturating_sub(1),
            b'{' => curly += 1,
            b'}' => curly = curly.saturating_sub(1),
            _ => {}
        }
        deepest_round = deepest_round.max(round);
        deepest_curly = deepest_curly.max(curly);
    }
    deepest_round > MAX_NESTING || deepest_curly > MAX_NESTING || deepest_round + deepest_curly > MAX_NESTINGS
}

fn prefixes(source: &str) -> usize {
    source.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| matches!(*word, "time" | "coproc")).count()
}

struct Lowering<'a> {
    code: &'a Text,
    ascii: &'a str,
    pieces: Vec<Piece>,
}

/// What is known of a word while it is put together.
#[derive(Default)]
struct Draft {
    value: Text,
    hidden: bool,
    process: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
    /// A here-document, where a double quote is a character as any other.
    Document,
}

impl Lowering<'_> {
    fn sequence(&mut self, sequence: &ast::StmtSeq, input: &Input) {
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
        let mut around = Vec::new();
        let mut redirects = Vec::new();
        let mut input = input.clone();
        for redirect in &statement.redirects {
            self.redirect(redirect, &mut around, &mut redirects, &mut input);
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
            around.insert(0, self.source(assignment.span));
            self.assignment(assignment);
        }
        let redirected = !redirects.is_empty() || !around.is_empty();
        if words.is_empty() && !redirected {
            return None;
        }
        let is_command = !words.is_empty();
        self.pieces.push(Piece::Step(Step { around, words, redirects, input }));
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
                let words = self.words(&function.args);
                drop(words);
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
                self.words(it.words.iter().flatten());
                self.sequence(&it.body, input);
            }
            Kind::Repeat(it) => {
                self.word(&it.count);
                self.sequence(&it.body, input);
            }
            Kind::Foreach(it) => {
                self.words(&it.words);
                self.sequence(&it.body, input);
            }
            Kind::Select(it) => {
                self.words(&it.words);
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
                self.word(&it.word);
                for case in &it.cases {
                    case.patterns.iter().for_each(|pattern| self.pattern(pattern));
                    self.sequence(&case.body, input);
                }
            }
            Kind::Subshell(body) | Kind::BraceGroup(body) => self.sequence(body, input),
            Kind::Arithmetic(it) => it.expr_ast.iter().for_each(|it| self.arithmetic(it)),
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
        around: &mut Vec<String>,
        redirects: &mut Vec<Redirect>,
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
        around.push(self.source(redirect.span));
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
        redirects.push(Redirect { writes, target, span });
    }

    fn document(&mut self, document: &ast::Heredoc) -> Text {
        let body = &document.body;
        let mut draft = Draft::default();
        if body.mode.expands() {
            for part in &body.parts {
                self.document_part(part, &mut draft);
            }
        } else {
            draft.value.push_piece(self.code, range(body.span));
        }
        if document.delimiter.strip_tabs { without_tabs(&draft.value) } else { draft.value }
    }

    fn document_part(&mut self, part: &ast::HeredocBodyPartNode, draft: &mut Draft) {
        match &part.kind {
            ast::HeredocBodyPart::Literal(_) => self.literal(part.span, Quotes::Document, draft),
            other => {
                match other {
                    ast::HeredocBodyPart::CommandSubstitution { body, syntax } => {
                        self.substitution(body, *syntax, part.span, Quotes::Document);
                    }
                    ast::HeredocBodyPart::ArithmeticExpansion { expression_word_ast, .. } => {
                        self.word(expression_word_ast);
                    }
                    ast::HeredocBodyPart::Parameter(parameter) => self.parameter(parameter),
                    ast::HeredocBodyPart::Literal(_) | ast::HeredocBodyPart::Variable(_) => {}
                }
                self.hole(part.span, draft);
            }
        }
    }

    fn words<'w>(&mut self, words: impl IntoIterator<Item = &'w ast::Word>) -> Vec<Word> {
        words.into_iter().map(|word| self.word(word)).collect()
    }

    fn word(&mut self, word: &ast::Word) -> Word {
        let mut draft = Draft::default();
        for part in &word.parts {
            self.part(part, Quotes::None, &mut draft);
        }
        draft.hidden |= word.brace_syntax.iter().any(|brace| brace.expands());
        let Draft { value, hidden, process } = draft;
        Word { value, hidden, process, span: self.origin(word.span), source: self.source(word.span) }
    }

    fn part(&mut self, part: &ast::WordPartNode, quotes: Quotes, draft: &mut Draft) {
        use ast::WordPart as Kind;
        match &part.kind {
            Kind::Literal(literal) => {
                let slice = part.span.slice(self.ascii);
                if slice.is_empty() {
                    // Some have no place: the descriptor in `&>> file`.
                    draft.value.push_str(literal.as_str(self.ascii, part.span), self.origin(part.span));
                } else {
                    self.literal(part.span, quotes, draft);
                }
                return;
            }
            Kind::SingleQuoted { value, dollar } => {
                let inner = value.span();
                if *dollar && inner.slice(self.ascii).contains('\\') {
                    draft.value.push_str(value.slice(self.ascii), self.origin(inner));
                } else {
                    draft.value.push_piece(self.code, range(inner));
                }
                return;
            }
            Kind::DoubleQuoted { parts, .. } => {
                for part in parts {
                    self.part(part, Quotes::Double, draft);
                }
                return;
            }
            Kind::CommandSubstitution { body, syntax } => self.substitution(body, *syntax, part.span, quotes),
            Kind::ProcessSubstitution { body, is_input } => {
                draft.process = true;
                let input = if *is_input { Input::Inherited } else { Input::Pipe(None) };
                self.sequence(body, &input);
            }
            Kind::ArithmeticExpansion { expression_word_ast, .. } => {
                self.word(expression_word_ast);
            }
            Kind::Parameter(parameter) => self.parameter(parameter),
            Kind::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                self.operator(operator);
                operand_word_ast.iter().for_each(|word| self.nested(word));
            }
            Kind::IndirectExpansion { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                operator.iter().for_each(|operator| self.operator(operator));
                operand_word_ast.iter().for_each(|word| self.nested(word));
            }
            Kind::Substring { reference, offset_word_ast, length_word_ast, .. }
            | Kind::ArraySlice { reference, offset_word_ast, length_word_ast, .. } => {
                self.reference(reference);
                self.nested(offset_word_ast);
                length_word_ast.iter().for_each(|word| self.nested(word));
            }
            Kind::Length(reference)
            | Kind::ArrayAccess(reference)
            | Kind::ArrayLength(reference)
            | Kind::ArrayIndices(reference)
            | Kind::Transformation { reference, .. } => self.reference(reference),
            Kind::ZshQualifiedGlob(_) | Kind::Variable(_) | Kind::PrefixMatch { .. } => {}
        }
        self.hole(part.span, draft);
    }

    fn nested(&mut self, word: &ast::Word) {
        self.word(word);
    }

    fn hole(&mut self, span: ast::Span, draft: &mut Draft) {
        draft.hidden = true;
        draft.value.push_str(HOLE, self.origin(span));
    }

    /// Characters as they are written, without the backslashes that quote.
    fn literal(&mut self, span: ast::Span, quotes: Quotes, draft: &mut Draft) {
        let all = range(span);
        let Some(slice) = self.code.as_str().get(all.clone()) else { return };
        let mut from = all.start;
        let mut characters = slice.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => {
                    let Some(&(_, next)) = characters.peek() else { break };
                    let quotes_it = match quotes {
                        Quotes::None => true,
                        Quotes::Double => matches!(next, '$' | '`' | '"' | '\\' | '\n'),
                        Quotes::Document => matches!(next, '$' | '`' | '\\' | '\n'),
                    };
                    if !quotes_it {
                        continue;
                    }
                    characters.next();
                    draft.value.push_piece(self.code, from..all.start + at);
                    // A continued line leaves nothing at all.
                    from = all.start + at + if next == '\n' { 2 } else { 1 };
                }
                // A pattern may become any name. `[` alone is a command.
                '*' | '?' if quotes == Quotes::None => draft.hidden = true,
                '[' if quotes == Quotes::None && slice.get(at + 1..).is_some_and(|rest| rest.contains(']')) => {
                    draft.hidden = true;
                }
                _ => {}
            }
        }
        draft.value.push_piece(self.code, from..all.end);
    }

    fn substitution(
        &mut self,
        body: &ast::StmtSeq,
        syntax: ast::CommandSubstitutionSyntax,
        span: ast::Span,
        quotes: Quotes,
    ) {
        if syntax == ast::CommandSubstitutionSyntax::DollarParen {
            return self.sequence(body, &Input::Inherited);
        }
        // The parser takes away one layer of backslashes and does not look again.
        let all = range(span);
        let inner = all.start + 1..all.end.saturating_sub(1);
        let Some(slice) = self.code.as_str().get(inner.clone()) else { return };
        let mut code = Text::default();
        let mut from = inner.start;
        let mut bytes = slice.bytes().enumerate().peekable();
        while let Some((at, byte)) = bytes.next() {
            let Some(&(_, next)) = bytes.peek() else { break };
            let quoted = matches!(next, b'$' | b'`' | b'\\') || (next == b'"' && quotes == Quotes::Double);
            if byte == b'\\' && quoted {
                bytes.next();
                code.push_piece(self.code, from..inner.start + at);
                from = inner.start + at + 1;
            }
        }
        code.push_piece(self.code, from..inner.end);
        self.pieces.push(Piece::Code(code));
    }

    fn parameter(&mut self, parameter: &ast::ParameterExpansion) {
        use ast::BourneParameterExpansion as Kind;
        let ast::ParameterExpansionSyntax::Bourne(expansion) = &parameter.syntax else { return };
        match expansion {
            Kind::Access { reference }
            | Kind::Length { reference }
            | Kind::Indices { reference }
            | Kind::Transformation { reference, .. } => self.reference(reference),
            Kind::Indirect { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                operator.iter().for_each(|operator| self.operator(operator));
                operand_word_ast.iter().for_each(|word| self.nested(word));
            }
            Kind::Operation { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                self.operator(operator);
                operand_word_ast.iter().for_each(|word| self.nested(word));
            }
            Kind::Slice { reference, offset_word_ast, length_word_ast, .. } => {
                self.reference(reference);
                self.nested(offset_word_ast);
                length_word_ast.iter().for_each(|word| self.nested(word));
            }
            Kind::PrefixMatch { .. } => {}
        }
    }

    fn operator(&mut self, operator: &ast::ParameterOp) {
        use ast::ParameterOp as Kind;
        match operator {
            Kind::RemovePrefixShort { pattern }
            | Kind::RemovePrefixLong { pattern }
            | Kind::RemoveSuffixShort { pattern }
            | Kind::RemoveSuffixLong { pattern } => self.pattern(pattern),
            Kind::ReplaceFirst { pattern, replacement_word_ast, .. }
            | Kind::ReplaceAll { pattern, replacement_word_ast, .. } => {
                self.pattern(pattern);
                self.nested(replacement_word_ast);
            }
            _ => {}
        }
    }

    fn pattern(&mut self, pattern: &ast::Pattern) {
        for part in &pattern.parts {
            match &part.kind {
                ast::PatternPart::Word(word) => self.nested(word),
                ast::PatternPart::Group { patterns, .. } => patterns.iter().for_each(|it| self.pattern(it)),
                _ => {}
            }
        }
    }

    fn assignment(&mut self, assignment: &ast::Assignment) {
        self.reference(&assignment.target);
        match &assignment.value {
            ast::AssignmentValue::Scalar(word) => self.nested(word),
            ast::AssignmentValue::Compound(array) => {
                for element in &array.elements {
                    if let ast::ArrayElem::Keyed { key, .. } | ast::ArrayElem::KeyedAppend { key, .. } = element {
                        self.subscript(key);
                    }
                    self.nested(element.value());
                }
            }
        }
    }

    fn reference(&mut self, reference: &ast::VarRef) {
        reference.subscript.iter().for_each(|subscript| self.subscript(subscript));
    }

    fn subscript(&mut self, subscript: &ast::Subscript) {
        match (&subscript.word_ast, &subscript.arithmetic_ast) {
            (Some(word), _) => self.nested(word),
            (None, Some(expression)) => self.arithmetic(expression),
            (None, None) => {}
        }
    }

    /// Not by recursion: a sum of a thousand terms leans as far to the left.
    fn conditional(&mut self, expression: &ast::ConditionalExpr) {
        use ast::ConditionalExpr as Kind;
        let mut open = vec![expression];
        while let Some(expression) = open.pop() {
            match expression {
                Kind::Binary(it) => open.extend([&*it.right, &*it.left]),
                Kind::Unary(it) => open.push(&it.expr),
                Kind::Parenthesized(it) => open.push(&it.expr),
                Kind::Word(word) | Kind::Regex(word) => self.nested(word),
                Kind::Pattern(pattern) => self.pattern(pattern),
                Kind::VarRef(reference) => self.reference(reference),
            }
        }
    }

    fn arithmetic(&mut self, expression: &ast::ArithmeticExprNode) {
        use ast::ArithmeticExpr as Kind;
        let mut open = vec![expression];
        while let Some(expression) = open.pop() {
            match &expression.kind {
                Kind::Number(_) | Kind::Variable(_) => {}
                Kind::Indexed { index, .. } => open.push(index),
                Kind::ShellWord(word) => self.nested(word),
                Kind::Parenthesized { expression } => open.push(expression),
                Kind::Unary { expr, .. } | Kind::Postfix { expr, .. } => open.push(expr),
                Kind::Binary { left, right, .. } => open.extend([&**right, &**left]),
                Kind::Conditional { condition, then_expr, else_expr } => {
                    open.extend([&**else_expr, &**then_expr, &**condition]);
                }
                Kind::Assignment { target, value, .. } => {
                    if let ast::ArithmeticLvalue::Indexed { index, .. } = target {
                        open.push(index);
                    }
                    open.push(value);
                }
            }
        }
    }

    /// A word that stands for itself. `span` may reach further: only its beginning is taken.
    fn plain(&self, text: &str, span: ast::Span) -> Word {
        let start = range(span).start;
        let span = self.code.span(start..start + text.len().max(1));
        let mut value = Text::default();
        value.push_str(text, span);
        Word { value, hidden: false, process: false, span, source: text.to_owned() }
    }

    fn origin(&self, span: ast::Span) -> Span {
        self.code.span(range(span))
    }

    fn source(&self, span: ast::Span) -> String {
        self.code.as_str().get(range(span)).unwrap_or_default().to_owned()
    }
}

fn range(span: ast::Span) -> std::ops::Range<usize> {
    let range = span.to_range();
    range.start().to_u32() as usize..range.end().to_u32() as usize
}

fn is_descriptor(target: &str) -> bool {
    let number = target.strip_suffix('-').unwrap_or(target);
    number.bytes().all(|byte| byte.is_ascii_digit())
}

fn without_tabs(document: &Text) -> Text {
    let mut stripped = Text::default();
    let mut at = 0;
    for line in document.as_str().split_inclusive('\n') {
        let tabs = line.len() - line.trim_start_matches('\t').len();
        stripped.push_piece(document, at + tabs..at + line.len());
        at += line.len();
    }
    stripped
}
