//! The table of areas made from relations: the relations, their boxes, and a bounded cache of their shapes. This module
//! does not know the elements from which shapes are assembled.

mod section;
mod shape;

pub(crate) use section::{AreaEntry, write};
pub use shape::AreaShape;

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::geometry::Segment;
use super::{BoundingBox, Ordinal, layout};
use terrapin_budget as budget;
use terrapin_snapshot::{BoxSection, Error, Fault, SectionColumn, Snapshot};

/// Steps that searching boxes costs in a query's budget.
const LOOKUP_STEPS: usize = 32;

/// The areas made from relations; each has an ordinal in `0..count`, ascending with its relation's.
pub struct AreaTable {
    relations: SectionColumn,
    boxes: BoxSection,
    shapes: Cache<u32, Arc<AreaShape>, AreaShapeWeigher>,
}

#[derive(Clone)]
struct AreaShapeWeigher;

impl quick_cache::Weighter<u32, Arc<AreaShape>> for AreaShapeWeigher {
    fn weight(&self, _: &u32, shape: &Arc<AreaShape>) -> u64 {
        shape.weight() as u64
    }
}

impl AreaTable {
    /// Opens the areas of a snapshot with a cache of this number of bytes for shapes.
    ///
    /// # Errors
    /// Returns an error if the sections are missing or incomplete.
    pub fn open(snapshot: &Arc<Snapshot>, cache: u64, fault: &Arc<Fault>) -> Result<AreaTable, Error> {
        let relations = SectionColumn::open(snapshot, layout::AREAS, fault)?;
        let boxes = BoxSection::open(snapshot, layout::AREA_BOXES, fault)?;
        match relations.len() == u64::from(boxes.len()) {
            true => Ok(AreaTable::of(relations, boxes, cache)),
            false => Err(Error::damaged(layout::AREAS, "there are not as many boxes")),
        }
    }

    /// Areas in memory.
    pub(crate) fn held(entries: &[AreaEntry], cache: u64, fault: &Arc<Fault>) -> AreaTable {
        let relations = SectionColumn::held(layout::AREAS, entries.iter().map(|entry| entry.relation), fault);
        let boxes = BoxSection::held(layout::AREA_BOXES, entries.iter().map(|entry| entry.bbox.corners()), fault);
        AreaTable::of(relations, boxes, cache)
    }

    fn of(relations: SectionColumn, boxes: BoxSection, cache: u64) -> AreaTable {
        boxes.prepare();
        AreaTable { relations, boxes, shapes: Cache::with_weighter(1 << 10, cache, AreaShapeWeigher) }
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
    pub(crate) fn shape_of(&self, area: u32, border: impl FnOnce(Ordinal) -> Vec<Segment>) -> Arc<AreaShape> {
        budget::checkpoint();
        if let Some(shape) = self.shapes.get(&area) {
            return shape;
        }
        // The memory of the cache is not charged to the query that fills it, because it outlives the query.
        let made = budget::unwatched(|| {
            self.shapes.get_or_insert_with(&area, || {
                let border = self.relation(area).map(border).unwrap_or_default();
                Ok::<_, std::convert::Infallible>(Arc::new(AreaShape::new(border)))
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
