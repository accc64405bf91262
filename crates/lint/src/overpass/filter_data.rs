//! `no-such-key`, `no-such-value`, `no-such-id`, `no-such-area`: a filter that no element of the snapshot passes.

use std::collections::BTreeSet;

use terrapin_budget::{Budget, ExceededLimit};
use terrapin_osm::Osm;
use terrapin_overpass::lint::sets::SpannedWarning;
use terrapin_overpass::lint::{LintCode, filter_warning};
use terrapin_overpass::syntax::{Script, StatementKind, on_statements};
use terrapin_overpass::turbo::ExpandedQuery;

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
    findings.extend(lint.missing.iter().filter(|(_, warning)| warning.code == code.name()).cloned());
}

/// Returns the filters that no element of the data passes, each message once.
///
/// # Errors
/// Returns an error if a limit is reached.
pub fn missing(
    osm: &Osm,
    expanded: &ExpandedQuery,
    script: &Script,
    budget: &Budget,
) -> Result<Vec<SpannedWarning>, ExceededLimit> {
    let mut queries = Vec::new();
    on_statements(&script.statements, &mut |statement| {
        if let StatementKind::Query(query) = &statement.kind {
            queries.push(query);
        }
    });
    let mut missing = Vec::new();
    let mut seen = BTreeSet::new();
    for query in queries {
        for filter in &query.filters {
            // A stand-in has no meaning in the data.
            if expanded.is_replaced(&(filter.span.start..filter.span.end)) {
                continue;
            }
            if let Some(warning) = filter_warning(osm, query.what, filter, budget)?
                && seen.insert((warning.code, warning.message.clone()))
            {
                missing.push((filter.span, warning));
            }
        }
    }
    Ok(missing)
}
