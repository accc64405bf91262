//! The table of areas made from relations: the relations, their boxes, and a bounded cache of their shapes. This module
//! does not know the elements from which shapes are assembled.

mod section;
mod shape;

pub(crate) use section::{Entry, write};
pub use shape::Shape;

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::geometry::Segment;
use super::{BoundingBox, Ordinal, layout};
use terrapin_budget as budget;
use terrapin_snapshot::{Boxes, Column, Error, Fault, Snapshot};

/// Steps that searching boxes costs in a query's budget.
const LOOKUP_STEPS: usize = 32;

/// The areas made from relations; each has an ordinal in `0..count`, ascending with its relation's.
pub struct Areas {
    relations: Column,
    boxes: Boxes,
    shapes: Cache<u32, Arc<Shape>, Weigher>,
}

#[derive(Clone)]
struct Weigher;

impl quick_cache::Weighter<u32, Arc<Shape>> for Weigher {
    fn weight(&self, _: &u32, shape: &Arc<Shape>) -> u64 {
        shape.weight() as u64
    }
}

impl Areas {
    /// Opens the areas of a snapshot with a cache of this number of bytes for shapes.
    ///
    /// # Errors
    /// Returns an error if the sections are missing or incomplete.
    pub fn open(snapshot: &Arc<Snapshot>, cache: u64, fault: &Arc<Fault>) -> Result<Areas, Error> {
        let relations = Column::open(snapshot, layout::AREAS, fault)?;
        let boxes = Boxes::open(snapshot, layout::AREA_BOXES, fault)?;
        match relations.len() == u64::from(boxes.len()) {
            true => Ok(Areas::of(relations, boxes, cache)),
            false => Err(Error::damaged(layout::AREAS, "there are not as many boxes")),
        }
    }

    /// Areas in memory.
    pub(crate) fn held(entries: &[Entry], cache: u64, fault: &Arc<Fault>) -> Areas {
        let relations = Column::held(layout::AREAS, entries.iter().map(|entry| entry.relation), fault);
        let boxes = Boxes::held(layout::AREA_BOXES, entries.iter().map(|entry| entry.bbox.corners()), fault);
        Areas::of(relations, boxes, cache)
    }

    fn of(relations: Column, boxes: Boxes, cache: u64) -> Areas {
        boxes.prepare();
        Areas { relations, boxes, shapes: Cache::with_weighter(1 << 10, cache, Weigher) }
    }

    /// Returns the number of areas; areas are `0..count`.
    pub fn count(&self) -> u32 {
        self.boxes.len()
    }

    /// Returns the relation from which an area is made.
    pub fn relation(&self, area: u32) -> Option<Ordinal> {
        (area < self.count()).then(|| self.relations.get(area.into()))
    }

    /// Returns the area made from a relation.
    pub fn of_relation(&self, relation: Ordinal) -> Option<u32> {
        let at = self.relations.lower_bound(0, self.relations.len(), relation);
        (at < self.relations.len() && self.relations.get(at) == relation).then_some(at as u32)
    }

    /// Returns the box of an area. The box of an area across the antimeridian spans all longitudes.
    pub fn bbox(&self, area: u32) -> BoundingBox {
        BoundingBox::of(self.boxes.get(area))
    }

    /// Returns the shape of an area. If it is not cached, it is made from the result of `border`.
    pub(crate) fn shape_of(&self, area: u32, border: impl FnOnce(Ordinal) -> Vec<Segment>) -> Arc<Shape> {
        budget::checkpoint();
        if let Some(shape) = self.shapes.get(&area) {
            return shape;
        }
        // The memory of the cache is not charged to the query that fills it, because it outlives the query.
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

    /// Returns the areas whose box intersects `within`, ascending.
    pub fn in_box(&self, within: &BoundingBox) -> Vec<u32> {
        if within.is_empty() {
            return Vec::new();
        }
        budget::checkpoints(LOOKUP_STEPS);
        within.meeting(&self.boxes)
    }
}
