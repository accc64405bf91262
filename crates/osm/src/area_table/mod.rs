//! The table of areas made from relations: which relations they are, their boxes, and a bounded cache of their shapes.
//! Knows nothing of the elements that shapes are put together from.

mod section;
mod shape;

pub(crate) use section::{Entry, encode};
pub use shape::Shape;

use std::sync::{Arc, OnceLock};

use quick_cache::sync::Cache;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::geometry::Segment;
use super::{BoundingBox, Ordinal};
use terrapin_budget as budget;
use terrapin_snapshot::Error;

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
    /// From the bytes that [`super::areas::build`] made; at most so many bytes of shapes are kept.
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

    /// The shape of an area, which `border` is asked for if it is not kept.
    pub(crate) fn shape_of(&self, area: u32, border: impl FnOnce(Ordinal) -> Vec<Segment>) -> Arc<Shape> {
        budget::checkpoint();
        if let Some(shape) = self.shapes.get(&area) {
            return shape;
        }
        // The cache is nobody's: it outlives the query that fills it.
        let made = budget::unwatched(|| {
            self.shapes.get_or_insert_with(&area, || {
                let border = self.relation(area).map(border).unwrap_or_default();
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
        budget::checkpoints(LOOKUP_STEPS);
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
}
