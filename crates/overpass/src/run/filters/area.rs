//! Areas: `(area)`, `(poly)`, `(pivot)`.
//!
//! An area is one that the snapshot has made from a relation, or a closed way, which stands for itself.

use std::sync::Arc;

use super::to_coord;
use crate::Failure;
use crate::plan::{Region, ShapesRegion};
use crate::run::Context;
use crate::set::{AreaOrdinal, Set};
use crate::sorted;
use crate::syntax::Point;
use terrapin_osm::ElementType::{Node, Relation, Way};
use terrapin_osm::areas::{Shape, is_closed, shape_of_way};
use terrapin_osm::{Coord, ElementType, Ordinal};

/// `(poly:"...")`.
pub fn of_polygon(points: &[Point]) -> Arc<dyn Region> {
    let line: Vec<Coord> = points.iter().map(to_coord).collect();
    Arc::new(ShapesRegion::new(vec![Arc::new(Shape::from_closed_line(&line))]))
}

/// `(area.set)`: the areas of a set and its closed ways.
pub fn of_set(ctx: &Context, set: &Set) -> Result<Arc<dyn Region>, Failure> {
    let mut shapes: Vec<Arc<Shape>> = set.areas.iter().map(|&area| ctx.osm.areas().shape(ctx.osm, area)).collect();
    let size = ctx.osm.page_size(Way);
    for (page, range) in sorted::pages(&set.ways, size) {
        let page = ctx.osm.way_page(page);
        ctx.budget.work(range.len())?;
        for &way in set.ways.get(range).unwrap_or_default() {
            let slot = (way % size) as usize;
            if is_closed(page.nodes(slot)) {
                shapes.push(Arc::new(shape_of_way(page.coords(slot))));
            }
        }
        ctx.budget.memory(shapes.iter().map(|s| s.weight() as u64).sum())?;
    }
    Ok(Arc::new(ShapesRegion::new(shapes)))
}

/// `(area:id)`: an area made from a relation. The reference knows closed ways by no id here.
pub fn of_id(ctx: &Context, id: i64) -> Arc<dyn Region> {
    let shape = area_with_id(ctx, id).map(|area| ctx.osm.areas().shape(ctx.osm, area));
    Arc::new(ShapesRegion::new(shape.into_iter().collect()))
}

/// The area made from a relation that has this id.
pub fn area_with_id(ctx: &Context, id: i64) -> Option<AreaOrdinal> {
    ctx.osm.areas().find(ctx.osm, id)
}

/// `(pivot.set)`: the elements that the areas of a set are made from.
pub fn pivots(ctx: &Context, kind: ElementType, set: &Set) -> Vec<Ordinal> {
    match kind {
        Node => Vec::new(),
        Way => set.ways.clone(),
        Relation => relations_of(ctx, &set.areas),
    }
}

/// The relations that areas are made from.
pub fn relations_of(ctx: &Context, areas: &[AreaOrdinal]) -> Vec<Ordinal> {
    sorted::from_unsorted(areas.iter().filter_map(|&area| ctx.osm.areas().relation(area)).collect())
}

/// The areas of these relations.
pub fn areas_of(ctx: &Context, relations: &[Ordinal]) -> Vec<AreaOrdinal> {
    let mut areas: Vec<AreaOrdinal> = relations.iter().filter_map(|&r| ctx.osm.areas().of_relation(r)).collect();
    areas.sort_unstable();
    areas
}

/// The closed ones among ways.
pub fn closed(ctx: &Context, ways: &[Ordinal]) -> Result<Vec<Ordinal>, Failure> {
    let size = ctx.osm.page_size(Way);
    let mut out = Vec::new();
    for (page, range) in sorted::pages(ways, size) {
        let page = ctx.osm.way_page(page);
        ctx.budget.work(range.len())?;
        let ways = ways.get(range).unwrap_or_default().iter();
        out.extend(ways.filter(|&&way| is_closed(page.nodes((way % size) as usize))));
    }
    Ok(out)
}
