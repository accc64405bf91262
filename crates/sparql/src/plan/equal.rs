//! Adds VALUES for conditions that limit a variable to listed terms, so that the planner may start with these.

use std::sync::Arc;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term, Variable};

use super::scope::bound;
use terrapin_sparql_syntax::algebra::{Binary, Expression, QueryPattern};

/// Joins a filter's pattern with the terms that its condition allows.
pub fn restrict(condition: &Expression, pattern: &mut QueryPattern) {
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        if let Expression::Binary(Binary::And, a, b) = condition {
            open.extend([&**a, &**b]);
        } else if let Some((variable, terms)) = allowed(condition)
            && bound(pattern).1.has(variable)
        {
            let rows = terms.into_iter().map(|term| vec![Some(term)]).collect();
            join(pattern, QueryPattern::Values { variables: vec![variable.clone()], rows: Arc::new(rows) });
        }
    }
}

/// Returns the variable of a condition and all terms for which it holds, each once.
fn allowed(condition: &Expression) -> Option<(&Variable, Vec<Term>)> {
    match condition {
        Expression::Binary(Binary::Equal | Binary::SameTerm, a, b) => match (&**a, &**b) {
            (Expression::Variable(variable), term) | (term, Expression::Variable(variable)) => {
                Some((variable, vec![only_equal(term)?]))
            }
            _ => None,
        },
        Expression::In(variable, values) => {
            let Expression::Variable(variable) = &**variable else { return None };
            let mut terms = values.iter().map(only_equal).collect::<Option<Vec<Term>>>()?;
            terms.sort_unstable_by_key(Term::to_string);
            terms.dedup();
            Some((variable, terms))
        }
        _ => None,
    }
}

/// Returns a constant that is equal only to itself: an IRI, or a string with or without a language. Numbers and dates
/// may be equal to others in a different notation.
fn only_equal(expression: &Expression) -> Option<Term> {
    match expression {
        Expression::NamedNode(node) => Some(node.clone().into()),
        Expression::Literal(literal) if is_text(literal) => Some(literal.clone().into()),
        _ => None,
    }
}

fn is_text(literal: &Literal) -> bool {
    literal.language().is_some() || literal.datatype() == xsd::STRING
}

/// Joins VALUES of a variable that is bound in all solutions of a pattern, as deep inside the pattern as the result
/// stays the same.
fn join(pattern: &mut QueryPattern, values: QueryPattern) {
    let QueryPattern::Values { variables, .. } = &values else { return };
    let has = |pattern: &QueryPattern| variables.iter().all(|variable| bound(pattern).1.has(variable));
    match pattern {
        QueryPattern::LeftJoin { left: inner, .. }
        | QueryPattern::Minus { left: inner, .. }
        | QueryPattern::Filter { inner, .. }
        | QueryPattern::Extend { inner, .. }
            if has(inner) =>
        {
            join(inner, values);
        }
        _ => *pattern = QueryPattern::join(std::mem::take(pattern), values),
    }
}
