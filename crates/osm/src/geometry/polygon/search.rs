//! Tests a point against one segment after another: whether it is on one of them, and how many are to the east of it.

use super::super::segment::Segment;
use super::super::tiles::{GridTile, TileCrossing, beside, is_whole};
use super::BorderRule;
use crate::Coord;

/// A point that is being located, and whether it is inside as far as segments have been looked at.
pub(super) struct PointLocation {
    pub(super) at: Coord,
    /// The rule for points on the border; `None` if only points exactly on a segment are on the border.
    pub(super) border: Option<BorderRule>,
    /// The point's tile, if segments are cut into tiles.
    pub(super) tile: Option<GridTile>,
    pub(super) inside: bool,
}

impl PointLocation {
    /// Takes a segment into account; true if the point is on it.
    pub(super) fn meets(&mut self, s: Segment) -> bool {
        let Coord { lat, lon } = self.at;
        if lat < s.a.lat.min(s.b.lat) || lat > s.a.lat.max(s.b.lat) || lon > s.a.lon.max(s.b.lon) {
            return false;
        }
        // An end on the point's latitude counts as south of it. So where two segments meet on it, one is crossed if
        // they lead on to the other side, and else both or neither.
        let passes = (s.a.lat > lat) != (s.b.lat > lat);
        let part = match self.tile {
            Some(tile) if !is_whole(s) => beside(s, tile, self.at),
            _ => TileCrossing::Piece(s),
        };
        let piece = match part {
            TileCrossing::Piece(piece) => piece,
            TileCrossing::East => {
                self.inside ^= passes;
                return false;
            }
            TileCrossing::West => return false,
        };
        let offset = Offset::of(self.at, piece);
        if offset.is_on(piece, self.border) {
            return true;
        }
        self.inside ^= passes && offset.is_west();
        false
    }
}

/// The position of a point relative to a segment that has the point's latitude, measured from the segment's western
/// end:
///
/// ```text
///   rise > 0                          rise < 0
///
///     north > 0    * east       west *    north > 0
///        p        /                   \        p
///                /                     \
///               /        p        p     \
///         west *     north < 0            * east
///                               north < 0
///         <-along->
///         <-width->
/// ```
struct Offset {
    /// How far the eastern end is to the east, in steps; at least 0.
    width: i128,
    /// How far the eastern end is to the north, in steps.
    rise: i64,
    /// How far the point is to the east, in steps.
    along: i64,
    /// How far the point is to the north of the segment's line, in steps, times `width`: no division, so it is exact.
    north: i128,
}

impl Offset {
    #[inline]
    fn of(Coord { lat, lon }: Coord, s: Segment) -> Offset {
        let (west, east) = if s.a.lon <= s.b.lon { (s.a, s.b) } else { (s.b, s.a) };
        let rise = i64::from(east.lat) - i64::from(west.lat);
        let width = i128::from(east.lon) - i128::from(west.lon);
        let (up, along) = (i64::from(lat) - i64::from(west.lat), i64::from(lon) - i64::from(west.lon));
        Offset { width, rise, along, north: width * i128::from(up) - i128::from(rise) * i128::from(along) }
    }

    /// Returns whether a point that is not east of the segment's box is west of the segment. West is north of a segment
    /// that rises eastwards, and south of one that falls.
    #[inline]
    fn is_west(&self) -> bool {
        (self.north > 0) == (self.rise > 0)
    }

    /// Returns whether the point is on the segment `s`, by the rule of the border.
    #[inline]
    fn is_on(&self, s: Segment, border: Option<BorderRule>) -> bool {
        let Offset { width, along, north, .. } = *self;
        if along < 0 {
            return false;
        }
        north == 0
            || match border {
                None => false,
                // The segment's latitude is cut off towards its end: the point is less than a step to the north of a
                // segment that leads north, or less than a step to the south of one that leads south.
                Some(BorderRule::Relation | BorderRule::Drawn) if s.a.lat < s.b.lat => 0 < north && north < width,
                Some(BorderRule::Relation | BorderRule::Drawn) => -width < north && north < 0,
                // The segment's latitude is rounded, halves up.
                Some(BorderRule::ClosedWay) => -width < 2 * north && 2 * north <= width,
            }
    }
}
