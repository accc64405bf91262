//! Positions of tiles and points. Tiles form the square grid of web maps: Mercator projection, counted from the
//! north-west. Points have whole units, counted over the whole world. Shared geometry has the same units in both tiles,
//! so that seams match.

use std::sync::OnceLock;

use terrapin_osm::{BoundingBox, Coord};

/// Units along the side of a tile.
pub const EXTENT: i32 = 4096;
/// Units around a tile that its features go on for, so that lines and borders do not end at a seam.
pub const BUFFER: i32 = 64;
/// The deepest zoom; maps draw deeper zooms from its tiles.
pub const DEEPEST: u8 = 14;

/// Longitudes of half the world, in 1e-7 degrees.
const HALF: i64 = 1_800_000_000;
/// The northern and southern end of the grid, in 1e-7 degrees.
const POLE: i32 = 850_511_287;
/// Latitudes between two entries of the table, as a power of two.
const STEP: u32 = 15;
/// The height of the world in the table, as a power of two.
const WORLD: u32 = 36;

/// A tile: its zoom and its place from the west and from the north.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TileId {
    z: u8,
    x: u32,
    y: u32,
}

impl TileId {
    /// Returns a tile of the grid, or `None` if the numbers are out of range.
    pub fn new(z: u8, x: u32, y: u32) -> Option<TileId> {
        let inside = z <= DEEPEST && x < 1 << z && y < 1 << z;
        inside.then_some(TileId { z, x, y })
    }

    /// Returns the north-western tile of a zoom. Its corner is the origin of the whole world.
    pub const fn first(z: u8) -> TileId {
        TileId { z, x: 0, y: 0 }
    }

    /// Returns its north-western corner, in units from that of the world.
    pub fn corner(self) -> TilePoint {
        TilePoint { x: self.x as i32 * EXTENT, y: self.y as i32 * EXTENT }
    }

    /// Returns its zoom, 0 to [`DEEPEST`].
    pub fn zoom(self) -> u8 {
        self.z
    }

    /// Returns the bounding box of the tile with a margin of `units`.
    pub fn bounds(self, units: i32) -> BoundingBox {
        let size = i64::from(EXTENT) << self.z;
        let (west, north) = (i64::from(self.x) * i64::from(EXTENT), i64::from(self.y) * i64::from(EXTENT));
        let (margin, side) = (i64::from(units), i64::from(EXTENT));
        let longitude = |unit: i64| (unit.clamp(0, size) * 2 * HALF / size - HALF) as i32;
        // One more, as latitudes are rounded.
        let latitude = |unit: i64| latitude(unit.clamp(0, size) as f64 / size as f64);
        BoundingBox {
            south: latitude(north + side + margin).saturating_sub(2).max(-900_000_000),
            west: longitude(west - margin).saturating_sub(1).max(-1_800_000_000),
            north: latitude(north - margin).saturating_add(2).min(900_000_000),
            east: longitude(west + side + margin).saturating_add(1).min(1_800_000_000),
        }
    }

    /// Converts a position to units from the tile's north-western corner.
    #[inline]
    pub fn point(self, c: Coord) -> TilePoint {
        let size = i64::from(EXTENT) << self.z;
        let x = ((i64::from(c.lon) + HALF) * size + HALF) / (2 * HALF);
        let y = (height(c.lat) * size + (1 << (WORLD - 1))) >> WORLD;
        let corner = self.corner();
        TilePoint { x: (x - i64::from(corner.x)) as i32, y: (y - i64::from(corner.y)) as i32 }
    }

    /// Returns the size of a square unit in square metres of Mercator's projection.
    pub fn square_metres(self) -> f64 {
        const AROUND: f64 = 40_075_016.685_578_49;
        let side = AROUND / (i64::from(EXTENT) << self.z) as f64;
        side * side
    }
}

/// A point in units, x to the east and y to the south.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TilePoint {
    /// The distance from the western edge of the tile.
    pub x: i32,
    /// The distance from the northern edge of the tile.
    pub y: i32,
}

/// The latitude at a part of the world's height from the north, in 1e-7 degrees.
fn latitude(part: f64) -> i32 {
    let angle = libm::atan(libm::sinh(std::f64::consts::PI * (1.0 - 2.0 * part)));
    libm::round(angle.to_degrees() * 1e7) as i32
}

/// How far a latitude is from the north, as a part of the world's height in 2 to the power of [`WORLD`]: read from a
/// table, and between its entries on a straight line, which is off by millimetres in towns and decimetres at the poles.
#[inline]
fn height(latitude: i32) -> i64 {
    static TABLE: OnceLock<Vec<i64>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let entries = ((2 * i64::from(POLE)) >> STEP) + 2;
        (0..entries).map(|entry| exact_height((entry << STEP) - i64::from(POLE))).collect()
    });
    let from_south = (latitude.clamp(-POLE, POLE) + POLE) as u32;
    let (entry, rest) = ((from_south >> STEP) as usize, i64::from(from_south & ((1 << STEP) - 1)));
    let (low, high) = (table[entry], table[entry + 1]);
    low + (((high - low) * rest) >> STEP)
}

fn exact_height(latitude: i64) -> i64 {
    let angle = (latitude as f64 / 1e7).to_radians();
    let part = 0.5 - libm::asinh(libm::tan(angle)) / (2.0 * std::f64::consts::PI);
    libm::round(part * (1_i64 << WORLD) as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_numbered_from_the_north_west() {
        // Valletta, by the usual formulas.
        let c = Coord { lat: 358_985_000, lon: 145_132_000 };
        let tile = TileId::new(14, 8852, 6439).expect("a tile");
        let point = tile.point(c);
        assert!((0..EXTENT).contains(&point.x) && (0..EXTENT).contains(&point.y), "{point:?}");
        assert!(tile.bounds(0).contains(c));
        assert_eq!(
            TileId::new(0, 0, 0).map(|world| world.point(Coord { lat: 0, lon: 0 })),
            Some(TilePoint { x: 2048, y: 2048 })
        );
        assert!(TileId::new(15, 0, 0).is_none() && TileId::new(3, 8, 0).is_none());
    }

    #[test]
    fn neighbours_have_the_same_units() {
        let (left, right) = (TileId::new(14, 8852, 6439).unwrap(), TileId::new(14, 8853, 6439).unwrap());
        for step in 0..1000 {
            let c = Coord { lat: 358_985_000 + step * 37, lon: 145_132_000 + step * 101 };
            let (a, b) = (left.point(c), right.point(c));
            assert_eq!((a.x - EXTENT, a.y), (b.x, b.y));
        }
    }

    #[test]
    fn the_table_is_near_the_formula() {
        for latitude in (-850_000_000..850_000_000).step_by(12_345_671) {
            let off = (height(latitude) - exact_height(latitude.into())).abs();
            // A unit of the deepest zoom is 1024 of these.
            assert!(off < 600, "{latitude}: {off}");
        }
    }

    #[test]
    fn a_box_holds_what_is_in_its_tile() {
        let tile = TileId::new(9, 276, 200).unwrap();
        let bounds = tile.bounds(BUFFER);
        let (low, high) = (
            tile.point(Coord { lat: bounds.north, lon: bounds.west }),
            tile.point(Coord { lat: bounds.south, lon: bounds.east }),
        );
        let near = |unit: i32, wanted: i32| (unit - wanted).abs() <= 1;
        assert!(near(low.x, -BUFFER) && near(low.y, -BUFFER), "{low:?}");
        assert!(near(high.x, EXTENT + BUFFER) && near(high.y, EXTENT + BUFFER), "{high:?}");
    }
}
