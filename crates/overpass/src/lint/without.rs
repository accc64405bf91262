//! Finds the filter that makes a query's result empty: without it, the query finds elements.

use terrapin_budget::{Budget, ExceededLimit};
use terrapin_diagnostic::QueryWarning;
use terrapin_osm::Osm;

use super::PROBED;
use super::code::{LintCode, warning};
use super::probe::{excerpt, found_by, stands_alone};
use crate::Limits;
use crate::syntax::{FilterKind, Query, QueryType, Script, Statement, StatementKind, Tag, on_statements};

/// The maximum number of filters of a query to try.
const FILTERS: usize = 6;

/// Finds the first query with an empty result that finds elements if one of its filters is removed. Returns its
/// position in the text, and a warning with the number of elements found without each such filter. Queries in loops are
/// not tried.
///
/// # Errors
/// Returns an error if a limit is reached.
pub fn tried(
    osm: &Osm,
    text: &str,
    script: &Script,
    limits: &Limits,
    budget: &Budget,
) -> Result<Option<(usize, QueryWarning)>, ExceededLimit> {
    let mut before = Vec::new();
    let mut tried = 0;
    for statement in &script.statements {
        for (statement, query) in queries(statement) {
            tried += 1;
            if tried > PROBED {
                return Ok(None);
            }
            budget.check()?;
            if found_by(osm, &script.settings, &before, query.clone(), Some(1), limits) != Some(0) {
                continue;
            }
            let mut without = Vec::new();
            for (place, filter) in query.filters.iter().enumerate().take(FILTERS) {
                let mut less = query.clone();
                less.filters.remove(place);
                // Finding all elements of an area takes long, and their number is no help.
                if !less.filters.iter().any(|filter| is_narrow(&filter.kind)) {
                    continue;
                }
                budget.check()?;
                let own = text.get(filter.span.start..filter.span.end).unwrap_or_default();
                if let Some(count) =
                    found_by(osm, &script.settings, &before, less, None, limits).filter(|count| *count > 0)
                {
                    without.push(format!("{count} without {own}"));
                }
            }
            if !without.is_empty() {
                let alone = if stands_alone(query) { "alone, " } else { "" };
                let said =
                    format!("{alone}{} finds nothing; it finds {}", excerpt(text, statement), without.join(", "));
                return Ok(Some((statement.span.start, warning(LintCode::FindsNothing, said, Vec::new()))));
            }
        }
        if !matches!(statement.kind, StatementKind::Out(_)) {
            before.push(statement.clone());
        }
        // The output of a loop would be counted as the result of a query.
        let mut writes = false;
        on_statements(&before, &mut |statement| writes |= matches!(statement.kind, StatementKind::Out(_)));
        if writes {
            return Ok(None);
        }
    }
    Ok(None)
}

/// Returns the statement itself if it is a query, or the queries of a union.
fn queries(statement: &Statement) -> Vec<(&Statement, &Query)> {
    match &statement.kind {
        StatementKind::Query(query) if query.what != QueryType::Area && query.what != QueryType::Derived => {
            vec![(statement, query)]
        }
        StatementKind::Union(union) => union.members.iter().flat_map(queries).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a filter has an index of its own: posting lists or ids.
pub(super) fn is_narrow(filter: &FilterKind) -> bool {
    matches!(
        filter,
        FilterKind::Tag(Tag::HasKey { .. } | Tag::Equals { .. } | Tag::Matches { .. }) | FilterKind::Ids(_)
    )
}
