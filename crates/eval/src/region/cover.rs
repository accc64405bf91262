//! Covers boxes by a limited number of disjoint rectangles, and writes them as GeoJSON or as a .poly file.

use std::collections::BinaryHeap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use terrapin_osm::BoundingBox;

/// The maximum number of positions at which a rectangle is tried to be cut, for each axis.
const CUTS: usize = 24;
/// The Earth's mean radius in kilometres.
const RADIUS: f64 = 6371.0088;
/// The part of a rectangle's area that a cut has to save: more than the rounding of areas.
const SAVED: f64 = 1e-9;

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
                number += halves.iter().flatten().count().saturating_sub(1);
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
    // Both sides are within the box, which ends before the next position, or at a pole or the antimeridian.
    let degrees = |side: i64, most: i64| (side.min(most) as f64 / 1e7).to_radians();
    let latitude = |side: i64| degrees(side, 900_000_000);
    let longitude = |side: i64| degrees(side, 1_800_000_000);
    let (south, north) = (latitude(area.south.into()), latitude(i64::from(area.north) + 1));
    let (west, east) = (longitude(area.west.into()), longitude(i64::from(area.east) + 1));
    // The difference of the sines of both latitudes, as a product that stays exact for small boxes.
    let height = 2.0 * libm::cos((south + north) / 2.0) * libm::sin((north - south) / 2.0);
    RADIUS * RADIUS * (east - west) * height.max(0.0)
}

/// Returns whether boxes together contain a box.
pub(super) fn is_covered(area: &BoundingBox, boxes: &[BoundingBox]) -> bool {
    let mut rest: Vec<BoundingBox> = split(area).into_iter().filter(|piece| !piece.is_empty()).collect();
    for cover in boxes.iter().flat_map(split) {
        rest = rest.iter().flat_map(|piece| outside(piece, &cover)).collect();
        if rest.is_empty() {
            return true;
        }
    }
    rest.is_empty()
}

/// Returns the parts of a box outside of another: below, above, left and right of it. Neither crosses the antimeridian.
fn outside(area: &BoundingBox, cover: &BoundingBox) -> Vec<BoundingBox> {
    if cover.is_empty() || !area.intersects(cover) {
        return vec![*area];
    }
    let middle = BoundingBox { south: area.south.max(cover.south), north: area.north.min(cover.north), ..*area };
    let parts = [
        BoundingBox { north: cover.south.saturating_sub(1), ..*area },
        BoundingBox { south: cover.north.saturating_add(1), ..*area },
        BoundingBox { east: cover.west.saturating_sub(1), ..middle },
        BoundingBox { west: cover.east.saturating_add(1), ..middle },
    ];
    parts.into_iter().filter(|part| !part.is_empty() && part.west <= part.east).collect()
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
            true => [piece.south.saturating_sub(1), piece.north],
            false => [piece.west.saturating_sub(1), piece.east],
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
            if saved > best.map_or(SAVED * whole, |best| best.saved) {
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
        (below.north, above.south) = (cut.at, cut.at.saturating_add(1));
    } else {
        (below.east, above.west) = (cut.at, cut.at.saturating_add(1));
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

    /// A sphere with a radius of 6371.0088 km has 510,065,884 km². Half of it lies between the 30th parallels, since a
    /// zone's area grows with the sine of its latitude.
    #[test]
    fn sizes_are_those_on_a_sphere() {
        let globe = 4.0 * std::f64::consts::PI * 6371.0088 * 6371.0088;
        assert!((globe - 510_065_884.0).abs() < 1000.0, "{globe}");
        for (area, part) in [
            (degrees(-90, -180, 90, 180), 1.0),
            (degrees(-30, -180, 30, 180), 0.5),
            (degrees(30, -180, 90, 180), 0.25),
            (degrees(-90, 0, 0, 90), 0.125),
            (degrees(0, 170, 90, -170), 1.0 / 36.0),
        ] {
            let size = square_kilometres(&[area]);
            assert!((size / globe - part).abs() < 1e-6, "{area:?} {size}");
        }
        let point = square_kilometres(&[degrees(60, 5, 60, 5)]);
        assert!(point > 0.0 && point < 1e-9, "{point}");
    }

    #[test]
    fn points_are_cut_apart() {
        let points = [degrees(0, 0, 0, 0), BoundingBox { south: 3, west: 4, north: 3, east: 4 }];
        assert_eq!(cover(&points, 4), points);
    }

    #[test]
    fn boxes_are_covered_by_several() {
        let halves = [degrees(0, 0, 10, 5), BoundingBox { west: 50_000_001, ..degrees(0, 5, 10, 10) }];
        assert!(is_covered(&degrees(0, 0, 10, 10), &halves) && is_covered(&degrees(2, 3, 4, 8), &halves));
        assert!(!is_covered(&degrees(0, 0, 11, 10), &halves) && !is_covered(&degrees(20, 0, 21, 1), &halves));
        let pacific = [degrees(-20, 170, 20, -170)];
        assert!(is_covered(&degrees(-10, 175, 10, -175), &pacific));
        assert!(!is_covered(&degrees(-10, 165, 10, -175), &pacific) && !is_covered(&degrees(0, 0, 1, 1), &[]));
        assert!(is_covered(&BoundingBox::EMPTY, &[]));
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
