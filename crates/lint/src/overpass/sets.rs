//! The sets that statements read and write.

use std::collections::BTreeSet;

use terrapin_overpass::syntax::{EvaluatorExpression, ExprKind, Statement, StatementKind};

/// Returns the sets that a statement reads itself: as input, in filters and in expressions.
pub fn read(statement: &Statement) -> BTreeSet<&str> {
    let mut sets: BTreeSet<&str> = statement.kind.input_set().into_iter().map(String::as_str).collect();
    if let StatementKind::Query(query) = &statement.kind {
        sets.extend(query.filters.iter().filter_map(|filter| filter.kind.set()).map(String::as_str));
    }
    for expression in statement.kind.expressions() {
        in_expression(expression, &mut sets);
    }
    sets
}

/// Returns the sets that a statement or its blocks read.
pub fn read_within(statement: &Statement) -> BTreeSet<&str> {
    let mut sets = read(statement);
    for inner in statement.kind.blocks().into_iter().flatten() {
        sets.append(&mut read_within(inner));
    }
    sets
}

/// Returns the sets that a statement or its blocks write.
pub fn written_within(statement: &Statement) -> BTreeSet<&str> {
    let mut sets: BTreeSet<&str> = statement.kind.result_set().into_iter().map(String::as_str).collect();
    for inner in statement.kind.blocks().into_iter().flatten() {
        sets.append(&mut written_within(inner));
    }
    sets
}

fn in_expression<'a>(expression: &'a EvaluatorExpression, sets: &mut BTreeSet<&'a str>) {
    match &expression.kind {
        ExprKind::SetKey { set, .. } => {
            sets.insert(set);
        }
        ExprKind::Call { set, args, .. } => {
            sets.extend(set.as_deref());
            // Aggregates without a set read the default set.
            if set.is_none() {
                sets.insert("_");
            }
            args.iter().for_each(|argument| in_expression(argument, sets));
        }
        ExprKind::Tag(inner) | ExprKind::Unary { operand: inner, .. } => in_expression(inner, sets),
        ExprKind::Binary { left, right, .. } => {
            in_expression(left, sets);
            in_expression(right, sets);
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            in_expression(condition, sets);
            in_expression(then, sets);
            in_expression(otherwise, sets);
        }
        ExprKind::Fixed(_) | ExprKind::GenericTag => {}
    }
}

/// Returns whether a statement or one in its blocks outputs something.
pub fn outputs(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Out(_) | StatementKind::Local(_))
        || statement.kind.blocks().into_iter().flatten().any(outputs)
}
