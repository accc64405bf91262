//! `unfilled-set`: a named set is read and never filled.

use terrapin_overpass::lint::sets;

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "unfilled-set",
        severity: LintSeverity::Warning,
        summary: "A named set is used and never filled, so that it is empty.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    findings.extend(sets::unfilled(lint.script));
}
