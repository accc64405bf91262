//! The filters of query statements that are not plain tests: what they need is in the sets of the running query.

pub mod area;
mod around;
pub mod recurse;

use std::sync::Arc;

use super::Context;
use crate::Failure;
use crate::plan::{BoxRegion, Region};
use crate::set::Derived;
use crate::syntax::{self, FilterKind, Point};
use terrapin_osm::{BoundingBox, Coord};

/// A box of the query text as a box of the data.
pub fn to_osm(b: &syntax::BoundingBox) -> BoundingBox {
    BoundingBox { south: b.south, west: b.west, north: b.north, east: b.east }
}

/// What is in a box of the query text.
pub fn in_box(b: &syntax::BoundingBox) -> BoxRegion {
    BoxRegion::new(to_osm(b), b.degrees)
}

/// A point of the query text as a position in the data.
pub fn to_coord(p: &Point) -> Coord {
    Coord { lat: p.lat, lon: p.lon }
}

/// The region of a filter that asks for a place; `None` for other filters.
pub fn region(ctx: &Context, filter: &FilterKind) -> Result<Option<Arc<dyn Region>>, Failure> {
    Ok(Some(match filter {
        FilterKind::Bbox(bbox) => Arc::new(in_box(bbox)),
        FilterKind::AroundSet { set, radius } => around::of_set(ctx, &ctx.set(set), *radius)?,
        FilterKind::AroundPoints { radius, points } => around::of_points(points, *radius),
        FilterKind::Poly(points) => area::of_polygon(points),
        FilterKind::AreaSet(name) => area::of_set(ctx, &ctx.set(name))?,
        FilterKind::AreaId(id) => area::of_id(ctx, *id),
        _ => return Ok(None),
    }))
}

/// Whether a derived element passes a filter; filters that ask for what derived elements do not have let none pass.
pub fn holds_for_derived(filter: &FilterKind, derived: &Derived) -> bool {
    let value = |key: &str| derived.tags.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
    let regex = |r: &syntax::Regex| crate::plan::compile(r);
    match filter {
        FilterKind::HasKey { key } => value(key).is_some(),
        FilterKind::NotKey { key } => value(key).is_none(),
        FilterKind::Equals { key, value: wanted } => value(key) == Some(wanted),
        FilterKind::NotEquals { key, value: other } => value(key) != Some(other),
        FilterKind::Matches { key, value: pattern } => {
            value(key).is_some_and(|v| regex(pattern).is_some_and(|r| r.is_match(v)))
        }
        FilterKind::NotMatches { key, value: pattern } => {
            !value(key).is_some_and(|v| regex(pattern).is_some_and(|r| r.is_match(v)))
        }
        FilterKind::KeyMatches { key, value: pattern } | FilterKind::KeyNotMatches { key, value: pattern } => {
            let (Some(keys), Some(values)) = (regex(key), regex(pattern)) else { return false };
            let any = derived.tags.iter().any(|(k, v)| keys.is_match(k) && values.is_match(v));
            any == matches!(filter, FilterKind::KeyMatches { .. })
        }
        FilterKind::Ids(ids) => ids.contains(&derived.id),
        FilterKind::Set(_) | FilterKind::If(_) => true,
        _ => false,
    }
}
