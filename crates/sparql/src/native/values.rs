//! Compiles expressions: conditions and values of a program.

use oxrdf::{Term, Variable};

use super::calculation::{CalculatedComparison, Calculation};
use super::comparison::QuantityComparison;
use super::condition::{BindValue, Leaf, ProgramCondition};
use super::fallback::Fallback;
use super::operand::Slot;
use super::scope::BlockScope;
use super::text::TextTest;
use terrapin_sparql_syntax::algebra::Expression;
use terrapin_sparql_syntax::walk::on_variables;

/// A compiled part, or the reason for the fallback to the evaluator.
pub type Result<T> = std::result::Result<T, Fallback>;

/// Compiles a condition without patterns.
pub fn condition(expression: &Expression, scope: &mut BlockScope) -> Result<ProgramCondition> {
    let leaf = leaf(expression, scope, true)?;
    if let Some(comparison) = QuantityComparison::of(expression, |variable| scope.known(variable)) {
        return Ok(ProgramCondition::Compared(comparison, leaf));
    }
    if let Some(comparison) = CalculatedComparison::of(expression, |variable| scope.known(variable)) {
        return Ok(ProgramCondition::Calculated(comparison, leaf));
    }
    Ok(match TextTest::of(expression, |variable| scope.known(variable)) {
        Some(test) => ProgramCondition::Text(test, leaf),
        None => ProgramCondition::Leaf(leaf),
    })
}

/// Compiles the value of an expression that is neither a term nor a variable.
pub fn calculated(expression: &Expression, scope: &mut BlockScope) -> Result<BindValue> {
    let leaf = leaf(expression, scope, false)?;
    let calculation = Calculation::of(expression, &|variable: &Variable| scope.known(variable));
    Ok(match calculation.filter(Calculation::is_operation) {
        Some(calculation) => BindValue::Calculated(calculation, leaf),
        None => BindValue::Leaf(leaf),
    })
}

/// Returns the term of a constant expression.
pub fn constant(expression: &Expression) -> Option<Term> {
    match expression {
        Expression::NamedNode(node) => Some(node.clone().into()),
        Expression::Literal(literal) => Some(literal.clone().into()),
        _ => None,
    }
}

/// Compiles an expression, or its effective boolean value, for the evaluator.
pub fn leaf(expression: &Expression, scope: &mut BlockScope, is_condition: bool) -> Result<Leaf> {
    let mut variables: Vec<(Variable, Slot)> = Vec::new();
    let mut room = Ok(());
    on_variables(expression, &mut |variable| {
        if !variables.iter().any(|(v, _)| v == variable) {
            match scope.slot(variable) {
                Ok(slot) => variables.push((variable.clone(), slot)),
                Err(full) => room = Err(full),
            }
        }
    });
    room?;
    Ok(Leaf::new(expression, variables, is_condition))
}
