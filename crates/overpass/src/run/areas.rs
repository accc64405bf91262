//! The query statement for areas: `area[...](...)`.

use std::sync::Arc;

use super::Context;
use super::filters::area::{area_with_id, areas_of, closed, relations_of};
use super::select;
use crate::Failure;
use crate::plan::Region;
use crate::set::{AreaOrdinal, Set};
use crate::syntax::{FilterKind, FromSet, Ids, Tag};
use terrapin_osm::ElementType::{Relation, Way};

/// `area[...](...)`: areas made from relations, by the relations' tags, and closed ways. As in the reference, filters on
/// places do not hold areas made from relations back, and those on metadata and by recursion let none pass.
pub fn select(
    ctx: &Context,
    filters: &[&FilterKind],
    regions: &[Arc<dyn Region>],
    set: &mut Set,
    line: u32,
) -> Result<(), Failure> {
    let mut areas: Vec<AreaOrdinal> = (0..ctx.osm.areas().count()).collect();
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
    let relations = relations_of(ctx, &areas);
    let relations = select::select(ctx, Relation, &rest, &[], Some(relations), line)?;
    set.areas = areas_of(ctx, &relations);
    let ways = select::select(ctx, Way, filters, regions, None, line)?;
    set.ways = closed(ctx, &ways)?;
    if recurses(filters) {
        // As in the reference, the relations that a recursion finds come themselves.
        set.relations = select::select(ctx, Relation, filters, regions, None, line)?;
    }
    Ok(())
}

/// Whether there is a recursion, and no filter for whose sake the reference does without the relations that it finds.
fn recurses(filters: &[&FilterKind]) -> bool {
    let stops = |f: &&FilterKind| matches!(f, FilterKind::Tag(Tag::Equals { .. }) | FilterKind::FromSet(_));
    filters.iter().any(|f| matches!(f, FilterKind::RecurseAll(_))) && !filters.iter().any(stops)
}
