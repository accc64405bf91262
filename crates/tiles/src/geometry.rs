//! Lines and rings in units of a tile: simplified as a whole, so that neighbours agree on them, and then clipped.

use terrapin_budget as budget;
use terrapin_osm::Coord;
use terrapin_osm::outline::{self, Line};

use super::place::{BUFFER, EXTENT, Place, Point};

/// The first unit of the box to which features are clipped.
pub const LOW: i32 = -BUFFER;
/// The last one.
pub const HIGH: i32 = EXTENT + BUFFER;

/// The known positions of a line in units, none twice in a row.
pub fn project(tile: Place, line: &[Coord]) -> Vec<Point> {
    budget::checkpoints(line.len() / 8);
    let mut points: Vec<Point> = Vec::with_capacity(line.len());
    for c in line.iter().filter(|c| !c.is_missing()) {
        let point = tile.point(*c);
        if points.last() != Some(&point) {
            points.push(point);
        }
    }
    points
}

/// Whether something between these points may be seen in the tile or around it.
pub fn is_near(points: &[Point]) -> bool {
    let (low, high) = extremes(points);
    low.x <= HIGH && high.x >= LOW && low.y <= HIGH && high.y >= LOW
}

/// The corners of the box around points.
pub fn extremes(points: &[Point]) -> (Point, Point) {
    let mut low = Point { x: i32::MAX, y: i32::MAX };
    let mut high = Point { x: i32::MIN, y: i32::MIN };
    for point in points {
        low = Point { x: low.x.min(point.x), y: low.y.min(point.y) };
        high = Point { x: high.x.max(point.x), y: high.y.max(point.y) };
    }
    (low, high)
}

/// Leaves out points that are nearer than `tolerance` units to the line without them (Douglas and Peucker's way).
pub fn simplify(points: Vec<Point>, tolerance: i32) -> Vec<Point> {
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

/// The squared distance of a point from a segment.
fn squared_distance(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (f64::from(b.x - a.x), f64::from(b.y - a.y));
    let (px, py) = (f64::from(p.x - a.x), f64::from(p.y - a.y));
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    let (x, y) = (px - along * dx, py - along * dy);
    x * x + y * y
}

/// The pieces of a line that lie in the tile or around it.
pub fn clip_line(points: &[Point]) -> Vec<Vec<Point>> {
    let inside = |p: &Point| (LOW..=HIGH).contains(&p.x) && (LOW..=HIGH).contains(&p.y);
    let mut pieces: Vec<Vec<Point>> = Vec::new();
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
    // A closed line may be straightened to nothing: its two ends in one place.
    pieces.iter_mut().for_each(|piece| piece.dedup());
    pieces.retain(|piece| piece.len() > 1);
    pieces
}

/// The part of a segment in the box (Liang and Barsky's way).
fn clip_segment(a: Point, b: Point) -> Option<(Point, Point)> {
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
    let at = |part: f64| Point {
        x: libm::round(f64::from(a.x) + part * dx) as i32,
        y: libm::round(f64::from(a.y) + part * dy) as i32,
    };
    let begin = if from > 0.0 { at(from) } else { a };
    let end = if to < 1.0 { at(to) } else { b };
    Some((begin, end))
}

/// The part of what rings enclose that lies in the tile or around it, as the rings of valid polygons: outer ones run
/// clockwise as one sees them, each before its holes. `outers` is how many of the rings are outer ones. Rounding, straightening
/// and clipping make rings meet that did not: these get points where they do.
pub fn clip_rings(rings: Vec<Vec<Point>>, outers: usize) -> Vec<Vec<Point>> {
    let inside = |p: &Point| (LOW..=HIGH).contains(&p.x) && (LOW..=HIGH).contains(&p.y);
    let is_inside = rings.iter().flatten().all(inside);
    let line = |ring: &Vec<Point>| -> Line { ring.iter().map(|p| Coord { lat: -p.y, lon: p.x }).collect() };
    let lines: Vec<Line> = rings.iter().map(line).collect();
    if is_inside && outline::is_sound(&lines, outers) {
        return rings;
    }
    let lines: Vec<Line> =
        if is_inside { lines } else { rings.into_iter().map(shortened).map(|ring| line(&ring)).collect() };
    let corners = [Coord { lat: -HIGH, lon: LOW }, Coord { lat: -LOW, lon: HIGH }];
    let point = |c: &Coord| Point { x: c.lon, y: -c.lat };
    // What runs counterclockwise with north up does so as one sees it.
    let turned = |ring: &Line| -> Vec<Point> { ring.iter().rev().map(point).collect() };
    outline::clipped(&lines, corners).iter().flatten().map(turned).collect()
}

/// Rings of so many points are shortened before they are clipped.
const LONG: usize = 256;
/// The box to which they are.
const WIDE_LOW: i32 = LOW - BUFFER;
const WIDE_HIGH: i32 = HIGH + BUFFER;

/// The part of a long ring's inside that lies in a box twice as far around the tile, as a ring (Sutherland and Hodgman's way):
/// its pieces hang together along that box, where [`clip_rings`] cuts them apart.
fn shortened(ring: Vec<Point>) -> Vec<Point> {
    if ring.len() < LONG {
        return ring;
    }
    let mut points = ring;
    points.pop();
    for side in [Side::West, Side::East, Side::North, Side::South] {
        budget::checkpoints(points.len() / 8);
        let Some(&last) = points.last() else { return Vec::new() };
        let mut kept = Vec::with_capacity(points.len() + 4);
        let mut before = last;
        for &point in &points {
            match (side.has(before), side.has(point)) {
                (true, true) => kept.push(point),
                (true, false) => kept.push(side.crossing(before, point)),
                (false, true) => kept.extend([side.crossing(before, point), point]),
                (false, false) => {}
            }
            before = point;
        }
        points = kept;
    }
    points.dedup();
    if let Some(&first) = points.first()
        && points.last() != Some(&first)
    {
        points.push(first);
    }
    points
}

#[derive(Clone, Copy)]
enum Side {
    West,
    East,
    North,
    South,
}

impl Side {
    fn has(self, p: Point) -> bool {
        match self {
            Side::West => p.x >= WIDE_LOW,
            Side::East => p.x <= WIDE_HIGH,
            Side::North => p.y >= WIDE_LOW,
            Side::South => p.y <= WIDE_HIGH,
        }
    }

    /// Where the segment crosses it, which it does.
    fn crossing(self, a: Point, b: Point) -> Point {
        let along = |at: i32, (a0, a1): (i32, i32), (b0, b1): (i32, i32)| {
            let part = (f64::from(at) - f64::from(a0)) / (f64::from(b0) - f64::from(a0));
            libm::round(f64::from(a1) + part * (f64::from(b1) - f64::from(a1))) as i32
        };
        match self {
            Side::West => Point { x: WIDE_LOW, y: along(WIDE_LOW, (a.x, a.y), (b.x, b.y)) },
            Side::East => Point { x: WIDE_HIGH, y: along(WIDE_HIGH, (a.x, a.y), (b.x, b.y)) },
            Side::North => Point { x: along(WIDE_LOW, (a.y, a.x), (b.y, b.x)), y: WIDE_LOW },
            Side::South => Point { x: along(WIDE_HIGH, (a.y, a.x), (b.y, b.x)), y: WIDE_HIGH },
        }
    }
}

/// Twice the area of a ring in square units; positive where it runs clockwise as one sees it.
pub fn twice_area(ring: &[Point]) -> i64 {
    ring.windows(2)
        .map(|side| i64::from(side[0].x) * i64::from(side[1].y) - i64::from(side[1].x) * i64::from(side[0].y))
        .sum()
}

/// The middle of a ring's area; the middle of its points where it has none.
pub fn centroid(ring: &[Point]) -> Option<Point> {
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
        return Some(Point { x: low.x + (high.x - low.x) / 2, y: low.y + (high.y - low.y) / 2 });
    }
    Some(Point {
        x: libm::round(f64::from(origin.x) + x / (3.0 * twice)) as i32,
        y: libm::round(f64::from(origin.y) + y / (3.0 * twice)) as i32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: &[(i32, i32)]) -> Vec<Point> {
        all.iter().map(|&(x, y)| Point { x, y }).collect()
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

    /// Of a comb whose back lies outside of the box the teeth stay, each a polygon of its own. Cut one side after the
    /// other, they would hang together along the border, which no valid polygon does (OGC 06-103r4, 6.1.11.1).
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
        assert!(rings.iter().all(|ring| twice_area(ring) == 5000 && ring.contains(&Point { x: 50, y: 50 })));
        let square = vec![points(&[(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)])];
        assert_eq!(clip_rings(square.clone(), 1), square);
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
        assert_eq!(centroid(&points(&[(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)])), Some(Point { x: 5, y: 5 }));
    }
}
