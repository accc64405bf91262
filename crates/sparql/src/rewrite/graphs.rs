//! GRAPH with a variable. The solver binds the variable before the pattern within. That is correct if every solution
//! reads the graph and no expression within reads the variable. Otherwise, the pattern is solved for each graph in turn
//! (`each_graph.rs`), as the standard defines it (<https://www.w3.org/TR/sparql11-query/#defn_evalGraph>).

use oxrdf::Variable;

use terrapin_sparql_syntax::algebra::{Expression, QueryPattern};
use terrapin_sparql_syntax::walk::{on_exists, on_in_scope, on_patterns, on_variables};

/// Returns whether the solver's result for GRAPH with this variable is that of the standard.
pub(super) fn is_plain(inner: &QueryPattern, name: &Variable) -> bool {
    gets(inner, name) == Some(true)
}

/// Returns whether every solution binds the graph variable; `None` if a part would read it or may do so.
fn gets(pattern: &QueryPattern, name: &Variable) -> Option<bool> {
    match pattern {
        QueryPattern::Bgp { .. } | QueryPattern::Path { .. } => Some(true),
        QueryPattern::Values { .. }
        | QueryPattern::Table { .. }
        | QueryPattern::Include { .. }
        | QueryPattern::Graph { .. } => Some(false),
        QueryPattern::Join { left, right } => Some(gets(left, name)? | gets(right, name)?),
        QueryPattern::Union { left, right } => Some(gets(left, name)? & gets(right, name)?),
        QueryPattern::LeftJoin { left, right, condition } => {
            gets(right, name)?;
            let seen = condition.as_ref().is_some_and(|condition| sees(condition, name)) || has(right, name);
            gets(left, name).filter(|gets| *gets && !seen)
        }
        QueryPattern::Filter { inner, condition } => gets(inner, name).filter(|_| !sees(condition, name)),
        QueryPattern::Extend { inner, variable, expression } => {
            gets(inner, name).filter(|_| variable != name && !sees(expression, name))
        }
        QueryPattern::Relation { .. }
        | QueryPattern::Lateral { .. }
        | QueryPattern::LeftLateral { .. }
        | QueryPattern::Minus { .. }
        | QueryPattern::Service { .. }
        | QueryPattern::Group { .. }
        | QueryPattern::OrderBy { .. }
        | QueryPattern::Project { .. }
        | QueryPattern::Distinct { .. }
        | QueryPattern::Reduced { .. }
        | QueryPattern::Slice { .. } => None,
    }
}

/// Returns whether an expression reads the variable, or contains patterns that depend on the current graph.
fn sees(expression: &Expression, name: &Variable) -> bool {
    let mut sees = false;
    on_variables(expression, &mut |variable| sees |= variable == name);
    on_exists(expression, &mut |pattern| sees |= gets(pattern, name).is_none() || has(pattern, name));
    sees
}

/// Returns whether a variable occurs anywhere in a pattern.
fn has(pattern: &QueryPattern, name: &Variable) -> bool {
    let mut has = false;
    on_patterns(pattern, &mut |pattern| {
        on_in_scope(pattern, &mut |variable| has |= variable == name);
    });
    has
}
