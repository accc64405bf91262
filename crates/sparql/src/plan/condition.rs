//! Estimates of the selectivity of filter conditions, by rules of thumb: Selinger et al., "Access path selection in a
//! relational database management system", 1979, table 1. They affect only the order of joins.

use super::scope::Variables;
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function, Unary};
use terrapin_sparql_syntax::walk::{has_exists, on_variables};

/// Selectivity of equality with an unknown value.
const EQUAL: f64 = 0.1;
/// Selectivity of an order comparison.
const RANGE: f64 = 1.0 / 3.0;
/// Selectivity of any other condition.
const OTHER: f64 = 0.5;

/// One of the conditions of a filter that must all hold.
#[derive(Debug, Clone)]
pub struct FilterCondition {
    /// Its variables.
    variables: Variables,
    /// The share of solutions that it leaves, more than 0 and at most 1.
    share: f64,
}

impl FilterCondition {
    /// Splits a filter into the conditions that affect the order of a join. Conditions with EXISTS or without variables
    /// are left out.
    pub fn all(filter: &Expression) -> Vec<FilterCondition> {
        let (mut out, mut open) = (Vec::new(), vec![filter]);
        while let Some(expression) = open.pop() {
            if let Expression::Binary(Binary::And, a, b) = expression {
                open.extend([&**a, &**b]);
                continue;
            }
            let mut variables = Variables::default();
            on_variables(expression, &mut |variable| variables.add(variable));
            if !variables.is_empty() && !has_exists(expression) {
                out.push(FilterCondition { variables, share: share(expression) });
            }
        }
        out
    }

    /// Returns the combined selectivity of the conditions that become decidable when `more` is bound in addition to
    /// `before`.
    pub fn left(conditions: &[FilterCondition], before: &Variables, more: &Variables) -> f64 {
        let holds_first = |condition: &&FilterCondition| {
            condition.variables.common(more) > 0
                && !condition.variables.is_within(before)
                && condition.variables.is_within(&before.or(more))
        };
        conditions.iter().filter(holds_first).map(|condition| condition.share).product()
    }
}

fn share(expression: &Expression) -> f64 {
    match expression {
        Expression::Binary(Binary::Equal | Binary::SameTerm, ..) => EQUAL,
        Expression::Binary(Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual, ..) => RANGE,
        Expression::Binary(Binary::And, a, b) => share(a) * share(b),
        Expression::Binary(Binary::Or, a, b) => (share(a) + share(b)).min(1.0),
        Expression::In(_, values) => (EQUAL * values.len() as f64).min(OTHER),
        // A text usually exists in many languages, and the condition selects one.
        Expression::Call(Function::LangMatches, _) => EQUAL,
        Expression::Call(Function::Contains | Function::StrStarts | Function::StrEnds | Function::Regex, _) => EQUAL,
        Expression::Unary(Unary::Not, inner) => (1.0 - share(inner)).max(EQUAL),
        _ => OTHER,
    }
}
