//! What is written inside expansions, assignments, tests and sums, where commands may be too.

use shuck_ast as ast;

use super::Lowering;

impl Lowering<'_> {
    pub(super) fn parameter(&mut self, parameter: &ast::ParameterExpansion) {
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
                operand_word_ast.iter().for_each(|word| self.operand(word));
            }
            Kind::Operation { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                self.operator(operator);
                operand_word_ast.iter().for_each(|word| self.operand(word));
            }
            Kind::Slice { reference, offset_word_ast, length_word_ast, .. } => {
                self.reference(reference);
                self.operand(offset_word_ast);
                length_word_ast.iter().for_each(|word| self.operand(word));
            }
            Kind::PrefixMatch { .. } => {}
        }
    }

    pub(super) fn operator(&mut self, operator: &ast::ParameterOp) {
        use ast::ParameterOp as Kind;
        match operator {
            Kind::RemovePrefixShort { pattern }
            | Kind::RemovePrefixLong { pattern }
            | Kind::RemoveSuffixShort { pattern }
            | Kind::RemoveSuffixLong { pattern } => self.pattern(pattern),
            Kind::ReplaceFirst { pattern, replacement_word_ast, .. }
            | Kind::ReplaceAll { pattern, replacement_word_ast, .. } => {
                self.pattern(pattern);
                self.operand(replacement_word_ast);
            }
            _ => {}
        }
    }

    pub(super) fn pattern(&mut self, pattern: &ast::Pattern) {
        for part in &pattern.parts {
            match &part.kind {
                ast::PatternPart::Word(word) => self.nested(word),
                ast::PatternPart::Group { patterns, .. } => patterns.iter().for_each(|it| self.pattern(it)),
                _ => {}
            }
        }
    }

    pub(super) fn assignment(&mut self, assignment: &ast::Assignment) {
        self.reference(&assignment.target);
        match &assignment.value {
            ast::AssignmentValue::Scalar(word) => self.nested(word),
            ast::AssignmentValue::Compound(array) => {
                self.see_closed(array.span);
                self.see_listed(array);
                for element in &array.elements {
                    if let ast::ArrayElem::Keyed { key, .. } | ast::ArrayElem::KeyedAppend { key, .. } = element {
                        self.subscript(key);
                    }
                    self.word(element.value());
                }
            }
        }
    }

    pub(super) fn reference(&mut self, reference: &ast::VarRef) {
        reference.subscript.iter().for_each(|subscript| self.subscript(subscript));
    }

    fn subscript(&mut self, subscript: &ast::Subscript) {
        match (&subscript.word_ast, &subscript.arithmetic_ast) {
            (Some(word), _) => self.operand(word),
            (None, Some(expression)) => self.arithmetic(expression),
            (None, None) => {}
        }
    }

    /// Tells whether something in it is evaluated once more: what is compared as a number, and what is asked for as a
    /// variable, may have a subscript, and that a command (`[[ 'a[$(id)]' -eq 0 ]]`).
    ///
    /// Not by recursion: a sum of a thousand terms leans as far to the left.
    pub(super) fn conditional(&mut self, expression: &ast::ConditionalExpr) -> bool {
        use ast::ConditionalExpr as Kind;
        let mut evaluates = false;
        let mut open = vec![expression];
        while let Some(expression) = open.pop() {
            match expression {
                Kind::Binary(it) => {
                    evaluates |= ["-eq", "-ne", "-le", "-ge", "-lt", "-gt"].contains(&it.op.as_str());
                    open.extend([&*it.right, &*it.left]);
                }
                Kind::Unary(it) => {
                    evaluates |= ["-v", "-R"].contains(&it.op.as_str());
                    open.push(&it.expr);
                }
                Kind::Parenthesized(it) => open.push(&it.expr),
                Kind::Word(word) | Kind::Regex(word) => self.nested(word),
                Kind::Pattern(pattern) => self.pattern(pattern),
                Kind::VarRef(reference) => self.reference(reference),
            }
        }
        evaluates
    }

    pub(super) fn arithmetic(&mut self, expression: &ast::ArithmeticExprNode) {
        use ast::ArithmeticExpr as Kind;
        let mut open = vec![expression];
        while let Some(expression) = open.pop() {
            match &expression.kind {
                Kind::Number(_) | Kind::Variable(_) => {}
                Kind::Indexed { index, .. } => open.push(index),
                Kind::ShellWord(word) => self.operand(word),
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
}
