//! Segments on a plane of which no two meet but in their ends: how to find out, what lies next to what, and the polygons
//! between them. The same for whole steps and for doubles.

mod rings;
mod sweep;

use super::segment::{Side, side};
use crate::Coord;

pub use rings::{Rings, is_counterclockwise, polygons};
pub use sweep::{Swept, sweep};

/// Stands for "no segment".
pub const NONE: u32 = u32::MAX;

/// A point of the plane; in order from south to north, then from west to east.
pub trait Planar: Copy + Ord {
    /// On which side of the line from `a` to `b` the point `p` lies. Exact.
    fn side(a: Self, b: Self, p: Self) -> Side;
}

impl Planar for Coord {
    fn side(a: Coord, b: Coord, p: Coord) -> Side {
        side(a, b, p)
    }
}
