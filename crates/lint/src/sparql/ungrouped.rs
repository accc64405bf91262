//! `ungrouped-variable`: a projected variable is neither grouped nor aggregated.

use terrapin_sparql::Extension;

use super::{SparqlFindings, SparqlLint, SparqlRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "ungrouped-variable",
        severity: LintSeverity::Warning,
        summary: "A projected variable is neither in GROUP BY nor in an aggregate; other engines reject the query.",
    },
    check,
};

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    if lint.parsed.extensions.contains(&Extension::Ungrouped) {
        let message = "a projected variable is neither grouped nor in an aggregate: one of its values is taken";
        findings.add(lint.place("SELECT"), message.to_owned());
    }
}
