//! The filters of query statements that depend on the sets of the running query.

pub mod area;
mod around;
mod ids;
mod positions;
mod recurse;

pub use positions::{in_box, to_coord, to_osm};

use std::sync::Arc;

use super::RunContext;
use crate::OverpassFailure;
use crate::plan::SearchRegion;
use crate::set::Derived;
use crate::syntax::{Area, Around, AroundPlace, FilterKind, Ids, Regex, Tag};
use terrapin_osm::{ElementType, Ordinal};

/// Returns the region of a filter on location; `None` for other filters.
pub fn region(ctx: &RunContext, filter: &FilterKind) -> Result<Option<Arc<dyn SearchRegion>>, OverpassFailure> {
    Ok(Some(match filter {
        FilterKind::Bbox(bbox) => Arc::new(in_box(&bbox.bounds)),
        FilterKind::Around(Around { radius, place }) => match place {
            AroundPlace::Set(set) => around::of_set(ctx, &ctx.set(set), *radius),
            AroundPlace::Points(points) => around::of_points(points, *radius),
        },
        FilterKind::Poly(poly) => area::of_polygon(&poly.points),
        FilterKind::Area(Area::Set(set)) => area::of_set(ctx, &ctx.set(set)),
        FilterKind::Area(Area::Id(id)) => area::of_id(ctx, *id),
        _ => return Ok(None),
    }))
}

/// Returns the elements of one type that a filter names directly; `None` for other filters.
pub fn known(
    ctx: &RunContext,
    kind: ElementType,
    filter: &FilterKind,
) -> Result<Option<Vec<Ordinal>>, OverpassFailure> {
    Ok(Some(match filter {
        FilterKind::Ids(filter) => ids::elements(ctx, kind, filter),
        FilterKind::FromSet(filter) => ctx.set(&filter.set).part(kind).to_vec(),
        FilterKind::RecurseFilter(filter) => recurse::elements(ctx, kind, filter),
        FilterKind::RecurseAll(filter) => super::recurse::as_filter(ctx, filter, kind),
        FilterKind::WayCount(filter) => recurse::counted(ctx, kind, filter),
        FilterKind::Pivot(filter) => area::pivots(ctx, kind, &ctx.set(&filter.set)),
        _ => return Ok(None),
    }))
}

/// Returns whether a derived element passes a filter. Filters on properties that derived elements lack let none pass.
pub fn holds_for_derived(filter: &FilterKind, derived: &Derived) -> bool {
    match filter {
        FilterKind::Tag(tag) => tag_holds(tag, derived),
        FilterKind::Ids(Ids::List(ids)) => ids.contains(&derived.id),
        FilterKind::FromSet(_) | FilterKind::Condition(_) => true,
        _ => false,
    }
}

fn tag_holds(tag: &Tag, derived: &Derived) -> bool {
    let value = |key: &str| derived.tags.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
    let regex = |r: &Regex| crate::plan::compile(r);
    match tag {
        Tag::HasKey { key } => value(key).is_some(),
        Tag::NotKey { key } => value(key).is_none(),
        Tag::Equals { key, value: wanted } => value(key) == Some(wanted),
        Tag::NotEquals { key, value: other } => value(key) != Some(other),
        Tag::Matches { key, value: pattern } => {
            value(key).is_some_and(|v| regex(pattern).is_some_and(|r| r.is_match(v)))
        }
        Tag::NotMatches { key, value: pattern } => {
            !value(key).is_some_and(|v| regex(pattern).is_some_and(|r| r.is_match(v)))
        }
        Tag::KeyMatches { key, value: pattern } | Tag::KeyNotMatches { key, value: pattern } => {
            let (Some(keys), Some(values)) = (regex(key), regex(pattern)) else { return false };
            let any = derived.tags.iter().any(|(k, v)| keys.is_match(k) && values.is_match(v));
            any == matches!(tag, Tag::KeyMatches { .. })
        }
    }
}
