//! Selects the elements of one type that pass the filters of a statement.

use std::sync::Arc;

use super::filters::known;
use super::{RunContext, date, moment};
use crate::plan::{MetaTest, SearchRegion, TypePlan};
use crate::syntax::{Changed, FilterKind, RecurseFilter, RecurseFilterKind, Tag, Timestamp, User, UserFilter};
use crate::{DiagnosticClass, OverpassCode, OverpassDiagnostic, OverpassFailure};
use terrapin_osm::{ElementType, Ordinal};

/// Returns the elements of one type that pass all filters except `if`. If `among` is given, only these are candidates.
pub fn select(
    ctx: &RunContext,
    kind: ElementType,
    filters: &[&FilterKind],
    regions: &[Arc<dyn SearchRegion>],
    among: Option<Vec<Ordinal>>,
    line: u32,
) -> Result<Vec<Ordinal>, OverpassFailure> {
    // The elements that areas are made from are visible at all dates.
    let (date, osm) = if among.is_some() { (None, ctx.current) } else { (date::test(ctx), ctx.osm) };
    let mut plan = TypePlan { known: among, regions: regions.to_vec(), ..TypePlan::default() };
    plan.meta.extend(date);
    for filter in filters {
        if let (FilterKind::RecurseFilter(RecurseFilter { kind: RecurseFilterKind::BnWr, set, .. }), 2..) =
            (filter, filters.len())
        {
            // Observed only: `wr(bn)` with other filters passes no element, or is ignored together with the filters for
            // ways.
            let enough = !regions.is_empty() || filters.iter().any(|f| !is_bn_wr(f) && is_enough(f));
            let forgets = kind == ElementType::Way && ctx.sets.contains_key(set) && !enough;
            return if forgets { Err(too_weak(line)) } else { Ok(Vec::new()) };
        }
        if let (FilterKind::Changed(Changed { since: Some(_), until: None }), Some(_)) = (filter, &ctx.diff) {
            // Observed only: the reference finds no elements, regardless of the moment.
            return Ok(Vec::new());
        }
        if let Some(known) = in_history(ctx, kind, filter) {
            plan.restrict_to(known);
        } else if let (FilterKind::Changed(Changed { since: None, .. }), Some(diff)) = (filter, &ctx.diff) {
            plan.meta.push(diff.changed());
        } else if let Some(test) = MetaTest::compile(osm, filter) {
            plan.meta.push(test);
        }
        if let Some(known) = known(ctx, kind, filter)? {
            plan.restrict_to(known);
        }
        if plan.never() {
            return Ok(Vec::new());
        }
    }
    plan.add_tags(osm, &ctx.tags, kind, filters);
    if plan.is_weak([osm, ctx.current], kind) {
        return Err(too_weak(line));
    }
    Ok(plan.select(osm, kind))
}

/// Returns the elements that pass a filter on changes, if the data has older versions. Returns `None` for other
/// filters.
fn in_history(ctx: &RunContext, kind: ElementType, filter: &FilterKind) -> Option<Vec<Ordinal>> {
    let history = ctx.history()?;
    match filter {
        FilterKind::Changed(Changed { since, until }) => {
            let now = ctx.date.unwrap_or(Timestamp::MAX);
            // As in the reference, `until` is no upper limit if it equals `since`.
            let (since, until) = match (since, until.filter(|until| Some(*until) != *since), &ctx.diff) {
                (Some(since), Some(until), _) => (*since, until),
                // The period between `since` and the current date, in either order.
                (Some(since), None, _) => (now.min(*since), now.max(*since)),
                (None, _, Some(diff)) => (diff.from, diff.to.unwrap_or(Timestamp::MAX)),
                // Without a moment, the filter finds changes since the date.
                (None, _, None) => (now, Timestamp::MAX),
            };
            Some(ctx.changed(history, kind, since, until))
        }
        FilterKind::User(User { who, touched: true }) => {
            let mut users: Vec<u32> = match who {
                UserFilter::Names(names) => names.iter().flat_map(|name| ctx.current.users_named(name)).collect(),
                UserFilter::Ids(ids) => ids.iter().flat_map(|&id| ctx.current.users_with_id(id)).collect(),
            };
            users.sort_unstable();
            let ids = history.touched(ctx.current, kind, &users);
            Some(moment::with_ids(ctx.osm, kind, &ids))
        }
        _ => None,
    }
}

/// Returns whether the filter is `wr(bn)`.
fn is_bn_wr(filter: &FilterKind) -> bool {
    matches!(filter, FilterKind::RecurseFilter(RecurseFilter { kind: RecurseFilterKind::BnWr, .. }))
}

/// Returns whether the reference accepts the filter as selective enough in a query in which filters by key alone do not
/// count.
fn is_enough(filter: &FilterKind) -> bool {
    match filter {
        FilterKind::Tag(tag) => matches!(tag, Tag::Equals { .. }),
        FilterKind::Newer(_) | FilterKind::Condition(_) => false,
        _ => true,
    }
}

fn too_weak(line: u32) -> OverpassFailure {
    let message = "Filters too weak in query statement: specify in addition a bbox, a tag filter, or similar.";
    let error = OverpassDiagnostic::new(DiagnosticClass::Runtime, OverpassCode::TooWeak, message);
    error.in_line(line).help("add a box, an area or a tag that must be there").into()
}
