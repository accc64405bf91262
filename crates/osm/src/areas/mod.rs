//! Areas: relations and closed ways as polygons.
//!
//! Areas made from relations are computed when a snapshot is built ([`build`]) and numbered in the order of their
//! relations. A closed way is also an area, without being listed ([`is_closed`], [`shape_of_way`]). This module knows
//! elements and geometry; it does not know queries.

mod assemble;
mod build;

pub use crate::area_table::{AreaShape, AreaTable};
pub use build::{AreaList, build};

use std::sync::Arc;

use self::assemble::{AssemblyOutcome, border_of};
use super::{BoundingBox, Coord, ElementRef, ElementType, Ordinal, Osm};
use terrapin_budget as budget;

/// Offset between the id of a relation and the id of the area made from it.
pub const RELATION_AREAS: i64 = 3_600_000_000;
/// Offset between the id of a closed way and its id as an area in queries.
pub const WAY_AREAS: i64 = 2_400_000_000;

impl AreaTable {
    /// Returns the area with this id, which is [`RELATION_AREAS`] plus that of its relation.
    pub fn find(&self, osm: &Osm, id: i64) -> Option<u32> {
        self.of_relation(osm.find(ElementType::Relation, id.checked_sub(RELATION_AREAS)?)?)
    }

    /// Returns the ids of these areas, in the order given.
    pub fn ids(&self, osm: &Osm, areas: &[u32]) -> Vec<i64> {
        let relations: Vec<Ordinal> = areas.iter().filter_map(|&area| self.relation(area)).collect();
        osm.ids(ElementType::Relation, &relations).into_iter().map(|id| id.saturating_add(RELATION_AREAS)).collect()
    }

    /// Returns the shape of an area.
    pub fn shape(&self, osm: &Osm, area: u32) -> Arc<AreaShape> {
        self.shape_of(area, |relation| match border_of(osm, relation) {
            AssemblyOutcome::Border(border) => border,
            AssemblyOutcome::Unclosed | AssemblyOutcome::Incomplete => Vec::new(),
        })
    }

    /// Returns the areas that contain a point, inside or on the border, ascending.
    pub fn at(&self, osm: &Osm, c: Coord) -> Vec<u32> {
        if c.is_missing() {
            return Vec::new();
        }
        let mut areas = self.in_box(&BoundingBox { south: c.lat, west: c.lon, north: c.lat, east: c.lon });
        areas.retain(|&area| {
            let shape = self.shape(osm, area);
            // Only the border segments near the point's latitude are tested.
            budget::checkpoints(shape.weight() >> 10);
            shape.covers(c)
        });
        areas
    }
}

/// Returns whether a way is an area: its last node is its first, by id and not by position, whatever its tags. As in
/// the reference, a way of one node is closed, and a way whose first and last node are the same missing node is also
/// closed.
pub fn is_closed(nodes: &[ElementRef]) -> bool {
    !nodes.is_empty() && nodes.first() == nodes.last()
}

/// Returns the area within a closed way; missing nodes are skipped.
pub fn shape_of_way(coords: &[Coord]) -> AreaShape {
    AreaShape::of_way(coords)
}
