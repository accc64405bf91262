//! Tables, which are solved before the query, in the places of its pattern that wait for them.

use oxrdf::{Term, Variable};
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};
use spargebra::term::{GroundTerm, NamedNodePattern};

use super::guard::BLANK;
use super::row::Row;
use terrapin_sparql_syntax::depth::on_patterns;
use terrapin_sparql_syntax::vocabulary::TABLE;
use terrapin_sparql_syntax::walk::{has_exists, map_exists};

/// A table as a pattern.
pub(super) fn values(variables: &[Variable], rows: &[Row]) -> GraphPattern {
    let ground = |term: &Term| match term {
        Term::NamedNode(node) => GroundTerm::NamedNode(node.clone()),
        Term::Literal(literal) => GroundTerm::Literal(literal.clone()),
        Term::BlankNode(node) => {
            GroundTerm::NamedNode(oxrdf::NamedNode::new_unchecked(format!("{BLANK}{}", node.as_str())))
        }
    };
    let row = |row: &Row| row.iter().map(|value| value.as_ref().map(ground)).collect();
    GraphPattern::Values { variables: variables.to_vec(), bindings: rows.iter().map(row).collect() }
}

/// The number of the table that a pattern waits for.
fn number(pattern: &GraphPattern) -> Option<usize> {
    match pattern {
        GraphPattern::Service { name: NamedNodePattern::NamedNode(name), .. } => {
            name.as_str().strip_prefix(TABLE)?.parse().ok()
        }
        _ => None,
    }
}

/// Whether a pattern waits for tables.
pub(super) fn has_tables(pattern: &GraphPattern) -> bool {
    let mut any = false;
    on_patterns(pattern, &mut |pattern| any |= number(pattern).is_some());
    any
}

/// A copy of a pattern with its tables filled in.
pub(super) fn fill_tables(pattern: &GraphPattern, tables: &[(Vec<Variable>, Vec<Row>)]) -> GraphPattern {
    let mut pattern = pattern.clone();
    if !tables.is_empty() {
        fill_in(&mut pattern, tables);
    }
    pattern
}

fn fill_in(pattern: &mut GraphPattern, tables: &[(Vec<Variable>, Vec<Row>)]) {
    match pattern {
        GraphPattern::Service { .. } => {
            if let Some((variables, rows)) = number(pattern).and_then(|n| tables.get(n)) {
                *pattern = values(variables, rows);
            }
        }
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {}
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            fill_in(left, tables);
            fill_in(right, tables);
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            fill_in(left, tables);
            fill_in(right, tables);
            if let Some(expression) = expression {
                fill_expression(expression, tables);
            }
        }
        GraphPattern::Filter { expr, inner } => {
            fill_expression(expr, tables);
            fill_in(inner, tables);
        }
        GraphPattern::Extend { inner, expression, .. } => {
            fill_expression(expression, tables);
            fill_in(inner, tables);
        }
        GraphPattern::OrderBy { inner, expression } => {
            for order in expression {
                let (OrderExpression::Asc(expression) | OrderExpression::Desc(expression)) = order;
                fill_expression(expression, tables);
            }
            fill_in(inner, tables);
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    fill_expression(expr, tables);
                }
            }
            fill_in(inner, tables);
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => fill_in(inner, tables),
    }
}

fn fill_expression(expression: &mut Expression, tables: &[(Vec<Variable>, Vec<Row>)]) {
    if has_exists(expression) {
        let old = std::mem::replace(expression, Expression::Coalesce(Vec::new()));
        *expression = map_exists(old, &mut |mut pattern| {
            fill_in(&mut pattern, tables);
            pattern
        });
    }
}
