//! Compiles expressions: conditions and values of a program.

use oxrdf::{Term, Variable};

use super::calculation::{CalculatedComparison, Calculation};
use super::comparison::QuantityComparison;
use super::condition::{BindValue, Leaf, LeafVariable, ProgramCondition};
use super::forms::{mark_term, mark_value, original};
use super::scope::BlockScope;
use super::text::TextTest;
use terrapin_sparql_syntax::algebra::Expression;
use terrapin_sparql_syntax::walk::on_variables;

/// Compiles a condition without patterns.
pub fn condition(expression: &Expression, scope: &mut BlockScope) -> ProgramCondition {
    let leaf = leaf(expression, scope, true);
    if let Some(comparison) = QuantityComparison::of(expression, |variable| scope.known(variable)) {
        return ProgramCondition::Compared(comparison, leaf);
    }
    if let Some(comparison) = CalculatedComparison::of(expression, |variable| scope.known(variable)) {
        return ProgramCondition::Calculated(comparison, leaf);
    }
    match TextTest::of(expression, |variable| scope.known(variable)) {
        Some(test) => ProgramCondition::Text(test, leaf),
        None => ProgramCondition::Leaf(leaf),
    }
}

/// Compiles the value of an expression that is neither a term nor a variable.
pub fn calculated(expression: &Expression, scope: &mut BlockScope) -> BindValue {
    let leaf = leaf(expression, scope, false);
    let calculation = Calculation::of(expression, &|variable: &Variable| scope.known(variable));
    match calculation.filter(Calculation::is_operation) {
        Some(calculation) => BindValue::Calculated(calculation, leaf),
        None => BindValue::Leaf(leaf),
    }
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
pub fn leaf(expression: &Expression, scope: &mut BlockScope, is_condition: bool) -> Leaf {
    let mut evaluated = expression.clone();
    match (scope.keeps_forms, is_condition) {
        (false, _) => {}
        (true, true) => mark_value(&mut evaluated),
        (true, false) => mark_term(&mut evaluated),
    }
    let mut variables: Vec<LeafVariable> = Vec::new();
    on_variables(&evaluated, &mut |variable| {
        if !variables.iter().any(|v| v.variable == *variable) {
            let original = original(variable);
            let slot = scope.slot(original.as_ref().unwrap_or(variable));
            variables.push(LeafVariable { variable: variable.clone(), slot, is_marked: original.is_some() });
        }
    });
    Leaf::new(expression, evaluated, variables, is_condition)
}
