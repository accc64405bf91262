//! Predicates on points, segments and boxes in integers, without rounding and therefore without tolerances.
//!
//! Coordinates are at most 1.8e9 in size, so a product of two differences is below 6.5e18 and fits an `i64`; two such
//! products are compared, never subtracted.

use crate::{BoundingBox, Coord};

/// A straight piece of a line on the plane of latitude and longitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Segment {
    /// One end.
    pub a: Coord,
    /// The other end.
    pub b: Coord,
}

impl Segment {
    /// Returns the segment independent of its direction: the lesser end first.
    pub fn undirected(a: Coord, b: Coord) -> Segment {
        if a <= b { Segment { a, b } } else { Segment { a: b, b: a } }
    }

    /// Returns the bounding box.
    pub fn bbox(&self) -> BoundingBox {
        BoundingBox {
            south: self.a.lat.min(self.b.lat),
            west: self.a.lon.min(self.b.lon),
            north: self.a.lat.max(self.b.lat),
            east: self.a.lon.max(self.b.lon),
        }
    }
}

/// The side of a directed line on which a point lies, with north up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum LineSide {
    Left,
    On,
    Right,
}

/// Returns the side of the line from `a` to `b` on which the point `p` lies.
#[inline]
pub fn side(a: Coord, b: Coord, p: Coord) -> LineSide {
    let (x, y) = (i64::from(b.lon) - i64::from(a.lon), i64::from(b.lat) - i64::from(a.lat));
    let (u, v) = (i64::from(p.lon) - i64::from(a.lon), i64::from(p.lat) - i64::from(a.lat));
    match (x * v).cmp(&(y * u)) {
        std::cmp::Ordering::Greater => LineSide::Left,
        std::cmp::Ordering::Equal => LineSide::On,
        std::cmp::Ordering::Less => LineSide::Right,
    }
}

/// Returns whether `p` is on the segment, ends included.
#[inline]
pub fn on_segment(s: Segment, p: Coord) -> bool {
    s.bbox().contains(p) && side(s.a, s.b, p) == LineSide::On
}

/// Returns whether the two segments share a point, ends included.
pub fn segments_meet(s: Segment, t: Segment) -> bool {
    if !s.bbox().intersects(&t.bbox()) {
        return false;
    }
    // The boxes intersect: the segments do also, unless one of them is strictly on one side of the other's line.
    let (p, q) = (side(s.a, s.b, t.a), side(s.a, s.b, t.b));
    if p == q && p != LineSide::On {
        return false;
    }
    let (p, q) = (side(t.a, t.b, s.a), side(t.a, t.b, s.b));
    p != q || p == LineSide::On
}

/// Returns whether the segment and the box share a point, borders included; the box may cross the antimeridian.
pub fn segment_meets_box(s: Segment, area: &BoundingBox) -> bool {
    if area.is_empty() {
        return false;
    }
    let (parts, n) = area.split();
    parts[..n].iter().any(|part| segment_meets_plain_box(s, part))
}

fn segment_meets_plain_box(s: Segment, area: &BoundingBox) -> bool {
    if !area.intersects(&s.bbox()) {
        return false;
    }
    // Separating axes: the two of the box are done; the third is the segment's line, which must not have all four
    // corners strictly on one side.
    let corner = |lat, lon| side(s.a, s.b, Coord { lat, lon });
    let first = corner(area.south, area.west);
    first == LineSide::On
        || corner(area.south, area.east) != first
        || corner(area.north, area.west) != first
        || corner(area.north, area.east) != first
        || s.a == s.b
}

/// Returns whether a polyline and a box share a point: a node in the box or a segment through it, borders included.
///
/// A missing node breaks the line. The box may cross the antimeridian; a line does not (it goes the long way round).
pub fn line_meets_box(line: &[Coord], area: &BoundingBox) -> bool {
    line.iter().any(|&c| !c.is_missing() && area.contains(c))
        || line.windows(2).any(|w| {
            let [a, b] = [w[0], w[1]];
            !a.is_missing() && !b.is_missing() && segment_meets_box(Segment { a, b }, area)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c(lat: i32, lon: i32) -> Coord {
        Coord { lat, lon }
    }

    fn s(a: (i32, i32), b: (i32, i32)) -> Segment {
        Segment { a: c(a.0, a.1), b: c(b.0, b.1) }
    }

    #[test]
    fn sides_at_the_ends_of_the_world() {
        let (sw, ne) = (c(-900_000_000, -1_800_000_000), c(900_000_000, 1_800_000_000));
        assert_eq!(side(sw, ne, c(0, 0)), LineSide::On);
        assert_eq!(side(sw, ne, c(900_000_000, -1_800_000_000)), LineSide::Left);
        assert_eq!(side(sw, ne, c(-900_000_000, 1_800_000_000)), LineSide::Right);
        assert_eq!(side(sw, ne, c(1, 0)), LineSide::Left);
    }

    /// Compares all pairs of small segments with a naive search for a shared point on a fine grid of fractions.
    #[test]
    fn meetings_agree_with_a_parametric_test() {
        let all: Vec<Segment> = (0..3 * 3 * 3 * 3)
            .map(|i| s((i % 3 * 2, i / 3 % 3 * 2), (i / 9 % 3 * 2, i / 27 % 3 * 2)))
            .filter(|s| s.a != s.b)
            .collect();
        for &p in &all {
            for &q in &all {
                assert_eq!(segments_meet(p, q), naive_meet(p, q), "{p:?} {q:?}");
                assert_eq!(segments_meet(p, q), segments_meet(q, p));
            }
        }
    }

    /// Solves for the crossing in rationals.
    fn naive_meet(p: Segment, q: Segment) -> bool {
        let v = |a: Coord, b: Coord| ((b.lat - a.lat) as i64, (b.lon - a.lon) as i64);
        let cross = |a: (i64, i64), b: (i64, i64)| a.0 * b.1 - a.1 * b.0;
        let (r, t, w) = (v(p.a, p.b), v(q.a, q.b), v(p.a, q.a));
        let d = cross(r, t);
        if d == 0 {
            if cross(r, w) != 0 {
                return false;
            }
            let dot = |a: (i64, i64)| a.0 * r.0 + a.1 * r.1;
            let (x, y) = (dot(w), dot(v(p.a, q.b)));
            return x.max(y) >= 0 && x.min(y) <= dot(r);
        }
        let (mut x, mut y, mut d) = (cross(w, t), cross(w, r), d);
        if d < 0 {
            (x, y, d) = (-x, -y, -d);
        }
        (0..=d).contains(&x) && (0..=d).contains(&y)
    }

    #[test]
    fn boxes_and_lines() {
        let b = BoundingBox { south: 0, west: 0, north: 10, east: 10 };
        assert!(segment_meets_box(s((-5, 5), (15, 5)), &b), "through");
        assert!(segment_meets_box(s((-5, 5), (5, 15)), &b) == segments_meet(s((-5, 5), (5, 15)), s((0, 0), (0, 10))));
        assert!(segment_meets_box(s((-5, 5), (5, -5)), &b), "touches the corner");
        assert!(!segment_meets_box(s((-6, 5), (5, -6)), &b), "passes the corner");
        assert!(segment_meets_box(s((2, 2), (3, 3)), &b), "inside");
        assert!(segment_meets_box(s((10, 10), (10, 10)), &b), "a point on the border");
        assert!(!segment_meets_box(s((11, 10), (11, 10)), &b));
        assert!(!line_meets_box(&[c(-5, 5), Coord::MISSING, c(15, 5)], &b), "a missing node breaks the line");
        assert!(line_meets_box(&[Coord::MISSING, c(5, 5)], &b));
        let across = BoundingBox { south: 0, west: 1_790_000_000, north: 10, east: -1_790_000_000 };
        assert!(line_meets_box(&[c(-1, -1_800_000_000), c(11, -1_800_000_000)], &across));
        assert!(!line_meets_box(&[c(-1, 0), c(11, 0)], &across));
    }
}
