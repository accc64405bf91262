//! Compiles expressions with EXISTS, and filters.

use oxrdf::Variable;

use super::{CompileContext, Compiler, Result};
use crate::functions::exact::is_constant;
use crate::native::comparison::is_dated;
use crate::native::condition::{AmongValue, BindValue, ProgramCondition};
use crate::native::constants::Constants;
use crate::native::layout::{PatternTest, PlanNode, Sequence, strip};
use crate::native::operand::ProgramOperand;
use crate::native::scope::{BlockScope, Mask, bit};
use crate::native::values::{calculated, condition, constant, leaf};
use terrapin_sparql_syntax::algebra::{Binary, Expression, Helper, QueryPattern, Unary};
use terrapin_sparql_syntax::walk::{has_exists, on_variables, replace_exists};

impl Compiler<'_> {
    /// Compiles a value. The tests of its EXISTS are added before it.
    pub(super) fn calculated(
        &mut self,
        expression: &Expression,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<BindValue> {
        if !has_exists(expression) {
            return Ok(calculated(expression, scope));
        }
        let mut tests = Vec::new();
        let expression = self.without_exists(expression, context, scope, &mut tests)?;
        out.extend(tests.into_iter().map(|test| (test, context.known)));
        Ok(calculated(&expression, scope))
    }

    /// Returns an expression with a test of a helper variable in place of each EXISTS. Adds the nodes that bind these
    /// variables to `tests`.
    pub(super) fn without_exists(
        &mut self,
        expression: &Expression,
        context: CompileContext,
        scope: &mut BlockScope,
        tests: &mut Vec<PlanNode>,
    ) -> Result<Expression> {
        let mut expression = expression.clone();
        let mut failed = Ok(());
        replace_exists(&mut expression, &mut |pattern| {
            let variable = Variable::from(Helper::Exists(scope.slots.len()));
            let slot = scope.slot(&variable);
            if failed.is_ok() {
                failed = self.exists(pattern, context, scope).map(|body| tests.push(PlanNode::Exists(slot, body)));
            }
            Expression::Bound(variable)
        });
        failed.map(|()| expression)
    }

    /// Compiles the pattern of an EXISTS.
    pub(super) fn exists(
        &mut self,
        pattern: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
    ) -> Result<Vec<PlanNode>> {
        let mut body = Vec::new();
        self.sequence(pattern, CompileContext { asked: true, ..context }, scope, &mut body)?;
        Ok(strip(body))
    }

    /// Inserts each part of a filter as soon as its variables are bound, among the nodes from `from` on.
    pub(super) fn filter(
        &mut self,
        expression: &Expression,
        context: CompileContext,
        after: Mask,
        scope: &mut BlockScope,
        out: &mut Sequence,
        from: usize,
    ) -> Result<()> {
        let mut parts = Vec::new();
        conjuncts(expression, &mut parts);
        for part in parts {
            let mut tests = Vec::new();
            let inside = CompileContext { known: after, ..context };
            let test = self.test(part, inside, scope, &mut tests)?;
            out.extend(tests.into_iter().map(|test| (test, after)));
            let mut needs: Mask = 0;
            let mut all = !has_exists(part);
            on_variables(part, &mut |variable| match scope.known(variable) {
                Some(slot) if bit(slot) != 0 => needs |= bit(slot),
                _ => all = false,
            });
            let earliest = if !all {
                None
            } else if needs & !context.known == 0 {
                Some((from, context.known))
            } else {
                let fitting = out.iter().enumerate().skip(from).find(|(_, (_, mask))| needs & !mask == 0);
                fitting.map(|(at, (_, mask))| (at + 1, *mask))
            };
            match earliest {
                Some((at, mask)) => out.insert(at, (PlanNode::Filter(test), mask)),
                None => out.push((PlanNode::Filter(test), after)),
            }
        }
        Ok(())
    }

    /// Compiles a condition. Adds the nodes that must precede it to `tests`.
    pub(super) fn test(
        &mut self,
        expression: &Expression,
        context: CompileContext,
        scope: &mut BlockScope,
        tests: &mut Vec<PlanNode>,
    ) -> Result<PatternTest> {
        Ok(match expression {
            expression if is_dated(expression) && !has_exists(expression) => {
                PatternTest::Plain(condition(expression, scope))
            }
            Expression::Binary(Binary::And, a, b) => {
                PatternTest::And(vec![self.test(a, context, scope, tests)?, self.test(b, context, scope, tests)?])
            }
            Expression::Binary(Binary::Or, a, b) => {
                PatternTest::Or(vec![self.test(a, context, scope, tests)?, self.test(b, context, scope, tests)?])
            }
            Expression::Unary(Unary::Not, inner) => {
                PatternTest::Not(Box::new(self.test(inner, context, scope, tests)?))
            }
            Expression::Exists(pattern) => PatternTest::Exists(self.exists(pattern, context, scope)?),
            expression if has_exists(expression) => {
                let expression = self.without_exists(expression, context, scope, tests)?;
                self.test(&expression, context, scope, tests)?
            }
            Expression::Bound(variable) => PatternTest::Plain(ProgramCondition::Bound(scope.slot(variable))),
            Expression::In(value, list) if !list.is_empty() && list.iter().all(is_constant) => {
                let value = match &**value {
                    Expression::Variable(variable) => AmongValue::Slot(scope.slot(variable)),
                    value => AmongValue::Leaf(leaf(value, scope, false)),
                };
                PatternTest::Plain(ProgramCondition::Among(value, Constants::new(list.iter().filter_map(constant))))
            }
            Expression::Binary(operator @ (Binary::SameTerm | Binary::Equal), a, b) => {
                let places = (self.operand(a, scope), self.operand(b, scope));
                match (places, operator) {
                    ((Some(a), Some(b)), Binary::SameTerm) => PatternTest::Plain(ProgramCondition::Same(a, b)),
                    ((Some(a), Some(b)), _) => {
                        PatternTest::Plain(ProgramCondition::Equal(a, b, leaf(expression, scope, true)))
                    }
                    _ => PatternTest::Plain(condition(expression, scope)),
                }
            }
            expression => PatternTest::Plain(condition(expression, scope)),
        })
    }

    /// Returns the operand of an expression that is a term or a variable.
    pub(super) fn operand(&self, expression: &Expression, scope: &mut BlockScope) -> Option<ProgramOperand> {
        match expression {
            Expression::Variable(variable) => Some(ProgramOperand::Slot(scope.slot(variable))),
            Expression::NamedNode(node) => Some(ProgramOperand::Term(self.view.id(&node.clone().into()))),
            Expression::Literal(literal) => Some(ProgramOperand::Term(self.view.id(&literal.clone().into()))),
            _ => None,
        }
    }
}

/// Collects the parts of a conjunction.
fn conjuncts<'e>(expression: &'e Expression, out: &mut Vec<&'e Expression>) {
    match expression {
        Expression::Binary(Binary::And, a, b) => {
            conjuncts(a, out);
            conjuncts(b, out);
        }
        other => out.push(other),
    }
}
