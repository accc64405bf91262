//! `now-dependent`: NOW().

use terrapin_sparql::syntax::algebra::Function;

use super::{SparqlFindings, SparqlLint, SparqlRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "now-dependent",
        severity: LintSeverity::Note,
        summary: "The query has NOW(): its answer depends on the day.",
    },
    check,
};

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    let mut found = false;
    lint.on_calls(&mut |function| found |= matches!(function, Function::Now));
    if found {
        findings.add(lint.place("NOW"), "the answer depends on the time of the data".to_owned());
    }
}
