//! Exact planar geometry on integer coordinates, and great-circle distances.
//!
//! The side of a line on which a point lies, the intersection of segments, and point in polygon are computed in
//! integers on the plane of latitude and longitude. The results are therefore the same on every machine. Distances are
//! IEEE doubles through `libm`, in a fixed order of operations. This module knows only coordinates; it does not know
//! elements, pages or files.

mod antimeridian;
mod arcs;
mod distance;
pub mod planar;
mod polygon;
mod segment;
mod tiles;

pub use antimeridian::{crossing_of_180, split_at_antimeridian};
pub use arcs::ring_along_great_circles;
pub use distance::{
    LatLon, LineVectors, around_box, line_length, metres, metres_between_segments, metres_to_segment, round_length,
};
pub use polygon::{BorderRule, BoxRelation, Polygon, PolygonLocation};
pub use segment::{LineSide, Segment, line_meets_box, on_segment, segment_meets_box, segments_meet, side};
