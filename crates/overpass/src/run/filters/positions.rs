//! Converts positions and boxes of the query text to those of the data.

use terrapin_osm::{BoundingBox, Coord};

use crate::plan::BoxRegion;
use crate::syntax::{self, QlPoint};

/// Converts a box of the query text to a box of the data.
pub fn to_osm(b: &syntax::QlBoundingBox) -> BoundingBox {
    BoundingBox { south: b.south, west: b.west, north: b.north, east: b.east }
}

/// Returns the region of a box of the query text.
pub fn in_box(b: &syntax::QlBoundingBox) -> BoxRegion {
    BoxRegion::new(to_osm(b), b.degrees)
}

/// Converts a point of the query text to a position in the data.
pub fn to_coord(p: &QlPoint) -> Coord {
    Coord { lat: p.lat, lon: p.lon }
}
