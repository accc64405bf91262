//! The outline of the Earth's land, built into the program: extracts have only parts of the world's coasts, but a tile
//! of a low zoom shows continents, and a tile of a higher one the land next to the extract.
//!
//! `data/land.bin` is made by `scripts/land`, which describes its format.

use terrapin_osm::Coord;

use super::geometry::{HIGH, LOW, outside, simplify};
use super::place::{BUFFER, TileId, TilePoint};

const LAND: &[u8] = include_bytes!("../data/land.bin");
/// Units by which land is extended beyond 180 degrees: more than the margin of a tile of zoom 0, in units of zoom 6.
const BEYOND: i32 = BUFFER << 7;
/// A hundredth of a degree in 1e-7 degrees.
const STEP: i64 = 100_000;
/// Distance in metres of Mercator's projection from the coasts of a snapshot within which the outline is not used:
/// several times its error.
const NEAR: f64 = 20_000.0;

/// Returns the rings of the sea in a tile: `sea` in the surroundings of the snapshot's coasts, which are between `low`
/// and `high`, and the sea by the outline elsewhere.
pub fn sea_around(
    tile: TileId,
    sea: Vec<Vec<TilePoint>>,
    [low, high]: [TilePoint; 2],
    tolerance: i32,
) -> Vec<Vec<TilePoint>> {
    let near = (NEAR / tile.square_metres().sqrt()) as i32;
    let (west, east) = ((low.x - near).max(LOW), (high.x + near).min(HIGH));
    let (north, south) = ((low.y - near).max(LOW), (high.y + near).min(HIGH));
    if west == LOW && east == HIGH && north == LOW && south == HIGH {
        return sea;
    }
    // Land is on the left of its rings: they run counterclockwise.
    let counterclockwise = |west, north, east, south| -> Vec<TilePoint> {
        let corners = [(west, north), (west, south), (east, south), (east, north), (west, north)];
        corners.into_iter().map(|(x, y)| TilePoint { x, y }).collect()
    };
    let surroundings = counterclockwise(west, north, east, south);
    let outline = outside(rings(tile).into_iter().map(|ring| simplify(ring, tolerance)).collect());
    let elsewhere = outside(outline.into_iter().map(reversed).chain([surroundings.clone()]).collect());
    let rest = [counterclockwise(LOW, LOW, HIGH, HIGH), reversed(surroundings)];
    let here = outside(sea.into_iter().map(reversed).chain(rest).collect());
    outside(elsewhere.into_iter().chain(here).map(reversed).collect())
}

fn reversed(mut ring: Vec<TilePoint>) -> Vec<TilePoint> {
    ring.reverse();
    ring
}

/// Returns the rings of the Earth's land in units of a tile, land on their left.
pub fn rings(tile: TileId) -> Vec<Vec<TilePoint>> {
    let mut bytes = LAND;
    let mut rings = Vec::new();
    while let Some(length) = number(&mut bytes) {
        let (mut ring, mut lat, mut lon) = (Vec::new(), 0, 0);
        for _ in 0..length {
            let (Some(east), Some(north)) = (number(&mut bytes), number(&mut bytes)) else { break };
            lon += signed(east);
            lat += signed(north);
            let TilePoint { x, y } = tile.point(Coord { lat: (lat * STEP) as i32, lon: (lon * STEP) as i32 });
            // Land at 180 degrees goes on beyond it, so that tiles at the end of the world have no coast there.
            let beyond = if lon.abs() == 180 * 100 { lon.signum() as i32 * BEYOND } else { 0 };
            ring.push(TilePoint { x: x + beyond, y });
        }
        ring.dedup();
        rings.push(ring);
    }
    rings
}

/// Reads a number in LEB128. Returns `None` at the end.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 127) << shift;
        if first & 128 == 0 {
            return Some(value);
        }
        shift += 7;
    }
}

/// Decodes a zigzag-encoded number.
fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::twice_area;

    /// The share of sea in the tile of zoom 6 with this position.
    fn sea(lat: i32, lon: i32) -> f64 {
        let world = TileId::first(6).point(Coord { lat: lat * 10_000_000, lon: lon * 10_000_000 });
        let tile = TileId::new(6, world.x as u32 / 4096, world.y as u32 / 4096).expect("a tile");
        let sea: i64 = outside(rings(tile)).iter().map(|ring| twice_area(ring)).sum();
        sea as f64 / (2 * i64::from(HIGH - LOW).pow(2)) as f64
    }

    #[test]
    fn continents_and_oceans_are_where_they_are() {
        // The Sahara, Siberia, the Amazon basin, Antarctica, Chukotka.
        for (lat, lon) in [(23, 10), (66, 100), (-6, -62), (-80, 40), (67, 178)] {
            assert!(sea(lat, lon) < 0.3, "{lat} {lon}");
        }
        // The Atlantic, the Pacific, the Norwegian Sea, the Southern Ocean.
        for (lat, lon) in [(30, -40), (0, -140), (69, 3), (-58, 100)] {
            assert!(sea(lat, lon) > 0.5, "{lat} {lon}");
        }
        // Coasts: Chukotka beyond 180 degrees, the Caspian Sea, Malta with a part of Sicily.
        for (lat, lon) in [(67, -178), (42, 51), (36, 14)] {
            assert!((0.1..0.95).contains(&sea(lat, lon)), "{lat} {lon}");
        }
    }

    #[test]
    fn the_outline_is_whole() {
        let world = TileId::first(6);
        let rings = rings(world);
        assert!(rings.len() > 1000);
        assert!(rings.iter().all(|ring| ring.len() > 2 && ring.first() == ring.last()));
        // The steps are read to the last one: land is 29 % of the Earth, and more of Mercator's projection.
        let land: i64 = -rings.iter().map(|ring| twice_area(ring)).sum::<i64>() / 2;
        let share = land as f64 / f64::from(1 << 18).powi(2);
        assert!((0.29..0.5).contains(&share), "{share}");
    }
}
