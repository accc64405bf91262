//! Runs the query statement for areas: `area[...](...)`.

use std::sync::Arc;

use super::RunContext;
use super::filters::area::{area_with_id, areas_of, closed, relations_of};
use super::select;
use crate::plan::SearchRegion;
use crate::set::{AreaOrdinal, ElementSet};
use crate::syntax::{FilterKind, FromSet, Ids, Tag};
use crate::{OverpassFailure, quadtile};
use terrapin_osm::BoundingBox;
use terrapin_osm::ElementType::{Relation, Way};

/// The size from which the reference does not search elements by location, in square degrees.
const LARGE: f64 = 1.0;

/// Runs `area[...](...)`. It finds areas made from relations, by the relations' tags, and closed ways. As in the
/// reference, filters on location have no effect on areas made from relations, and filters on metadata and by recursion
/// let none of these areas pass.
pub fn select(
    ctx: &RunContext,
    filters: &[&FilterKind],
    regions: &[Arc<dyn SearchRegion>],
    set: &mut ElementSet,
    line: u32,
) -> Result<(), OverpassFailure> {
    let mut areas: Vec<AreaOrdinal> = (0..ctx.current.areas().count()).collect();
    let mut rest: Vec<&FilterKind> = Vec::new();
    for &filter in filters {
        match filter {
            FilterKind::Ids(Ids::List(ids)) => {
                let wanted: Vec<AreaOrdinal> = ids.iter().filter_map(|&id| area_with_id(ctx, id)).collect();
                areas.retain(|area| wanted.contains(area));
            }
            FilterKind::FromSet(FromSet { set }) => {
                let other = ctx.set(set);
                areas.retain(|area| other.areas.binary_search(area).is_ok());
            }
            filter if !filter.can_find_areas() => areas.clear(),
            filter => rest.push(filter),
        }
    }
    let pass = |areas: &[AreaOrdinal], filters: &[&FilterKind]| -> Result<Vec<AreaOrdinal>, OverpassFailure> {
        let relations = relations_of(ctx, areas);
        Ok(areas_of(ctx, &select::select(ctx, Relation, filters, &[], Some(relations), line)?))
    };
    let unread = if overlooks_tags(filters, regions) { quadtile::shadowed_areas(ctx.osm) } else { Vec::new() };
    let (unread, read): (Vec<_>, Vec<_>) = areas.into_iter().partition(|area| unread.contains(area));
    set.areas = pass(&read, &rest)?;
    if !unread.is_empty() {
        rest.retain(|filter| !excludes(filter));
        set.areas.extend(pass(&unread, &rest)?);
        set.areas.sort_unstable();
    }
    let ways = select::select(ctx, Way, filters, regions, None, line)?;
    set.ways = closed(ctx, &ways);
    if recurses(filters) {
        // As in the reference, the result contains the relations found by a recursion themselves.
        set.relations = select::select(ctx, Relation, filters, regions, None, line)?;
    }
    Ok(())
}

/// Returns whether there is a recursion, and no filter because of which the reference omits the relations that it
/// finds.
fn recurses(filters: &[&FilterKind]) -> bool {
    let stops = |f: &&FilterKind| matches!(f, FilterKind::Tag(Tag::Equals { .. }) | FilterKind::FromSet(_));
    filters.iter().any(|f| matches!(f, FilterKind::RecurseAll(_))) && !filters.iter().any(stops)
}

/// Returns whether the reference reads the tags of areas by location, which misses some. It does if a filter excludes
/// tags, no filter requires an exact value, and there is an id, a set or a small region.
fn overlooks_tags(filters: &[&FilterKind], regions: &[Arc<dyn SearchRegion>]) -> bool {
    let listed = |f: &&FilterKind| matches!(f, FilterKind::Ids(_) | FilterKind::FromSet(_));
    let exact = |f: &&FilterKind| matches!(f, FilterKind::Tag(Tag::Equals { .. }));
    let small = |region: &Arc<dyn SearchRegion>| region.cover().iter().map(square_degrees).sum::<f64>() < LARGE;
    filters.iter().any(|f| excludes(f))
        && !filters.iter().any(exact)
        && (filters.iter().any(listed) || regions.iter().any(small))
}

/// Returns whether a filter lets elements pass that lack a key.
fn excludes(filter: &FilterKind) -> bool {
    matches!(filter, FilterKind::Tag(Tag::NotKey { .. } | Tag::NotEquals { .. } | Tag::NotMatches { .. }))
}

fn square_degrees(of: &BoundingBox) -> f64 {
    (f64::from(of.north) - f64::from(of.south)) * (f64::from(of.east) - f64::from(of.west)) / 1e14
}
