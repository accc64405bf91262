//! Walking over the algebra's expressions.

use oxrdf::Variable;
use spargebra::algebra::{Expression, GraphPattern};

/// The expressions that an expression is made of; patterns in it have none.
pub fn children(expression: &Expression) -> Vec<&Expression> {
    match expression {
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_)
        | Expression::Exists(_) => Vec::new(),
        Expression::Or(a, b)
        | Expression::And(a, b)
        | Expression::Equal(a, b)
        | Expression::SameTerm(a, b)
        | Expression::Greater(a, b)
        | Expression::GreaterOrEqual(a, b)
        | Expression::Less(a, b)
        | Expression::LessOrEqual(a, b)
        | Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => vec![a, b],
        Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => vec![a],
        Expression::In(a, list) => std::iter::once(&**a).chain(list).collect(),
        Expression::If(a, b, c) => vec![a, b, c],
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.iter().collect(),
    }
}

/// How many expressions an expression is made of, itself included, those of patterns in it aside.
pub fn size(expression: &Expression) -> usize {
    1 + children(expression).into_iter().map(size).sum::<usize>()
}

/// Calls `each` for every variable of an expression, those of patterns in it aside.
pub fn on_variables(expression: &Expression, each: &mut dyn FnMut(&Variable)) {
    if let Expression::Variable(variable) | Expression::Bound(variable) = expression {
        each(variable);
    }
    children(expression).into_iter().for_each(|child| on_variables(child, each));
}

/// Whether there is an EXISTS in an expression.
pub fn has_exists(expression: &Expression) -> bool {
    matches!(expression, Expression::Exists(_)) || children(expression).into_iter().any(has_exists)
}

/// Replaces the patterns of the EXISTS in an expression.
pub fn map_exists(expression: Expression, map: &mut dyn FnMut(GraphPattern) -> GraphPattern) -> Expression {
    // Rebuilding the whole tree for the few expressions that have one inside.
    if !has_exists(&expression) {
        return expression;
    }
    let mut one = |e: Box<Expression>| Box::new(map_exists(*e, map));
    match expression {
        Expression::Exists(pattern) => Expression::Exists(Box::new(map(*pattern))),
        Expression::Or(a, b) => Expression::Or(one(a), one(b)),
        Expression::And(a, b) => Expression::And(one(a), one(b)),
        Expression::Equal(a, b) => Expression::Equal(one(a), one(b)),
        Expression::SameTerm(a, b) => Expression::SameTerm(one(a), one(b)),
        Expression::Greater(a, b) => Expression::Greater(one(a), one(b)),
        Expression::GreaterOrEqual(a, b) => Expression::GreaterOrEqual(one(a), one(b)),
        Expression::Less(a, b) => Expression::Less(one(a), one(b)),
        Expression::LessOrEqual(a, b) => Expression::LessOrEqual(one(a), one(b)),
        Expression::Add(a, b) => Expression::Add(one(a), one(b)),
        Expression::Subtract(a, b) => Expression::Subtract(one(a), one(b)),
        Expression::Multiply(a, b) => Expression::Multiply(one(a), one(b)),
        Expression::Divide(a, b) => Expression::Divide(one(a), one(b)),
        Expression::UnaryPlus(a) => Expression::UnaryPlus(one(a)),
        Expression::UnaryMinus(a) => Expression::UnaryMinus(one(a)),
        Expression::Not(a) => Expression::Not(one(a)),
        Expression::If(a, b, c) => Expression::If(one(a), one(b), one(c)),
        Expression::In(a, list) => Expression::In(one(a), list.into_iter().map(|e| map_exists(e, map)).collect()),
        Expression::Coalesce(list) => Expression::Coalesce(list.into_iter().map(|e| map_exists(e, map)).collect()),
        Expression::FunctionCall(name, list) => {
            Expression::FunctionCall(name, list.into_iter().map(|e| map_exists(e, map)).collect())
        }
        leaf => leaf,
    }
}
