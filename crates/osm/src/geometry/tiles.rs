//! Cuts segments at the edges of tiles, as the reference cuts the borders of areas and the lines that it compares with
//! them. Determined by testing nodes next to long segments, in every direction and over many tiles.
//!
//! A tile is a square of 2^20 steps of 1e-7 degrees, counted from 91 degrees south and from longitude zero. A segment
//! over several tiles is first cut into columns: in each column it ends on the first and last meridian, at latitudes
//! truncated towards its western end. Each piece is then cut into rows. It begins at the row's first latitude and ends
//! at its last. Its longitudes are those at the first latitudes of this row and of the next, truncated towards the
//! piece's southern end. A segment that was cut only into columns runs east afterwards, one that was cut into rows runs
//! north. An uncut segment keeps its direction.
//!
//! Pieces are computed on demand, because a segment around the world would have thousands.

use super::Segment;
use crate::{BoundingBox, Coord};

const BITS: u32 = 20;
/// The latitude at which rows begin to count.
const SOUTH: i32 = -910_000_000;

/// A tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GridTile {
    row: i32,
    column: i32,
}

/// The course of a segment in a tile, relative to a point.
pub(super) enum TileCrossing {
    /// This piece of the segment, whose box contains the point.
    Piece(Segment),
    /// It passes the point's latitude to the east of it, if at all.
    East,
    /// It passes the point's latitude to the west of it, if at all.
    West,
}

fn row(lat: i32) -> i32 {
    (lat - SOUTH) >> BITS
}

fn column(lon: i32) -> i32 {
    lon >> BITS
}

impl GridTile {
    /// Returns the tile of a point.
    pub fn of(c: Coord) -> GridTile {
        GridTile { row: row(c.lat), column: column(c.lon) }
    }
}

/// Returns whether both ends are in one tile.
#[inline]
pub(super) fn is_whole(s: Segment) -> bool {
    column(s.a.lon) == column(s.b.lon) && row(s.a.lat) == row(s.b.lat)
}

/// Returns the piece of a segment in a tile.
pub(super) fn within(s: Segment, tile: GridTile) -> Option<Segment> {
    in_row(in_column(s, tile.column)?, tile.row)
}

/// Returns the course of a segment relative to a point in a tile. The point is between the segment's latitudes.
pub(super) fn beside(s: Segment, tile: GridTile, Coord { lat, lon }: Coord) -> TileCrossing {
    let (west, east) = if s.a.lon <= s.b.lon { (s.a, s.b) } else { (s.b, s.a) };
    let rises = west.lat <= east.lat;
    if lon < west.lon {
        return TileCrossing::East;
    }
    let Some(s) = in_column(s, tile.column) else { return TileCrossing::West };
    let b = s.bbox();
    if lat < b.south || lat > b.north {
        return if (lat > b.north) == rises { TileCrossing::East } else { TileCrossing::West };
    }
    let Some(s) = in_row(s, tile.row) else { return TileCrossing::West };
    let b = s.bbox();
    match () {
        () if lon < b.west => TileCrossing::East,
        () if lon > b.east => TileCrossing::West,
        () => TileCrossing::Piece(s),
    }
}

/// Calls `found` with the pieces of a segment that may be in the box, and their tiles. Returns true as soon as a call
/// does.
pub(super) fn any_piece(s: Segment, area: &BoundingBox, found: &mut dyn FnMut(Segment, GridTile) -> bool) -> bool {
    let b = s.bbox();
    (column(b.west.max(area.west))..=column(b.east.min(area.east))).any(|column| {
        let Some(part) = in_column(s, column) else { return false };
        let b = part.bbox();
        (row(b.south.max(area.south))..=row(b.north.min(area.north)))
            .any(|row| in_row(part, row).is_some_and(|piece| found(piece, GridTile { row, column })))
    })
}

fn in_column(s: Segment, wanted: i32) -> Option<Segment> {
    let (west, east) = if s.a.lon <= s.b.lon { (s.a, s.b) } else { (s.b, s.a) };
    let (first, last) = (column(west.lon), column(east.lon));
    if wanted < first || wanted > last {
        return None;
    }
    if first == last {
        return Some(s);
    }
    let at = |lon: i32| Coord { lat: cut([west.lat, east.lat], [west.lon, east.lon], lon), lon };
    let start = if wanted == first { west } else { at(wanted << BITS) };
    let end = if wanted == last { east } else { at(((wanted + 1) << BITS) - 1) };
    Some(Segment { a: start, b: end })
}

fn in_row(s: Segment, wanted: i32) -> Option<Segment> {
    let (south, north) = if s.a.lat <= s.b.lat { (s.a, s.b) } else { (s.b, s.a) };
    let (first, last) = (row(south.lat), row(north.lat));
    if wanted < first || wanted > last {
        return None;
    }
    if first == last {
        return Some(s);
    }
    let start_of = |row: i32| (row << BITS) + SOUTH;
    let at = |lat: i32| cut([south.lon, north.lon], [south.lat, north.lat], lat);
    let start = if wanted == first { south } else { Coord { lat: start_of(wanted), lon: at(start_of(wanted)) } };
    let next = start_of(wanted.saturating_add(1));
    let end = if wanted == last { north } else { Coord { lat: next - 1, lon: at(next) } };
    Some(Segment { a: start, b: end })
}

/// Interpolates from `from.0` at `over.0` to `from.1` at `over.1` and returns the value at `x`, truncated towards
/// `from.0`.
fn cut(from: [i32; 2], over: [i32; 2], x: i32) -> i32 {
    let [from, over] = [from, over].map(|v| v.map(i64::from));
    let along = (from[1] - from[0]) * (i64::from(x) - over[0]) / (over[1] - over[0]).max(1);
    (from[0] + along) as i32
}
