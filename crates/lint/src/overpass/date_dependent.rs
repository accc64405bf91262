//! `date-dependent`: the answer depends on the day.

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "date-dependent",
        severity: LintSeverity::Note,
        summary: "The query has a date relative to now, or {{date}}.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    super::place_dependent::on_shortcuts(lint.text, &mut |range, inner| {
        let (name, argument) = inner.split_once(':').unwrap_or((inner, ""));
        // A fixed moment ends with a Z.
        if name.trim() == "date" && !argument.trim().ends_with('Z') {
            findings.add_at(range, "the answer depends on the time of the data".to_owned());
        }
    });
}
