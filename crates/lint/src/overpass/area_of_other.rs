//! `area-of-relations`: a filter takes areas from a set that has none.

use std::collections::BTreeMap;

use terrapin_overpass::syntax::{Area, FilterKind, QueryType, StatementKind, on_statements};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "area-of-relations",
        severity: LintSeverity::Warning,
        summary: "An area filter uses a set that only has nodes or relations; map_to_area converts relations.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    // Whether all statements that fill a set find nodes or relations only.
    let mut without: BTreeMap<&str, bool> = BTreeMap::new();
    on_statements(&lint.script.statements, &mut |statement| {
        let lacks = match &statement.kind {
            StatementKind::Query(query) => {
                matches!(query.what, QueryType::Node | QueryType::Relation | QueryType::Nr)
            }
            _ => false,
        };
        for set in statement.kind.result_set().into_iter() {
            let all = without.entry(set.as_str()).or_insert(true);
            *all &= lacks;
        }
    });
    lint.on_queries(&mut |query, _| {
        for filter in &query.filters {
            let FilterKind::Area(Area::Set(set)) = &filter.kind else { continue };
            // The default set changes with every statement.
            if set != "_" && without.get(set.as_str()).copied().unwrap_or(false) {
                let message = format!("the set .{set} has no areas: use `.{set} map_to_area->.{set};`, or area[...]");
                findings.add(filter.span, message);
            }
        }
    });
}
