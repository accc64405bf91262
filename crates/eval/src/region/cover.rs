//! Covers boxes by a limited number of disjoint rectangles, and writes them as GeoJSON or as a .poly file.

use std::collections::BinaryHeap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use terrapin_osm::BoundingBox;

/// The maximum number of positions at which a rectangle is tried to be cut, for each axis.
const CUTS: usize = 24;
/// Kilometres of a degree of latitude: a 360th of the Earth's mean circumference.
const KILOMETRES: f64 = 111.195;

/// Returns at most `most` disjoint rectangles that together contain all boxes. Boxes across the antimeridian are split.
/// Starting with one rectangle, the one whose cut saves most area is cut, until `most` is reached or no cut saves area.
pub fn cover(boxes: &[BoundingBox], most: usize) -> Vec<BoundingBox> {
    let mut pieces: Vec<BoundingBox> = Vec::new();
    for area in boxes.iter().filter(|area| !area.is_empty()) {
        let (parts, n) = area.split();
        pieces.extend_from_slice(&parts[..n]);
    }
    pieces.sort_unstable_by_key(corners);
    pieces.dedup();
    let Some(first) = CoverNode::of(pieces) else { return Vec::new() };
    let (mut open, mut number) = (BinaryHeap::from([first]), 1);
    let mut done = Vec::new();
    while let Some(node) = open.pop() {
        match node.cut.filter(|_| number < most.max(1)) {
            None => done.push(node.bounds),
            Some(cut) => {
                let halves = halves(&node.pieces, &node.bounds, cut).map(CoverNode::of);
                number += halves.iter().flatten().count() - 1;
                open.extend(halves.into_iter().flatten());
            }
        }
    }
    done.sort_unstable_by_key(corners);
    done
}

/// Returns the area of boxes in square kilometres on a sphere; overlaps count several times.
pub fn square_kilometres(boxes: &[BoundingBox]) -> f64 {
    boxes.iter().flat_map(split).map(|area| size(&area)).sum()
}

/// Returns disjoint rectangles as GeoJSON: one feature with a multipolygon.
pub fn to_geojson(rectangles: &[BoundingBox]) -> Value {
    let polygons: Vec<Value> = rectangles.iter().map(|area| json!([ring(area)])).collect();
    let feature = json!({"type": "Feature", "properties": {"rectangles": rectangles.len()},
        "geometry": {"type": "MultiPolygon", "coordinates": polygons}});
    json!({"type": "FeatureCollection", "features": [feature]})
}

/// Returns disjoint rectangles in Osmosis' format.
pub fn to_poly(rectangles: &[BoundingBox]) -> String {
    let mut text = "benchmark\n".to_owned();
    for (number, area) in (1..).zip(rectangles) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{number}");
        for [lon, lat] in ring(area) {
            let _ = writeln!(text, "   {lon:.7}   {lat:.7}");
        }
        text.push_str("END\n");
    }
    text + "END\n"
}

/// Returns the corners, counterclockwise, as longitude and latitude; the last is the first.
fn ring(area: &BoundingBox) -> [[f64; 2]; 5] {
    let [south, west, north, east] = [area.south, area.west, area.north, area.east].map(|side| f64::from(side) / 1e7);
    [[west, south], [east, south], [east, north], [west, north], [west, south]]
}

fn split(area: &BoundingBox) -> Vec<BoundingBox> {
    let (parts, n) = area.split();
    parts.into_iter().take(n).collect()
}

fn corners(area: &BoundingBox) -> [i32; 4] {
    [area.south, area.west, area.north, area.east]
}

/// Returns the size of a box that does not cross the antimeridian, in square kilometres.
fn size(area: &BoundingBox) -> f64 {
    if area.is_empty() || area.west > area.east {
        return 0.0;
    }
    let middle = (f64::from(area.south) + f64::from(area.north)) / 2e7;
    let side = |from: i32, to: i32| (f64::from(to) - f64::from(from) + 1.0) / 1e7 * KILOMETRES;
    side(area.south, area.north) * side(area.west, area.east) * libm::cos(middle.to_radians()).max(0.0)
}

/// Where a rectangle is cut: the last value of the lower half.
#[derive(Debug, Clone, Copy)]
struct RectangleCut {
    by_latitude: bool,
    at: i32,
    /// The area that it saves, in square kilometres.
    saved: f64,
}

/// A rectangle around pieces, with its best cut.
#[derive(Debug)]
struct CoverNode {
    pieces: Vec<BoundingBox>,
    bounds: BoundingBox,
    cut: Option<RectangleCut>,
}

impl CoverNode {
    fn of(pieces: Vec<BoundingBox>) -> Option<CoverNode> {
        let mut pieces_bounds = pieces.iter();
        let mut bounds = *pieces_bounds.next()?;
        pieces_bounds.for_each(|piece| bounds.union(piece));
        let whole = pieces.contains(&bounds);
        let cut = if whole { None } else { best_cut(&pieces, &bounds) };
        Some(CoverNode { pieces, bounds, cut })
    }

    fn key(&self) -> f64 {
        self.cut.map_or(0.0, |cut| cut.saved)
    }
}

impl Ord for CoverNode {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().total_cmp(&other.key()).then_with(|| corners(&other.bounds).cmp(&corners(&self.bounds)))
    }
}

impl PartialOrd for CoverNode {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for CoverNode {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for CoverNode {}

/// Returns the cut that saves most area. Cuts are tried at the sides of pieces.
fn best_cut(pieces: &[BoundingBox], bounds: &BoundingBox) -> Option<RectangleCut> {
    let mut best: Option<RectangleCut> = None;
    let whole = size(bounds);
    for by_latitude in [false, true] {
        let side = |piece: &BoundingBox| match by_latitude {
            true => [piece.south - 1, piece.north],
            false => [piece.west - 1, piece.east],
        };
        let (low, high) = if by_latitude { (bounds.south, bounds.north) } else { (bounds.west, bounds.east) };
        let mut places: Vec<i32> = pieces.iter().flat_map(side).filter(|at| (low..high).contains(at)).collect();
        places.sort_unstable();
        places.dedup();
        let step = places.len().div_ceil(CUTS).max(1);
        for &at in places.iter().step_by(step) {
            let cut = RectangleCut { by_latitude, at, saved: 0.0 };
            let left: f64 = halves(pieces, bounds, cut).iter().map(|half| size(&bounds_of(half))).sum();
            let saved = whole - left;
            if saved > best.map_or(1e-9, |best| best.saved) {
                best = Some(RectangleCut { saved, ..cut });
            }
        }
    }
    best
}

fn bounds_of(pieces: &[BoundingBox]) -> BoundingBox {
    let mut bounds = BoundingBox::EMPTY;
    pieces.iter().for_each(|piece| bounds.union(piece));
    bounds
}

/// Returns the parts of the pieces below and above a cut.
fn halves(pieces: &[BoundingBox], bounds: &BoundingBox, cut: RectangleCut) -> [Vec<BoundingBox>; 2] {
    let (mut below, mut above) = (*bounds, *bounds);
    if cut.by_latitude {
        (below.north, above.south) = (cut.at, cut.at + 1);
    } else {
        (below.east, above.west) = (cut.at, cut.at + 1);
    }
    [below, above].map(|half| {
        let within = |piece: &BoundingBox| BoundingBox {
            south: piece.south.max(half.south),
            west: piece.west.max(half.west),
            north: piece.north.min(half.north),
            east: piece.east.min(half.east),
        };
        pieces.iter().map(within).filter(|piece| !piece.is_empty() && piece.west <= piece.east).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees(south: i32, west: i32, north: i32, east: i32) -> BoundingBox {
        let [south, west, north, east] = [south, west, north, east].map(|side| side * 10_000_000);
        BoundingBox { south, west, north, east }
    }

    fn share_a_point(a: &BoundingBox, b: &BoundingBox) -> bool {
        a.south <= b.north && a.north >= b.south && a.west <= b.east && a.east >= b.west
    }

    #[test]
    fn separate_boxes_stay_exact() {
        let boxes = [degrees(0, 0, 1, 1), degrees(50, 10, 51, 12), degrees(-30, 100, -29, 101)];
        let mut sorted = boxes.to_vec();
        sorted.sort_unstable_by_key(corners);
        assert_eq!(cover(&boxes, 8), sorted);
        assert_eq!(cover(&boxes, 1), [degrees(-30, 0, 51, 101)]);
        assert_eq!(cover(&[], 8), []);
    }

    #[test]
    fn rectangles_are_disjoint_and_contain_all_boxes() {
        let boxes: Vec<BoundingBox> =
            (0..40).map(|i| degrees(i % 7, 2 * (i % 11), i % 7 + 1 + i % 3, 2 * (i % 11) + 1 + i % 5)).collect();
        for most in [1, 4, 16, 64] {
            let found = cover(&boxes, most);
            assert!(found.len() <= most, "{most}");
            for (i, a) in found.iter().enumerate() {
                assert!(found.iter().skip(i + 1).all(|b| !share_a_point(a, b)), "{most}");
            }
            for area in &boxes {
                for (lat, lon) in
                    [(area.south, area.west), (area.north, area.east), (area.south, area.east), (area.north, area.west)]
                {
                    let at = terrapin_osm::Coord { lat, lon };
                    assert!(found.iter().any(|rectangle| rectangle.contains(at)), "{most}");
                }
            }
        }
    }

    #[test]
    fn boxes_across_the_antimeridian_are_split() {
        let found = cover(&[degrees(-20, 177, -10, -178)], 4);
        assert_eq!(found, [degrees(-20, -180, -10, -178), degrees(-20, 177, -10, 180)]);
    }

    /// A degree at the equator has 111.195 km: 40,030 km / 360.
    #[test]
    fn sizes() {
        let size = square_kilometres(&[degrees(0, 0, 1, 1)]);
        assert!((size - 111.195 * 111.195).abs() < 1.0, "{size}");
    }

    #[test]
    fn files_have_closed_rings() {
        let rectangles = [degrees(0, 1, 2, 3)];
        let ring = &to_geojson(&rectangles)["features"][0]["geometry"]["coordinates"][0][0];
        assert_eq!(*ring, json!([[1.0, 0.0], [3.0, 0.0], [3.0, 2.0], [1.0, 2.0], [1.0, 0.0]]));
        let poly = to_poly(&rectangles);
        assert!(poly.starts_with("benchmark\n1\n   1.0000000   0.0000000\n") && poly.ends_with("END\nEND\n"));
    }
}
