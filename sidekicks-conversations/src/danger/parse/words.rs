//! Words and here-documents, and what is run inside them.

use shuck_ast as ast;

use crate::danger::text::{HOLE, Text};
use crate::danger::tree::{Input, Piece, Word};

use super::{Lowering, range};

/// What is known of a word while it is put together.
#[derive(Default)]
struct Draft {
    value: Text,
    hidden: bool,
    process: bool,
    /// So many brackets of patterns are open.
    groups: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
    /// Inside a test, where brackets are characters as any other.
    Nested,
    /// Inside an expansion or a sum, where single quotes may be characters as any other too.
    Operand,
    /// A here-document, where a double quote is a character as any other.
    Document,
}

impl Lowering<'_> {
    pub(super) fn document(&mut self, document: &ast::Heredoc) -> Text {
        let body = &document.body;
        let mut draft = Draft::default();
        let expands = body.mode.expands();
        // The parser may forget that the second here-document of a line is not quoted.
        let quoted = document.delimiter.raw.span.slice(self.ascii).contains(['\'', '"', '\\']);
        self.broken |= !expands && !quoted && body.span.slice(self.ascii).contains(['$', '`']);
        if expands {
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
                    ast::HeredocBodyPart::ArithmeticExpansion { expression, expression_word_ast, .. } => {
                        self.perhaps_subshells(part.span, Some(expression.span()));
                        self.operand(expression_word_ast);
                    }
                    ast::HeredocBodyPart::Parameter(parameter) => self.parameter(parameter),
                    ast::HeredocBodyPart::Literal(_) | ast::HeredocBodyPart::Variable(_) => {}
                }
                self.hole(part.span, draft);
            }
        }
    }

    pub(super) fn word(&mut self, word: &ast::Word) -> Word {
        let mut draft = Draft::default();
        self.see_tiled(word.parts.iter().map(|part| part.span), range(word.span));
        for part in &word.parts {
            self.part(part, Quotes::None, &mut draft);
        }
        draft.hidden |= word.brace_syntax.iter().any(|brace| brace.expands());
        self.broken |= draft.groups > 0;
        let Draft { value, hidden, process, .. } = draft;
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
                let runs = |text: &str| ["$(", "${", "`"].iter().any(|begin| text.contains(begin));
                self.broken |= quotes == Quotes::Operand && !dollar && runs(inner.slice(self.ascii));
                if *dollar && inner.slice(self.ascii).contains('\\') {
                    draft.value.push_str(value.slice(self.ascii), self.origin(inner));
                } else {
                    draft.value.push_piece(self.code, range(inner));
                }
                return;
            }
            Kind::DoubleQuoted { parts, dollar } => {
                let whole = range(part.span);
                let inner = whole.start + 1 + usize::from(*dollar)..whole.end.saturating_sub(1);
                self.see_tiled(parts.iter().map(|part| part.span), inner);
                for part in parts {
                    self.part(part, Quotes::Double, draft);
                }
                return;
            }
            Kind::CommandSubstitution { body, syntax } => self.substitution(body, *syntax, part.span, quotes),
            Kind::ProcessSubstitution { body, is_input } => {
                draft.process = true;
                let all = range(part.span);
                self.see_filled(body, all.start + 2..all.end.saturating_sub(1));
                let input = if *is_input { Input::Inherited } else { Input::Pipe(None) };
                self.sequence(body, &input);
            }
            Kind::ArithmeticExpansion { expression, expression_word_ast, .. } => {
                self.perhaps_subshells(part.span, Some(expression.span()));
                self.operand(expression_word_ast);
            }
            Kind::Parameter(parameter) => self.parameter(parameter),
            Kind::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                self.operator(operator);
                operand_word_ast.iter().for_each(|word| self.operand(word));
            }
            Kind::IndirectExpansion { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                operator.iter().for_each(|operator| self.operator(operator));
                operand_word_ast.iter().for_each(|word| self.operand(word));
            }
            Kind::Substring { reference, offset_word_ast, length_word_ast, .. }
            | Kind::ArraySlice { reference, offset_word_ast, length_word_ast, .. } => {
                self.reference(reference);
                self.operand(offset_word_ast);
                length_word_ast.iter().for_each(|word| self.operand(word));
            }
            Kind::Length(reference)
            | Kind::ArrayAccess(reference)
            | Kind::ArrayLength(reference)
            | Kind::ArrayIndices(reference)
            | Kind::Transformation { reference, .. } => self.reference(reference),
            Kind::ZshQualifiedGlob(_) => return self.literal(part.span, quotes, draft),
            Kind::Variable(_) | Kind::PrefixMatch { .. } => {}
        }
        self.hole(part.span, draft);
    }

    /// A word that is none of a command: only what is run inside it counts.
    pub(super) fn nested(&mut self, word: &ast::Word) {
        self.inside(word, Quotes::Nested);
    }

    /// The same inside an expansion or a sum.
    pub(super) fn operand(&mut self, word: &ast::Word) {
        self.inside(word, Quotes::Operand);
    }

    fn inside(&mut self, word: &ast::Word, quotes: Quotes) {
        let mut draft = Draft::default();
        for part in &word.parts {
            self.part(part, quotes, &mut draft);
        }
    }

    fn hole(&mut self, span: ast::Span, draft: &mut Draft) {
        self.see_closed(span);
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
                    let Some(&(_, next)) = characters.peek() else {
                        // It quotes what the parser takes for the end of the word.
                        self.broken |= quotes == Quotes::None && all.end < self.ascii.len();
                        break;
                    };
                    let quotes_it = match quotes {
                        Quotes::None | Quotes::Nested | Quotes::Operand => true,
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
                // What ends a word ends it for a shell, though the parser reads on in `echo {; a`.
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' if quotes == Quotes::None => {
                    self.broken |= draft.groups == 0;
                    draft.groups -= usize::from(character == ')' && draft.groups > 0);
                }
                // A pattern may become any name. `[` alone is a command.
                '*' | '?' if quotes == Quotes::None => draft.hidden = true,
                '(' if quotes == Quotes::None => {
                    draft.hidden = true;
                    draft.groups += 1;
                    // Only a pattern has a bracket that is not quoted.
                    self.broken |= draft.groups == 1 && !slice[..at].ends_with(['!', '?', '*', '+', '@']);
                }
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
        let all = range(span);
        if syntax == ast::CommandSubstitutionSyntax::DollarParen {
            self.see_filled(body, all.start + 2..all.end.saturating_sub(1));
            return self.sequence(body, &Input::Inherited);
        }
        // The parser takes away one layer of backslashes and does not look again.
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

    /// `((a) | (b))` is no arithmetic but subshells, as is told by a bracket that closes more than the expression opened.
    pub(super) fn perhaps_subshells(&mut self, span: ast::Span, expression: Option<ast::Span>) {
        if expression.is_none_or(|it| closing(it.slice(self.ascii)).is_none()) {
            return;
        }
        // The outer bracket of the two; where it ends, the parser does not always tell right.
        let start = range(span).start + usize::from(span.slice(self.ascii).starts_with('$')) + 1;
        let rest = self.ascii.get(start..).unwrap_or_default();
        let end = start + closing(rest).unwrap_or(rest.len());
        self.pieces.push(Piece::Code(self.code.piece(start..end)));
    }
}

/// Where a bracket closes that the text did not open.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_i32;
    text.bytes().position(|byte| {
        open += i32::from(byte == b'(') - i32::from(byte == b')');
        open < 0
    })
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
