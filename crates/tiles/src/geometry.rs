//! Simplification and clipping of lines and rings in units of a tile. They are simplified as a whole and clipped
//! afterwards, so that neighbouring tiles agree.

use terrapin_budget as budget;
use terrapin_osm::Coord;
use terrapin_osm::outline::{self, Line};

use super::place::{BUFFER, EXTENT, TileId, TilePoint};

/// The least coordinate of the box to which features are clipped.
pub const LOW: i32 = -BUFFER;
/// The greatest coordinate of that box.
pub const HIGH: i32 = EXTENT + BUFFER;

/// Returns the positions of a line in units, without missing positions and repetitions.
pub fn project(tile: TileId, line: &[Coord]) -> Vec<TilePoint> {
    budget::checkpoints(line.len() / 8);
    let mut points: Vec<TilePoint> = Vec::with_capacity(line.len());
    for c in line.iter().filter(|c| !c.is_missing()) {
        let point = tile.point(*c);
        if points.last() != Some(&point) {
            points.push(point);
        }
    }
    points
}

/// Returns whether the bounding box of these points meets the tile and its margin.
pub fn is_near(points: &[TilePoint]) -> bool {
    let (low, high) = extremes(points);
    low.x <= HIGH && high.x >= LOW && low.y <= HIGH && high.y >= LOW
}

/// Returns the bounding box of points.
pub fn extremes(points: &[TilePoint]) -> (TilePoint, TilePoint) {
    let mut low = TilePoint { x: i32::MAX, y: i32::MAX };
    let mut high = TilePoint { x: i32::MIN, y: i32::MIN };
    for point in points {
        low = TilePoint { x: low.x.min(point.x), y: low.y.min(point.y) };
        high = TilePoint { x: high.x.max(point.x), y: high.y.max(point.y) };
    }
    (low, high)
}

/// Removes points closer than `tolerance` units to the line without them (Douglas and Peucker's algorithm).
pub fn simplify(points: Vec<TilePoint>, tolerance: i32) -> Vec<TilePoint> {
    if tolerance == 0 || points.len() < 3 {
        return points;
    }
    let limit = f64::from(tolerance) * f64::from(tolerance);
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[points.len() - 1] = true;
    let mut parts = vec![(0, points.len() - 1)];
    while let Some((from, to)) = parts.pop() {
        budget::checkpoints(1 + (to - from) / 8);
        let mut farthest = (limit, 0);
        for at in from + 1..to {
            let distance = squared_distance(points[at], points[from], points[to]);
            if distance > farthest.0 {
                farthest = (distance, at);
            }
        }
        if farthest.1 > 0 {
            keep[farthest.1] = true;
            parts.push((from, farthest.1));
            parts.push((farthest.1, to));
        }
    }
    let mut kept = keep.iter();
    let mut points = points;
    points.retain(|_| kept.next().copied().unwrap_or(true));
    points
}

/// Returns the squared distance of a point from a segment.
fn squared_distance(p: TilePoint, a: TilePoint, b: TilePoint) -> f64 {
    let (dx, dy) = (f64::from(b.x - a.x), f64::from(b.y - a.y));
    let (px, py) = (f64::from(p.x - a.x), f64::from(p.y - a.y));
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    let (x, y) = (px - along * dx, py - along * dy);
    x * x + y * y
}

/// Returns the parts of a line within the tile and its margin.
pub fn clip_line(points: &[TilePoint]) -> Vec<Vec<TilePoint>> {
    let inside = |p: &TilePoint| (LOW..=HIGH).contains(&p.x) && (LOW..=HIGH).contains(&p.y);
    let mut pieces: Vec<Vec<TilePoint>> = Vec::new();
    if points.iter().all(inside) {
        pieces.push(points.to_vec());
    } else {
        let mut goes_on = false;
        for pair in points.windows(2) {
            let Some((a, b)) = clip_segment(pair[0], pair[1]) else {
                goes_on = false;
                continue;
            };
            match pieces.last_mut() {
                Some(piece) if goes_on && piece.last() == Some(&a) => piece.push(b),
                _ => pieces.push(vec![a, b]),
            }
            goes_on = b == pair[1];
        }
    }
    // Simplification can shrink a closed line to a single point.
    pieces.iter_mut().for_each(|piece| piece.dedup());
    pieces.retain(|piece| piece.len() > 1);
    pieces
}

/// Returns the part of a segment in the box (Liang and Barsky's algorithm).
fn clip_segment(a: TilePoint, b: TilePoint) -> Option<(TilePoint, TilePoint)> {
    let (dx, dy) = (f64::from(b.x) - f64::from(a.x), f64::from(b.y) - f64::from(a.y));
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (step, room) in [
        (-dx, f64::from(a.x) - f64::from(LOW)),
        (dx, f64::from(HIGH) - f64::from(a.x)),
        (-dy, f64::from(a.y) - f64::from(LOW)),
        (dy, f64::from(HIGH) - f64::from(a.y)),
    ] {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            from = from.max(room / step);
        } else {
            to = to.min(room / step);
        }
    }
    if from > to {
        return None;
    }
    let at = |part: f64| TilePoint {
        x: libm::round(f64::from(a.x) + part * dx) as i32,
        y: libm::round(f64::from(a.y) + part * dy) as i32,
    };
    let begin = if from > 0.0 { at(from) } else { a };
    let end = if to < 1.0 { at(to) } else { b };
    Some((begin, end))
}

/// Clips the area that rings enclose to the tile with its margin. Returns the rings of valid polygons: outer rings run
/// clockwise on the screen, each before its holes. The first `outers` of the given rings are outer ones.
///
/// Rounding and simplification can make rings cross or touch. They get points where they do, before they are clipped,
/// so that neighbouring tiles have the same points in their common margin.
pub fn clip_rings(rings: Vec<Vec<TilePoint>>, outers: usize) -> Vec<Vec<TilePoint>> {
    let is_inside = rings.iter().flatten().all(|p| is_in_box(*p));
    let rings = if is_inside { rings } else { rings.into_iter().map(without_far_points).collect() };
    let mut lines: Vec<Line> = rings.iter().map(|ring| ring.iter().map(coord).collect()).collect();
    let is_sound = outline::is_sound(&lines, outers);
    if is_inside && is_sound {
        return rings;
    }
    if !is_sound {
        lines = outline::repair(&lines).into_iter().flatten().collect();
    }
    into_box(outline::clip(&lines, BOX))
}

/// Returns the part of the tile and its margin outside of areas, in the form of [`clip_rings`]. The area of a ring is
/// on its left; a ring in the other direction is a hole. Rings may cross and overlap.
pub fn outside(rings: Vec<Vec<TilePoint>>) -> Vec<Vec<TilePoint>> {
    let rings = rings.into_iter().map(without_far_points);
    let lines: Vec<Line> = rings.map(|ring| ring.iter().map(coord).collect()).collect();
    into_box(outline::outside(&lines, BOX))
}

/// The tile and its margin.
const BOX: [Coord; 2] = [Coord { lat: -HIGH, lon: LOW }, Coord { lat: -LOW, lon: HIGH }];

/// Returns the rings of clipped polygons, with all points within [`BOX`].
fn into_box(mut polygons: Vec<Vec<Line>>) -> Vec<Vec<TilePoint>> {
    // A point where two borders cross close to the box may be rounded to a unit outside of it. Points between points of
    // the box are rounded into it.
    if polygons.iter().flatten().flatten().any(|c| !is_in_box(point(c))) {
        let clamped = |c: &Coord| Coord { lat: c.lat.clamp(-HIGH, -LOW), lon: c.lon.clamp(LOW, HIGH) };
        let lines: Vec<Line> = polygons.iter().flatten().map(|ring| ring.iter().map(clamped).collect()).collect();
        polygons = outline::repair(&lines);
    }
    // The outer rings run counterclockwise.
    polygons.iter().flatten().map(|ring| ring.iter().rev().map(point).collect()).collect()
}

fn is_in_box(p: TilePoint) -> bool {
    (LOW..=HIGH).contains(&p.x) && (LOW..=HIGH).contains(&p.y)
}

/// Converts a point to the coordinates of `outline`, where north is up.
fn coord(p: &TilePoint) -> Coord {
    Coord { lat: -p.y, lon: p.x }
}

/// The inverse of [`coord`].
fn point(c: &Coord) -> TilePoint {
    TilePoint { x: c.lon, y: -c.lat }
}

/// Distance from the tile in units beyond which rings are shortened: twice the margin, so that the margin stays
/// unchanged.
const FAR: i32 = 2 * BUFFER;

/// Returns a ring without most of the points that are far from the tile. Of consecutive points beyond the same side of
/// the tile only the first and the last stay. All segments that come near the tile stay unchanged.
fn without_far_points(ring: Vec<TilePoint>) -> Vec<TilePoint> {
    let beyond = [
        |p: &TilePoint| p.x < -FAR,
        |p: &TilePoint| p.x > EXTENT + FAR,
        |p: &TilePoint| p.y < -FAR,
        |p: &TilePoint| p.y > EXTENT + FAR,
    ];
    budget::checkpoints(ring.len() / 8);
    let mut kept: Vec<TilePoint> = Vec::with_capacity(ring.len());
    for point in ring {
        if let [.., first, second] = kept[..]
            && beyond.iter().any(|is_beyond| is_beyond(&first) && is_beyond(&second) && is_beyond(&point))
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

/// Returns twice the area of a ring in square units; positive if the ring runs clockwise on the screen.
pub fn twice_area(ring: &[TilePoint]) -> i64 {
    ring.windows(2)
        .map(|side| i64::from(side[0].x) * i64::from(side[1].y) - i64::from(side[1].x) * i64::from(side[0].y))
        .sum()
}

/// Returns the centroid of a ring's area, or the centre of its bounding box if the area is 0.
pub fn centroid(ring: &[TilePoint]) -> Option<TilePoint> {
    let origin = *ring.first()?;
    let (mut twice, mut x, mut y) = (0.0, 0.0, 0.0);
    for side in ring.windows(2) {
        let [(ax, ay), (bx, by)] =
            [side[0], side[1]].map(|p| (f64::from(p.x) - f64::from(origin.x), f64::from(p.y) - f64::from(origin.y)));
        let part = ax * by - bx * ay;
        twice += part;
        x += (ax + bx) * part;
        y += (ay + by) * part;
    }
    if twice == 0.0 {
        let (low, high) = extremes(ring);
        return Some(TilePoint { x: low.x + (high.x - low.x) / 2, y: low.y + (high.y - low.y) / 2 });
    }
    Some(TilePoint {
        x: libm::round(f64::from(origin.x) + x / (3.0 * twice)) as i32,
        y: libm::round(f64::from(origin.y) + y / (3.0 * twice)) as i32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: &[(i32, i32)]) -> Vec<TilePoint> {
        all.iter().map(|&(x, y)| TilePoint { x, y }).collect()
    }

    #[test]
    fn lines_are_cut_at_the_border() {
        let line = points(&[(0, 0), (10_000, 0), (10_000, 100), (0, 100)]);
        assert_eq!(clip_line(&line), [points(&[(0, 0), (HIGH, 0)]), points(&[(HIGH, 100), (0, 100)])]);
        assert_eq!(clip_line(&points(&[(-9000, 5), (9000, 5)])), [points(&[(LOW, 5), (HIGH, 5)])]);
        assert!(clip_line(&points(&[(9000, 0), (9000, 90)])).is_empty());
        assert!(clip_line(&simplify(points(&[(0, 0), (2, 0), (2, 2), (0, 0)]), 4)).is_empty());
        assert!(clip_line(&points(&[(-9000, 4000), (4000, 17_000)])).is_empty());
    }

    #[test]
    fn rings_are_closed_again_along_the_border() {
        let clip = |ring: &[(i32, i32)]| clip_rings(vec![points(ring)], 1);
        let rings = clip(&[(-9000, -9000), (9000, -9000), (9000, 9000), (-9000, 9000), (-9000, -9000)]);
        assert_eq!(rings.len(), 1);
        assert_eq!(twice_area(&rings[0]), 2 * i64::from(HIGH - LOW).pow(2));
        assert_eq!(rings[0].first(), rings[0].last());
        assert!(clip(&[(9000, 0), (9500, 0), (9500, 10), (9000, 0)]).is_empty());
    }

    /// A comb with its back outside of the box: each tooth is a polygon. An algorithm that clips side by side would
    /// connect them along the border, which is not valid (OGC 06-103r4, 6.1.11.1).
    #[test]
    fn pieces_are_polygons_of_their_own() {
        let far = HIGH + 1000;
        let comb =
            [(0, 0), (far, 0), (far, 500), (0, 500), (0, 400), (far - 100, 400), (far - 100, 100), (0, 100), (0, 0)];
        let rings = clip_rings(vec![points(&comb)], 1);
        assert_eq!(rings.len(), 2);
        assert!(rings.iter().all(|ring| twice_area(ring) == 2 * 100 * i64::from(HIGH)), "{rings:?}");
    }

    #[test]
    fn rings_that_cross_get_points_there() {
        let bow = [(0, 0), (100, 100), (100, 0), (0, 100), (0, 0)];
        let rings = clip_rings(vec![points(&bow)], 1);
        assert_eq!(rings.len(), 2);
        assert!(rings.iter().all(|ring| twice_area(ring) == 5000 && ring.contains(&TilePoint { x: 50, y: 50 })));
        let square = vec![points(&[(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)])];
        assert_eq!(clip_rings(square.clone(), 1), square);
    }

    /// Random rings that cross themselves and each other at the seam of two tiles: both tiles have the same points in
    /// their margins, except at the edge, where the cut rounds. No point is outside of the box, and the polygons are
    /// valid.
    #[test]
    fn neighbours_agree_on_repaired_rings() {
        let mut state = 7_u64;
        let mut random = |below: i32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i32 % below
        };
        let (mut compared, mut differing) = (0, 0);
        for round in 0..2000 {
            let reach = if round % 2 == 0 { 300 } else { 9000 };
            let rings: Vec<Vec<TilePoint>> = (0..1 + random(3))
                .map(|_| {
                    let mut ring: Vec<TilePoint> = (0..4 + random(12))
                        .map(|_| TilePoint { x: EXTENT + random(2 * reach) - reach, y: random(2 * reach) - reach / 2 })
                        .collect();
                    ring.push(ring[0]);
                    if twice_area(&ring) < 0 {
                        ring.reverse();
                    }
                    ring
                })
                .collect();
            let east = |by: i32| -> Vec<Vec<TilePoint>> {
                let moved = |p: &TilePoint| TilePoint { x: p.x - by, y: p.y };
                rings.iter().map(|ring| ring.iter().map(moved).collect()).collect()
            };
            let seen = |by: i32| -> Vec<TilePoint> {
                let clipped = clip_rings(east(by), rings.len());
                let lines: Vec<Line> = clipped.iter().map(|ring| ring.iter().map(coord).collect()).collect();
                let outers = clipped.iter().filter(|ring| twice_area(ring) > 0).count();
                assert!(clipped.is_empty() || outline::is_sound(&lines, outers));
                assert!(clipped.iter().flatten().all(|p| is_in_box(*p)));
                let mut points: Vec<TilePoint> =
                    clipped.into_iter().flatten().map(|p| TilePoint { x: p.x + by, y: p.y }).collect();
                points.retain(|p| (p.x - EXTENT).abs() < BUFFER - 2 && (LOW + 2..HIGH - 2).contains(&p.y));
                points.sort_unstable();
                points.dedup();
                points
            };
            let (west, east) = (seen(0), seen(EXTENT));
            compared += west.len();
            differing += west.iter().filter(|p| !east.contains(p)).count();
            differing += east.iter().filter(|p| !west.contains(p)).count();
        }
        assert!(compared > 10_000 && differing * 2000 <= compared, "{differing} of {compared}");
    }

    #[test]
    fn the_sea_is_outside_of_overlapping_land() {
        let square = |x: i32, side: i32| points(&[(x, 0), (x, side), (x + side, side), (x + side, 0), (x, 0)]);
        let whole = 2 * i64::from(HIGH - LOW).pow(2);
        let area = |rings: Vec<Vec<TilePoint>>| outside(rings).iter().map(|ring| twice_area(ring)).sum::<i64>();
        assert_eq!(area(vec![]), whole);
        assert_eq!(area(vec![square(0, 1000)]), whole - 2_000_000);
        assert_eq!(area(vec![square(0, 1000), square(500, 1000)]), whole - 3_000_000);
        // A ring in the other direction is water in the land.
        let lake: Vec<TilePoint> = square(200, 100).into_iter().rev().collect();
        assert_eq!(area(vec![square(0, 1000), lake]), whole - 1_980_000);
        let everywhere = points(&[(-9000, -9000), (-9000, 9000), (9000, 9000), (9000, -9000), (-9000, -9000)]);
        assert_eq!(area(vec![everywhere]), 0);
    }

    #[test]
    fn what_is_nearly_straight_is_straightened() {
        let line = points(&[(0, 0), (10, 1), (20, -1), (30, 0), (30, 50)]);
        assert_eq!(simplify(line.clone(), 2), points(&[(0, 0), (30, 0), (30, 50)]));
        assert_eq!(simplify(line.clone(), 0), line);
        let ring = points(&[(0, 0), (100, 0), (100, 100), (50, 101), (0, 100), (0, 0)]);
        assert_eq!(simplify(ring, 3).len(), 5);
    }

    #[test]
    fn the_middle_of_an_area() {
        assert_eq!(centroid(&points(&[(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)])), Some(TilePoint { x: 5, y: 5 }));
    }
}
