//! The region of polygons: the union of some areas.

use std::sync::Arc;

use super::{BoxTree, Placement, SearchRegion};
use terrapin_osm::areas::AreaShape;
use terrapin_osm::geometry::BoxRelation;
use terrapin_osm::{BoundingBox, Coord};

/// The maximum number of shapes for which pages are looked up one by one. If there are more, pages are looked up for
/// all shapes together.
const EACH: usize = 64;

/// The union of some shapes.
pub struct ShapesRegion {
    shapes: Vec<Arc<AreaShape>>,
    tree: BoxTree,
    cover: Vec<BoundingBox>,
}

impl ShapesRegion {
    /// Creates the region of these shapes.
    pub fn new(mut shapes: Vec<Arc<AreaShape>>) -> ShapesRegion {
        shapes.retain(|shape| !shape.bbox().is_empty());
        let tree = BoxTree::new(shapes.iter().map(|shape| *shape.bbox()).collect());
        let cover = match shapes.len() {
            0..=EACH => tree.boxes().to_vec(),
            _ => vec![tree.bounds()],
        };
        ShapesRegion { shapes, tree, cover }
    }

    fn any(&self, area: &BoundingBox, mut holds: impl FnMut(&AreaShape) -> bool) -> bool {
        self.tree.any(area, |i| self.shapes.get(i).is_some_and(|shape| holds(shape)))
    }
}

impl SearchRegion for ShapesRegion {
    fn cover(&self) -> &[BoundingBox] {
        &self.cover
    }

    fn placement(&self, of: &BoundingBox) -> Placement {
        if of.is_empty() {
            return Placement::Outside;
        }
        let mut unsure = false;
        let inside = self.any(of, |shape| match shape.relate(of) {
            BoxRelation::Inside => true,
            BoxRelation::Mixed => {
                unsure = true;
                false
            }
            BoxRelation::Outside => false,
        });
        match (inside, unsure) {
            (true, _) => Placement::Inside,
            (false, true) => Placement::Unsure,
            (false, false) => Placement::Outside,
        }
    }

    fn has_node(&self, at: Coord) -> bool {
        self.any(&point_box(at), |shape| shape.covers(at))
    }

    fn is_by_blocks(&self) -> bool {
        true
    }

    fn has_border(&self) -> bool {
        true
    }

    fn counts_for_relations(&self, at: Coord) -> bool {
        self.any(&point_box(at), |shape| shape.counts_for_relations(at))
    }

    fn has_way(&self, coords: &[Coord]) -> bool {
        let mut area = BoundingBox::EMPTY;
        coords.iter().for_each(|&c| area.extend(c));
        !area.is_empty() && self.any(&area, |shape| shape.meets_line(coords))
    }
}

/// Returns the box of a point.
pub fn point_box(at: Coord) -> BoundingBox {
    BoundingBox { south: at.lat, west: at.lon, north: at.lat, east: at.lon }
}
