//! `no-such-key`, `no-such-value`, `no-such-id`, `no-such-area`: a filter that no element of the snapshot passes.

use std::collections::BTreeSet;

use terrapin_overpass::lint::{LintCode, filter_warning};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const NO_SUCH_KEY: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "no-such-key",
        severity: LintSeverity::Warning,
        summary: "No element of the snapshot has the key of a filter.",
    },
    check: |lint, findings| check(lint, LintCode::NoSuchKey, findings),
};

pub const NO_SUCH_VALUE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "no-such-value",
        severity: LintSeverity::Warning,
        summary: "No element of the snapshot has the key of a filter with its value.",
    },
    check: |lint, findings| check(lint, LintCode::NoSuchValue, findings),
};

pub const NO_SUCH_ID: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "no-such-id",
        severity: LintSeverity::Warning,
        summary: "No element of the snapshot has the id of a filter.",
    },
    check: |lint, findings| check(lint, LintCode::NoSuchId, findings),
};

pub const NO_SUCH_AREA: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "no-such-area",
        severity: LintSeverity::Warning,
        summary: "The snapshot has no area with the id of a filter.",
    },
    check: |lint, findings| check(lint, LintCode::NoSuchArea, findings),
};

fn check(lint: &OverpassLint<'_>, code: LintCode, findings: &mut OverpassFindings<'_>) {
    let Some(osm) = lint.osm else { return };
    let mut seen = BTreeSet::new();
    lint.on_queries(&mut |query, _| {
        for filter in &query.filters {
            // A stand-in has no meaning in the data.
            let span = lint.span_of(filter);
            if lint.expanded.is_replaced(&(span.start..span.end)) {
                continue;
            }
            let Ok(Some(warning)) = filter_warning(osm, query.what, filter, lint.budget) else { continue };
            if warning.code == code.name() && seen.insert(warning.message.clone()) {
                findings.add(span, warning.message).nearest = warning.nearest;
            }
        }
    });
}
