//! `unused-set`: a named set is filled and never read.

use terrapin_overpass::lint::sets;

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "unused-set",
        severity: LintSeverity::Warning,
        summary: "A named set is filled and never used or output.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    findings.extend(sets::unused(lint.script));
}
