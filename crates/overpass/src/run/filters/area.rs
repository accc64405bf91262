//! The filters `(area)`, `(poly)` and `(pivot)`.
//!
//! An area is made by the snapshot from a relation, or it is a closed way itself.

use std::sync::Arc;

use super::positions::to_coord;
use crate::plan::{Placement, SearchRegion, ShapesRegion};
use crate::quadtile;
use crate::run::RunContext;
use crate::set::{AreaOrdinal, ElementSet};
use crate::sorted;
use crate::syntax::QlPoint;
use terrapin_budget as budget;
use terrapin_osm::ElementType::{Node, Relation, Way};
use terrapin_osm::areas::{AreaShape, is_closed, shape_of_way};
use terrapin_osm::geometry::BoxRelation;
use terrapin_osm::history::changed_since;
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal};

/// Returns the region of `(poly:"...")`.
pub fn of_polygon(points: &[QlPoint]) -> Arc<dyn SearchRegion> {
    let line: Vec<Coord> = points.iter().map(to_coord).collect();
    Arc::new(ShapesRegion::new(vec![Arc::new(AreaShape::from_closed_line(&line))]))
}

/// Returns the region of `(area.set)`: the areas of a set and its closed ways.
pub fn of_set(ctx: &RunContext, set: &ElementSet) -> Arc<dyn SearchRegion> {
    let mut shapes: Vec<Arc<AreaShape>> =
        set.areas.iter().map(|&area| ctx.current.areas().shape(ctx.current, area)).collect();
    add_closed(ctx, &set.ways, &mut shapes);
    Arc::new(ShapesRegion::new(shapes))
}

/// Adds the shapes of the closed ways.
fn add_closed(ctx: &RunContext, ways: &[Ordinal], shapes: &mut Vec<Arc<AreaShape>>) {
    let size = ctx.osm.page_size(Way);
    for (page, range) in sorted::pages(ways, size) {
        let page = ctx.osm.way_page(page);
        budget::work(range.len());
        for &way in ways.get(range).unwrap_or_default() {
            let slot = (way % size) as usize;
            if is_closed(page.nodes(slot)) && quadtile::has_place(page.coords(slot)) {
                shapes.push(Arc::new(shape_of_way(page.coords(slot))));
            }
        }
        budget::ensure_memory(shapes.iter().map(|s| s.weight() as u64).sum());
    }
}

/// Returns the region of `(area:id)`: an area made from a relation. In the reference, no id refers to a closed way
/// here, but the closed ways of `_` are also used as areas, within the blocks of tiles that it searches.
pub fn of_id(ctx: &RunContext, id: i64) -> Arc<dyn SearchRegion> {
    let Some(area) = area_with_id(ctx, id) else { return Arc::new(ShapesRegion::new(Vec::new())) };
    let area = ctx.current.areas().shape(ctx.current, area);
    let mut shapes = Vec::new();
    add_closed(ctx, &ctx.set("_").ways, &mut shapes);
    let alone = ShapesRegion::new(vec![area.clone()]);
    if shapes.is_empty() {
        return Arc::new(alone);
    }
    shapes.push(area.clone());
    Arc::new(AreaAndWays { area, alone, all: ShapesRegion::new(shapes) })
}

/// The union of an area and closed ways, of which only the part in the area's blocks of tiles counts.
struct AreaAndWays {
    area: Arc<AreaShape>,
    alone: ShapesRegion,
    all: ShapesRegion,
}

impl AreaAndWays {
    fn has_block(&self, block: &BoundingBox) -> bool {
        self.area.relate(block) != BoxRelation::Outside
    }
}

impl SearchRegion for AreaAndWays {
    fn cover(&self) -> &[BoundingBox] {
        self.all.cover()
    }

    fn placement(&self, of: &BoundingBox) -> Placement {
        match (self.alone.placement(of), self.all.placement(of)) {
            (Placement::Inside, _) => Placement::Inside,
            (_, Placement::Outside) => Placement::Outside,
            _ => Placement::Unsure,
        }
    }

    fn has_node(&self, at: Coord) -> bool {
        self.all.has_node(at) && self.has_block(&quadtile::node_block(at))
    }

    fn is_by_blocks(&self) -> bool {
        true
    }

    fn has_border(&self) -> bool {
        true
    }

    fn counts_for_relations(&self, at: Coord) -> bool {
        self.all.counts_for_relations(at)
    }

    fn has_way(&self, coords: &[Coord]) -> bool {
        self.all.has_way(coords) && quadtile::in_blocks(coords, |block| self.has_block(block))
    }
}

/// Returns the area with this id that is made from a relation.
pub fn area_with_id(ctx: &RunContext, id: i64) -> Option<AreaOrdinal> {
    ctx.current.areas().find(ctx.current, id)
}

/// Returns the elements of `(pivot.set)`: those that the areas of a set are made from.
pub fn pivots(ctx: &RunContext, kind: ElementType, set: &ElementSet) -> Vec<Ordinal> {
    match kind {
        Node => Vec::new(),
        // At a date, as in the reference, ways that have changed since, or whose nodes have moved, are left out.
        Way => sorted::difference(&set.ways, changed_since(ctx.osm, Way)),
        Relation => ctx.as_seen(relations_of(ctx, &set.areas)),
    }
}

/// Returns the current relations that areas are made from.
pub fn relations_of(ctx: &RunContext, areas: &[AreaOrdinal]) -> Vec<Ordinal> {
    sorted::from_unsorted(areas.iter().filter_map(|&area| ctx.current.areas().relation(area)).collect())
}

/// Returns the current areas of these relations.
pub fn areas_of(ctx: &RunContext, relations: &[Ordinal]) -> Vec<AreaOrdinal> {
    let mut areas: Vec<AreaOrdinal> = relations.iter().filter_map(|&r| ctx.current.areas().of_relation(r)).collect();
    areas.sort_unstable();
    areas
}

/// Returns the closed ways of a list.
pub fn closed(ctx: &RunContext, ways: &[Ordinal]) -> Vec<Ordinal> {
    let size = ctx.osm.page_size(Way);
    let mut out = Vec::new();
    for (page, range) in sorted::pages(ways, size) {
        let page = ctx.osm.way_page(page);
        budget::work(range.len());
        let ways = ways.get(range).unwrap_or_default().iter();
        out.extend(ways.filter(|&&way| is_closed(page.nodes((way % size) as usize))));
    }
    out
}
