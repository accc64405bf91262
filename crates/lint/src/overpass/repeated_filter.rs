//! `repeated-filter`: a filter occurs twice in a query.

use terrapin_overpass::syntax::Filter;

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "repeated-filter",
        severity: LintSeverity::Warning,
        summary: "A filter occurs twice in a query. The fix removes the second one.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    lint.on_queries(&mut |query, _| {
        for (at, filter) in query.filters.iter().enumerate() {
            let is_same = |other: &Filter| other.kind == filter.kind && filter.kind.expression().is_none();
            // Two shortcuts may stand for different places.
            let is_written = lint.written(filter.span).is_some();
            if is_written
                && query.filters.iter().take(at).any(|other| is_same(other) && lint.written(other.span).is_some())
            {
                let fix = lint.replace(filter, "");
                findings.add(filter.span, "the query already has this filter".to_owned()).fix = fix;
            }
        }
    });
}
