//! `no-output`: the query outputs nothing.

use terrapin_overpass::lint::sets;

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "no-output",
        severity: LintSeverity::Warning,
        summary: "The query has no out statement, so that its answer is empty.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    findings.extend(sets::no_output(&lint.expanded.text, lint.script));
}
