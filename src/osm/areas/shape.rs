//! The shape of an area: what is in it and what meets it.

use crate::osm::geometry::{BoxRelation, Location, Polygon, Segment};
use crate::osm::{BoundingBox, Coord};

/// The shape of an area.
///
/// As in the reference, a node is in an area if it lies inside or on the border; a way is in it if some point of the
/// way lies inside, the border not counted: ways that only touch the border or run along it are not in the area.
#[derive(Debug, Clone)]
pub struct Shape {
    polygon: Polygon,
}

impl Shape {
    /// The area with these segments as its border, in any order and direction.
    pub fn new(segments: impl IntoIterator<Item = Segment>) -> Shape {
        Shape { polygon: Polygon::new(segments) }
    }

    /// The area within a closed line; the last point may repeat the first.
    pub fn from_closed_line(line: &[Coord]) -> Shape {
        Shape { polygon: Polygon::from_ring(line) }
    }

    /// The box around it; empty for an area without a border.
    pub fn bbox(&self) -> &BoundingBox {
        self.polygon.bbox()
    }

    /// Where a point lies.
    pub fn locate(&self, c: Coord) -> Location {
        self.polygon.locate(c)
    }

    /// Whether a node at this position is in the area: inside or on the border.
    pub fn covers(&self, c: Coord) -> bool {
        self.polygon.covers(c)
    }

    /// Whether a way with these nodes is in the area: a point of it inside, the border not counted.
    pub fn meets_line(&self, line: &[Coord]) -> bool {
        self.polygon.meets_line(line)
    }

    /// How a box lies to the area: one test for a whole page of elements.
    pub fn relate(&self, area: &BoundingBox) -> BoxRelation {
        self.polygon.relate(area)
    }

    /// Bytes of memory that it takes, for bounding caches.
    pub fn weight(&self) -> usize {
        self.polygon.weight()
    }
}
