//! The shape of a pattern, as far as the syntax depends on it.

use oxrdf::Variable;

use crate::algebra::QueryPattern;

/// Returns whether a pattern is a group under the assignments of a SELECT clause and the conditions of HAVING.
pub(super) fn has_group(mut pattern: &QueryPattern) -> bool {
    while let QueryPattern::Extend { inner, .. } = pattern {
        pattern = inner;
    }
    while let QueryPattern::Filter { inner, .. } = pattern {
        pattern = inner;
    }
    matches!(pattern, QueryPattern::Group { .. })
}

/// Returns whether a join contains an operator whose meaning depends on the patterns before it.
pub(super) fn has_binding(pattern: &QueryPattern) -> bool {
    match pattern {
        QueryPattern::Join { left, right } => has_binding(left) || has_binding(right),
        QueryPattern::Bgp { .. }
        | QueryPattern::Path { .. }
        | QueryPattern::Values { .. }
        | QueryPattern::Union { .. }
        | QueryPattern::Project { .. }
        | QueryPattern::Distinct { .. }
        | QueryPattern::Reduced { .. }
        | QueryPattern::Slice { .. }
        | QueryPattern::Include { .. }
        | QueryPattern::Graph { .. }
        | QueryPattern::Service { .. } => false,
        _ => true,
    }
}

/// Returns the variables that a query projects.
pub(super) fn projected(pattern: &QueryPattern) -> &[Variable] {
    match pattern {
        QueryPattern::Slice { inner, .. } | QueryPattern::Distinct { inner } | QueryPattern::Reduced { inner } => {
            projected(inner)
        }
        QueryPattern::Project { variables, .. } => variables,
        _ => &[],
    }
}
