//! Runs the query statement: `node[...](...)->.set`.

use std::sync::Arc;

use super::select::select;
use super::{RunContext, areas, filters};
use crate::plan::SearchRegion;
use crate::set::ElementSet;
use crate::syntax::{FilterKind, FromSet, Query, QueryType, Tag};
use crate::{OverpassCode, OverpassFailure, evaluators};
use terrapin_budget as budget;
use terrapin_osm::ElementType;

/// The maximum number of too broad queries to report.
const MOST_WEAK: usize = 500;

/// Runs the statement.
pub fn run(ctx: &mut RunContext, query: &Query, line: u32) -> Result<(), OverpassFailure> {
    let wanted: Vec<&FilterKind> = query.filters.iter().map(|f| &f.kind).filter(|f| !is_empty(f)).collect();
    let outer = ctx.script.settings.bbox.filter(|_| !stands_alone(query.what, &wanted));
    let mut regions = Vec::new();
    if let Some(bbox) = outer {
        regions.push(Arc::new(filters::in_box(&bbox)) as Arc<dyn SearchRegion>);
    }
    for filter in &wanted {
        if let Some(region) = filters::region(ctx, filter)? {
            regions.push(region);
        }
    }
    let mut set = ElementSet::default();
    match query.what {
        QueryType::Derived => set.derived = derived(ctx, &wanted),
        QueryType::Area => {
            let found = areas::select(ctx, &wanted, &regions, &mut set, line);
            unless_weak(ctx, found)?;
        }
        what => {
            for &kind in kinds(what) {
                let found = select(ctx, kind, &wanted, &regions, None, line);
                *set.part_mut(kind) = unless_weak(ctx, found)?;
                budget::ensure_memory(set.bytes());
            }
        }
    }
    for filter in &wanted {
        if let Some(expr) = filter.expression() {
            set = evaluators::filter(ctx.environment(), expr, &set)?;
        }
    }
    ctx.assign(&query.into, set);
    Ok(())
}

/// Returns the elements found. A query that is too broad is recorded and returns an empty result; like the reference,
/// the run continues.
fn unless_weak<T: Default>(ctx: &mut RunContext, found: Result<T, OverpassFailure>) -> Result<T, OverpassFailure> {
    match found {
        Err(failure)
            if failure.diagnostics.iter().all(|d| d.code == OverpassCode::TooWeak) && ctx.weak.len() < MOST_WEAK =>
        {
            ctx.weak.extend(failure.diagnostics);
            Ok(T::default())
        }
        found => found,
    }
}

/// Returns the derived elements of a query. They come from sets only.
fn derived(ctx: &RunContext, filters: &[&FilterKind]) -> Vec<Arc<crate::set::Derived>> {
    let mut sets: Vec<Arc<ElementSet>> = filters
        .iter()
        .filter_map(|f| match f {
            FilterKind::FromSet(FromSet { set }) => Some(ctx.set(set)),
            _ => None,
        })
        .collect();
    // If elements have the same id, those of the last set are the result.
    let Some(last) = sets.pop() else { return Vec::new() };
    let passes = |d: &Arc<crate::set::Derived>| {
        sets.iter().all(|s| s.derived.binary_search_by_key(&(d.id as u64), |o| o.id as u64).is_ok())
            && filters.iter().all(|f| filters::holds_for_derived(f, d))
    };
    last.derived.iter().filter(|d| passes(d)).cloned().collect()
}

/// Returns the element types that a query searches.
pub fn kinds(what: QueryType) -> &'static [ElementType] {
    use ElementType::{Node, Relation, Way};
    match what {
        QueryType::Node => &[Node],
        QueryType::Way => &[Way],
        QueryType::Relation => &[Relation],
        QueryType::Nwr => &[Node, Way, Relation],
        QueryType::Nw => &[Node, Way],
        QueryType::Nr => &[Node, Relation],
        QueryType::Wr => &[Way, Relation],
        QueryType::Area | QueryType::Derived => &[],
    }
}

/// Returns whether the filter is `[key=""]`. As in the reference, a query with it has an empty result.
pub fn is_empty(filter: &FilterKind) -> bool {
    matches!(filter, FilterKind::Tag(Tag::Equals { value, .. } | Tag::NotEquals { value, .. }) if value.is_empty())
}

/// Returns whether the global box does not apply. It does not if the reference's QL parser makes a query with a single
/// filter of some kinds a statement of its own.
fn stands_alone(what: QueryType, filters: &[&FilterKind]) -> bool {
    matches!(filters, [one] if one.stands_alone(what))
}
