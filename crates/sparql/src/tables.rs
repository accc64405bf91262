//! Tables are computed before the query. This module inserts them in the query's pattern.

use std::sync::Arc;

use super::row::Row;
use terrapin_sparql_syntax::algebra::QueryPattern;
use terrapin_sparql_syntax::walk::{NodeMut, on_patterns, on_patterns_below};

/// The rows of the tables, indexed by table number.
pub(super) type Tables = [Arc<Vec<Row>>];

/// Returns whether a pattern contains placeholders for tables.
pub(super) fn has_tables(pattern: &QueryPattern) -> bool {
    let mut any = false;
    on_patterns(pattern, &mut |pattern| any |= matches!(pattern, QueryPattern::Table { .. }));
    any
}

/// Returns a copy of a pattern with its tables filled in.
pub(super) fn fill_tables(pattern: &QueryPattern, tables: &Tables) -> QueryPattern {
    let mut pattern = pattern.clone();
    if !tables.is_empty() {
        fill_in(&mut pattern, tables);
    }
    pattern
}

fn fill_in(pattern: &mut QueryPattern, tables: &Tables) {
    if let QueryPattern::Table { number, variables } = pattern {
        if let Some(rows) = tables.get(*number) {
            *pattern = QueryPattern::Values { variables: std::mem::take(variables), rows: Arc::clone(rows) };
        }
        return;
    }
    on_patterns_below(NodeMut::Pattern(pattern), &mut |below| fill_in(below, tables));
}
