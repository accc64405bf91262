//! Exact planar geometry on integer coordinates, and great-circle distances.
//!
//! Which side of a line a point lies on, whether segments meet and whether a point is in a polygon are decided in
//! integers on the plane of latitude and longitude, so they are the same on every machine. Distances are IEEE doubles
//! through `libm`, in a fixed order of operations. This module knows coordinates only: nothing of elements, pages or
//! files.

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
pub use polygon::{Border, Location, Polygon, Relation as BoxRelation};
pub use segment::{Segment, Side, line_meets_box, on_segment, segment_meets_box, segments_meet, side};
