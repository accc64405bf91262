//! Areas: relations and closed ways as polygons.
//!
//! Areas made from relations are decided when a snapshot is made ([`build`]) and numbered in order of their relations.
//! A closed way is an area too, without being listed: it stands for itself ([`is_closed`], [`shape_of_way`]). This
//! module knows elements and geometry and nothing of queries.

mod assemble;
mod build;
mod section;
mod shape;

pub use build::build;
pub use shape::Shape;

use std::sync::{Arc, OnceLock};

use quick_cache::sync::Cache;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use self::assemble::{Outcome, border_of};
use self::section::Entry;
use super::{BoundingBox, Coord, ElementType, Ordinal, Osm, Reference};
use terrapin_budget as budget;
use terrapin_snapshot::Error;

/// What the id of an area made from a relation is above the relation's.
pub const RELATION_AREAS: i64 = 3_600_000_000;

/// What finding boxes counts for in a query's budget.
const LOOKUP_STEPS: usize = 32;

/// The areas made from relations; each has an ordinal in `0..count`, ascending with its relation's.
pub struct Areas {
    entries: Vec<Entry>,
    tree: OnceLock<RTree<AreaBox>>,
    shapes: Cache<u32, Arc<Shape>, Weigher>,
}

type AreaBox = GeomWithData<Rectangle<[i64; 2]>, u32>;

#[derive(Clone)]
struct Weigher;

impl quick_cache::Weighter<u32, Arc<Shape>> for Weigher {
    fn weight(&self, _: &u32, shape: &Arc<Shape>) -> u64 {
        shape.weight() as u64
    }
}

impl Default for Areas {
    fn default() -> Areas {
        Areas::of(Vec::new(), 0)
    }
}

impl Areas {
    /// From the bytes that [`build`] made; at most so many bytes of shapes are kept.
    ///
    /// # Errors
    /// The bytes are not what it makes.
    pub fn open(bytes: &[u8], cache: u64) -> Result<Areas, Error> {
        Ok(Areas::of(section::decode(bytes)?, cache))
    }

    fn of(entries: Vec<Entry>, cache: u64) -> Areas {
        Areas { entries, tree: OnceLock::new(), shapes: Cache::with_weighter(1 << 10, cache, Weigher) }
    }

    /// How many there are; areas are `0..count`.
    pub fn count(&self) -> u32 {
        self.entries.len() as u32
    }

    /// The area with this id, [`RELATION_AREAS`] and its relation's.
    pub fn find(&self, osm: &Osm, id: i64) -> Option<u32> {
        self.of_relation(osm.find(ElementType::Relation, id.checked_sub(RELATION_AREAS)?)?)
    }

    /// The ids of these areas, in the order given.
    pub fn ids(&self, osm: &Osm, areas: &[u32]) -> Vec<i64> {
        let relations: Vec<Ordinal> = areas.iter().filter_map(|&area| self.relation(area)).collect();
        osm.ids(ElementType::Relation, &relations).into_iter().map(|id| id.saturating_add(RELATION_AREAS)).collect()
    }

    /// The relation that an area is made from.
    pub fn relation(&self, area: u32) -> Option<Ordinal> {
        self.entries.get(area as usize).map(|entry| entry.relation)
    }

    /// The area made from a relation.
    pub fn of_relation(&self, relation: Ordinal) -> Option<u32> {
        self.entries.binary_search_by_key(&relation, |entry| entry.relation).ok().map(|i| i as u32)
    }

    /// The box of an area; an area across the antimeridian has one around the whole world.
    pub fn bbox(&self, area: u32) -> BoundingBox {
        self.entries.get(area as usize).map_or(BoundingBox::EMPTY, |entry| entry.bbox)
    }

    /// The shape of an area.
    pub fn shape(&self, osm: &Osm, area: u32) -> Arc<Shape> {
        budget::tick();
        if let Some(shape) = self.shapes.get(&area) {
            return shape;
        }
        // The cache is nobody's: it outlives the query that fills it.
        let made = budget::unwatched(|| {
            self.shapes.get_or_insert_with(&area, || {
                let border = match self.relation(area).map(|relation| border_of(osm, relation)) {
                    Some(Outcome::Border(border)) => border,
                    _ => Vec::new(),
                };
                Ok::<_, std::convert::Infallible>(Arc::new(Shape::new(border)))
            })
        });
        match made {
            Ok(shape) => shape,
            Err(never) => match never {},
        }
    }

    /// The areas whose box meets `within`, ascending.
    pub fn in_box(&self, within: &BoundingBox) -> Vec<u32> {
        if within.is_empty() {
            return Vec::new();
        }
        budget::ticks(LOOKUP_STEPS);
        let tree = budget::once(&self.tree, || {
            let boxed = |(b, area): (&BoundingBox, u32)| {
                let (low, high) = ([b.west.into(), b.south.into()], [b.east.into(), b.north.into()]);
                GeomWithData::new(Rectangle::from_corners(low, high), area)
            };
            RTree::bulk_load(self.entries.iter().map(|entry| &entry.bbox).zip(0..).map(boxed).collect())
        });
        let (parts, n) = within.split();
        let mut areas: Vec<u32> = parts[..n]
            .iter()
            .flat_map(|b| {
                let (low, high) = ([b.west.into(), b.south.into()], [b.east.into(), b.north.into()]);
                tree.locate_in_envelope_intersecting(AABB::from_corners(low, high))
            })
            .map(|found| found.data)
            .collect();
        areas.sort_unstable();
        areas.dedup();
        areas
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
            budget::ticks(shape.weight() >> 10);
            shape.covers(c)
        });
        areas
    }
}

/// Whether a way is an area: its last node is its first, by id and not by position, whatever its tags. As in the
/// reference, a way of one node is closed, and so is one whose first node, also its last, is missing.
pub fn is_closed(nodes: &[Reference]) -> bool {
    !nodes.is_empty() && nodes.first() == nodes.last()
}

/// The area within a closed way; missing nodes are passed over.
pub fn shape_of_way(coords: &[Coord]) -> Shape {
    Shape::of_way(coords)
}
