//! `limit-without-order`: LIMIT or OFFSET without ORDER BY.

use terrapin_sparql::syntax::algebra::QueryPattern;
use terrapin_sparql::syntax::walk;

use super::{SparqlFindings, SparqlLint, SparqlRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "limit-without-order",
        severity: LintSeverity::Note,
        summary: "LIMIT or OFFSET without ORDER BY: other engines may return other solutions.",
    },
    check,
};

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    let mut found = false;
    for pattern in lint.patterns() {
        walk::on_patterns(pattern, &mut |pattern| {
            if let QueryPattern::Slice { inner, length, .. } = pattern {
                found |= *length != Some(0) && !is_ordered(inner) && !is_single(inner);
            }
        });
    }
    if found {
        let has_limit = lint.place("LIMIT").len() == "LIMIT".len();
        let place = lint.place(if has_limit { "LIMIT" } else { "OFFSET" });
        findings.add(place, "which solutions are returned is not defined without ORDER BY".to_owned());
    }
}

fn is_ordered(pattern: &QueryPattern) -> bool {
    match pattern {
        QueryPattern::OrderBy { .. } => true,
        QueryPattern::Project { inner, .. }
        | QueryPattern::Distinct { inner }
        | QueryPattern::Reduced { inner }
        | QueryPattern::Extend { inner, .. } => is_ordered(inner),
        _ => false,
    }
}

/// Returns whether a pattern has one solution: an aggregate without GROUP BY.
fn is_single(pattern: &QueryPattern) -> bool {
    match pattern {
        QueryPattern::Group { variables, .. } => variables.is_empty(),
        QueryPattern::Project { inner, .. }
        | QueryPattern::Distinct { inner }
        | QueryPattern::Reduced { inner }
        | QueryPattern::Filter { inner, .. }
        | QueryPattern::Extend { inner, .. } => is_single(inner),
        _ => false,
    }
}
