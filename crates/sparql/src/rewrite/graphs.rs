//! GRAPH with a variable. The evaluator takes the variable for one of every pattern within: that is right where each of
//! these gets its value and nothing within asks for it. Elsewhere the pattern is solved in one graph after the other
//! (`each_graph.rs`), as the standard has it (<https://www.w3.org/TR/sparql11-query/#defn_evalGraph>).

use oxrdf::Variable;

use terrapin_sparql_syntax::algebra::{Expression, Pattern};
use terrapin_sparql_syntax::walk::{on_exists, on_in_scope, on_patterns, on_variables};

/// Whether the evaluator solves a pattern in the graphs of a name as the standard has it.
pub(super) fn is_plain(inner: &Pattern, name: &Variable) -> bool {
    gets(inner, name) == Some(true)
}

/// Whether every solution gets the name's value; nothing where something within would see it, or cannot tell.
fn gets(pattern: &Pattern, name: &Variable) -> Option<bool> {
    match pattern {
        Pattern::Bgp { .. } | Pattern::Path { .. } => Some(true),
        Pattern::Values { .. } | Pattern::Table { .. } | Pattern::Include { .. } | Pattern::Graph { .. } => Some(false),
        Pattern::Join { left, right } => Some(gets(left, name)? | gets(right, name)?),
        Pattern::Union { left, right } => Some(gets(left, name)? & gets(right, name)?),
        Pattern::LeftJoin { left, right, condition } => {
            gets(right, name)?;
            let seen = condition.as_ref().is_some_and(|condition| sees(condition, name)) || has(right, name);
            gets(left, name).filter(|gets| *gets && !seen)
        }
        Pattern::Filter { inner, condition } => gets(inner, name).filter(|_| !sees(condition, name)),
        Pattern::Extend { inner, variable, expression } => {
            gets(inner, name).filter(|_| variable != name && !sees(expression, name))
        }
        Pattern::Relation { .. }
        | Pattern::Lateral { .. }
        | Pattern::LeftLateral { .. }
        | Pattern::Minus { .. }
        | Pattern::Service { .. }
        | Pattern::Group { .. }
        | Pattern::OrderBy { .. }
        | Pattern::Project { .. }
        | Pattern::Distinct { .. }
        | Pattern::Reduced { .. }
        | Pattern::Slice { .. } => None,
    }
}

/// Whether an expression asks for a variable, or has patterns that would have to be told which graph they are asked of.
fn sees(expression: &Expression, name: &Variable) -> bool {
    let mut sees = false;
    on_variables(expression, &mut |variable| sees |= variable == name);
    on_exists(expression, &mut |pattern| sees |= gets(pattern, name).is_none() || has(pattern, name));
    sees
}

/// Whether a variable stands anywhere in a pattern.
fn has(pattern: &Pattern, name: &Variable) -> bool {
    let mut has = false;
    on_patterns(pattern, &mut |pattern| {
        on_in_scope(pattern, &mut |variable| has |= variable == name);
    });
    has
}
