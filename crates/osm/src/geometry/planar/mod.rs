//! Segments on a plane that meet only in their ends: checks this property, finds the neighbours of segments, and builds
//! the polygons between them. Works on integer steps and on doubles.

mod rings;
mod sweep;

use super::segment::{LineSide, side};
use crate::Coord;

pub use rings::{Rings, is_counterclockwise, polygons};
pub use sweep::{Swept, sweep};

/// The value for "no segment".
pub const NONE: u32 = u32::MAX;

/// A point of the plane; in order from south to north, then from west to east.
pub trait Planar: Copy + Ord {
    /// Returns the side of the line from `a` to `b` on which the point `p` lies. The result is exact.
    fn side(a: Self, b: Self, p: Self) -> LineSide;
}

impl Planar for Coord {
    fn side(a: Coord, b: Coord, p: Coord) -> LineSide {
        side(a, b, p)
    }
}
