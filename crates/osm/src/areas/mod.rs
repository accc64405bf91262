//! Areas: relations and closed ways as polygons.
//!
//! Areas made from relations are decided when a snapshot is made ([`build`]) and numbered in order of their relations.
//! A closed way is an area too, without being listed: it stands for itself ([`is_closed`], [`shape_of_way`]). This
//! module knows elements and geometry and nothing of queries.

mod assemble;
mod build;

pub use crate::area_table::{Areas, Shape};
pub use build::{Found, build};

use std::sync::Arc;

use self::assemble::{Outcome, border_of};
use super::{BoundingBox, Coord, ElementRef, ElementType, Ordinal, Osm};
use terrapin_budget as budget;

/// What the id of an area made from a relation is above the relation's.
pub const RELATION_AREAS: i64 = 3_600_000_000;
/// What the id that queries write for a closed way as an area is above the way's.
pub const WAY_AREAS: i64 = 2_400_000_000;

impl Areas {
    /// The area with this id, [`RELATION_AREAS`] and its relation's.
    pub fn find(&self, osm: &Osm, id: i64) -> Option<u32> {
        self.of_relation(osm.find(ElementType::Relation, id.checked_sub(RELATION_AREAS)?)?)
    }

    /// The ids of these areas, in the order given.
    pub fn ids(&self, osm: &Osm, areas: &[u32]) -> Vec<i64> {
        let relations: Vec<Ordinal> = areas.iter().filter_map(|&area| self.relation(area)).collect();
        osm.ids(ElementType::Relation, &relations).into_iter().map(|id| id.saturating_add(RELATION_AREAS)).collect()
    }

    /// The shape of an area.
    pub fn shape(&self, osm: &Osm, area: u32) -> Arc<Shape> {
        self.shape_of(area, |relation| match border_of(osm, relation) {
            Outcome::Border(border) => border,
            Outcome::Unclosed | Outcome::Incomplete => Vec::new(),
        })
    }

    /// The areas that a point lies in or on the border of, ascending.
    pub fn at(&self, osm: &Osm, c: Coord) -> Vec<u32> {
        if c.is_missing() {
            return Vec::new();
        }
        let mut areas = self.in_box(&BoundingBox { south: c.lat, west: c.lon, north: c.lat, east: c.lon });
        areas.retain(|&area| {
            let shape = self.shape(osm, area);
            // Of the border's segments those near the point's latitude are looked at.
            budget::checkpoints(shape.weight() >> 10);
            shape.covers(c)
        });
        areas
    }
}

/// Whether a way is an area: its last node is its first, by id and not by position, whatever its tags. As in the
/// reference, a way of one node is closed, and so is one whose first node, also its last, is missing.
pub fn is_closed(nodes: &[ElementRef]) -> bool {
    !nodes.is_empty() && nodes.first() == nodes.last()
}

/// The area within a closed way; missing nodes are passed over.
pub fn shape_of_way(coords: &[Coord]) -> Shape {
    Shape::of_way(coords)
}
