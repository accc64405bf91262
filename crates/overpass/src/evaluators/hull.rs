//! Evaluates `hull` and `poly`: rings on the sphere with edges along great circles.

use super::sphere::{Vector, cross, dot, vector};
use crate::set::{DegreePosition, DerivedGeometry};
use terrapin_budget as budget;
use terrapin_osm::Coord;

/// The maximum step between points of an edge, in degrees, measured where the meridians are closest to each other.
const STEP: f64 = 0.006_553_6;
/// The maximum number of points added to one edge.
const MOST: f64 = 100_000.0;

/// Half of the globe, in 1e-7 degrees.
const HALF_TURN: i64 = 1_800_000_000;

/// The reference's tolerance in radians: a point outside a hull by less than this does not change it.
const NEAR: f64 = 1e-8;

/// Returns how far `c` is to the right of the great circle from `a` to `b`, in radians.
fn aside(a: Vector, b: Vector, c: Vector) -> f64 {
    let normal = cross(a, b);
    dot(normal, c) / libm::sqrt(dot(normal, normal))
}

/// Evaluates `hull(a)`: a convex polygon around a geometry, counterclockwise, starting at the point after the
/// easternmost one.
///
/// Across the antimeridian, negative longitudes are east of positive ones.
///
/// As in the reference, starts with the westernmost and the easternmost point and adds the others from west to east. A
/// point less than [`NEAR`] outside is left out, even if a hull with later points would have it as a corner. Returns
/// `None` for a geometry without points.
pub(super) fn hull(geometry: &DerivedGeometry) -> Option<DerivedGeometry> {
    let mut points = Vec::new();
    gather(geometry, &mut points);
    points.sort_unstable_by_key(|c| (c.lon, c.lat));
    points.dedup();
    // Those west of Greenwich come last if that makes the whole narrower than half of the globe.
    let east = points.partition_point(|c| c.lon < 0);
    if let (Some(first), Some(last)) = (points.get(east), points.get(east.wrapping_sub(1)))
        && points.len() > 2
        && i64::from(first.lon) - i64::from(last.lon) > HALF_TURN
    {
        points.rotate_left(east);
    }
    let corners: Vec<(DegreePosition, Vector)> =
        points.into_iter().map(DegreePosition::from).map(|position| (position, vector(position))).collect();
    let (first, last, between) = match corners.as_slice() {
        [] => return None,
        [(only, _)] => return Some(DerivedGeometry::Point(*only)),
        [(a, _), (b, _)] => return Some(DerivedGeometry::Line(vec![*a, *b, *a])),
        [first, between @ .., last] => (*first, *last, between),
    };
    let (mut lower, mut upper) = (vec![first], vec![first]);
    for &corner in between {
        let p = corner.1;
        if !take(&mut lower, last.1, corner, |a, b| aside(a, b, p)) {
            take(&mut upper, last.1, corner, |a, b| aside(b, a, p));
        }
    }
    if let ([(a, _)], [(b, _)]) = (lower.as_slice(), upper.as_slice()) {
        debug_assert_eq!(a, b);
        return Some(DerivedGeometry::Line(vec![*a, last.0]));
    }
    let ring = upper[1..].iter().rev().chain(&lower).chain([&last]);
    Some(DerivedGeometry::Polygon(vec![drawn(ring.map(|(position, _)| *position).collect())]))
}

/// Adds a corner to a chain from the westernmost point to `last`, in place of the corners between the edges that it is
/// outside of. It is only added if it is at least [`NEAR`] outside one of these edges.
fn take(
    chain: &mut Vec<(DegreePosition, Vector)>,
    last: Vector,
    corner: (DegreePosition, Vector),
    aside: impl Fn(Vector, Vector) -> f64,
) -> bool {
    let (mut kept, mut next, mut far) = (chain.len(), last, false);
    budget::checkpoint();
    while let Some(&(_, previous)) = kept.checked_sub(1).and_then(|i| chain.get(i)) {
        budget::checkpoint();
        let distance = aside(previous, next);
        if distance < 0.0 {
            break;
        }
        far |= distance >= NEAR;
        next = previous;
        kept -= 1;
    }
    if far {
        chain.truncate(kept + 1);
        chain.push(corner);
    }
    far
}

/// Evaluates `poly(a, ...)`: a polygon of rings. Open rings are closed, and rings with fewer than three corners are
/// left out. Outer rings run counterclockwise, inner rings clockwise.
pub(super) fn polygon(rings: Vec<Vec<DegreePosition>>) -> DerivedGeometry {
    let open: Vec<Vec<DegreePosition>> = rings
        .into_iter()
        .map(|mut ring| {
            while ring.len() > 1 && ring.first() == ring.last() {
                ring.pop();
            }
            ring
        })
        .filter(|ring| ring.len() > 2)
        .collect();
    let mut result = Vec::with_capacity(open.len());
    for (n, ring) in open.iter().enumerate() {
        let within = open.iter().enumerate().filter(|(m, other)| *m != n && contains(other, ring[0])).count();
        let mut ring = ring.clone();
        if (area(&ring) < 0.0) != (within % 2 == 1) {
            ring[1..].reverse();
        }
        result.push(drawn(ring));
    }
    DerivedGeometry::Polygon(result)
}

/// Returns twice the planar area, positive for a counterclockwise ring.
fn area(ring: &[DegreePosition]) -> f64 {
    let next = ring.iter().cycle().skip(1);
    ring.iter().zip(next).fold(0.0, |sum, (a, b)| sum + (a.lon * b.lat - b.lon * a.lat))
}

/// Returns whether a ring contains a point, in the plane.
fn contains(ring: &[DegreePosition], p: DegreePosition) -> bool {
    budget::checkpoints(ring.len());
    let next = ring.iter().cycle().skip(1);
    let crossings = ring.iter().zip(next).filter(|(a, b)| {
        (a.lon > p.lon) != (b.lon > p.lon) && p.lat > a.lat + (p.lon - a.lon) / (b.lon - a.lon) * (b.lat - a.lat)
    });
    crossings.count() % 2 == 1
}

/// Closes a ring and adds points to its long edges like the reference. An edge is long if it spans more than one step
/// in latitude or longitude. If a long edge contains the highest latitude of its great circle, that point is added, and
/// the edge is divided evenly on both sides of it.
fn drawn(ring: Vec<DegreePosition>) -> Vec<DegreePosition> {
    let mut result = Vec::with_capacity(ring.len() + 1);
    for (n, &a) in ring.iter().enumerate() {
        budget::checkpoint();
        let b = ring[(n + 1) % ring.len()];
        result.push(a);
        if (a.lat - b.lat).abs() <= STEP && (a.lon - b.lon).abs() <= STEP {
            continue;
        }
        match summit(vector(a), vector(b)) {
            Some(top) => {
                let middle = position(top);
                cut(a, middle, &mut result);
                result.push(middle);
                cut(middle, b, &mut result);
            }
            None => cut(a, b, &mut result),
        }
    }
    result.extend(ring.first());
    result
}

/// Returns the point of a great circle that is nearest to a pole, if it is between the two given points.
fn summit(a: Vector, b: Vector) -> Option<Vector> {
    let unit = |v: Vector| {
        let length = libm::sqrt(dot(v, v));
        (length > 1e-15).then(|| v.map(|x| x / length))
    };
    let axis = unit(cross(a, b))?;
    let north = unit([1.0 - axis[0] * axis[0], -axis[0] * axis[1], -axis[0] * axis[2]])?;
    let between = |p: &Vector| dot(cross(a, *p), axis) > 1e-14 && dot(cross(*p, b), axis) > 1e-14;
    [north, north.map(|x| -x)].into_iter().find(between)
}

/// Adds the points that divide an arc of a great circle evenly.
fn cut(a: DegreePosition, b: DegreePosition, points: &mut Vec<DegreePosition>) {
    let (u, v) = (vector(a), vector(b));
    let chord = libm::sqrt(u.iter().zip(v).fold(0.0, |sum, (x, y)| sum + (x - y) * (x - y)));
    let angle = 2.0 * libm::asin((chord / 2.0).min(1.0));
    let widest = libm::cos(a.lat.abs().max(b.lat.abs()).to_radians()).max(1e-9);
    let pieces = libm::ceil(angle.to_degrees() / STEP / widest).min(MOST);
    let mut piece = 1.0;
    while piece < pieces {
        budget::checkpoints(4);
        points.push(between(u, v, angle, piece / pieces));
        piece += 1.0;
    }
}

/// Returns the point at a given fraction of the arc between two points.
fn between(a: Vector, b: Vector, angle: f64, part: f64) -> DegreePosition {
    let (p, q) = (libm::sin((1.0 - part) * angle), libm::sin(part * angle));
    position([0, 1, 2].map(|i| a[i] * p + b[i] * q))
}

fn position([x, y, z]: Vector) -> DegreePosition {
    DegreePosition { lat: libm::atan2(x, libm::sqrt(y * y + z * z)).to_degrees(), lon: libm::atan2(y, z).to_degrees() }
}

fn gather(geometry: &DerivedGeometry, points: &mut Vec<Coord>) {
    budget::checkpoint();
    match geometry {
        DerivedGeometry::Point(p) => points.push(p.rounded()),
        DerivedGeometry::Line(line) => points.extend(line.iter().map(|p| p.rounded())),
        DerivedGeometry::Polygon(rings) => points.extend(rings.iter().flatten().map(|p| p.rounded())),
        DerivedGeometry::Collection(parts) => parts.iter().for_each(|part| gather(part, points)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(f64, f64)]) -> DerivedGeometry {
        DerivedGeometry::Line(points.iter().map(|&(lat, lon)| DegreePosition { lat, lon }).collect())
    }

    fn ring(geometry: Option<DerivedGeometry>) -> Vec<(f64, f64)> {
        let round = |v: f64| libm::round(v * 1e7) / 1e7;
        match geometry {
            Some(DerivedGeometry::Polygon(mut rings)) => {
                rings.remove(0).into_iter().map(|p| (round(p.lat), round(p.lon))).collect()
            }
            other => panic!("not a polygon: {other:?}"),
        }
    }

    #[test]
    fn a_hull_starts_after_its_easternmost_point() {
        let square = [(0.0, 0.0), (0.0, 0.001), (0.001, 0.001), (0.0005, 0.0002), (0.001, 0.0)];
        assert_eq!(ring(hull(&line(&square))), [(0.001, 0.0), (0.0, 0.0), (0.0, 0.001), (0.001, 0.001), (0.001, 0.0)]);
        let other = [(0.001, 0.002), (0.0, 0.0), (0.001, 0.001), (0.0, 0.001)];
        assert_eq!(
            ring(hull(&line(&other))),
            [(0.001, 0.001), (0.0, 0.0), (0.0, 0.001), (0.001, 0.002), (0.001, 0.001)]
        );
    }

    /// Points on a shallow arc, with the reference's result.
    #[test]
    fn what_is_nearly_straight_has_few_corners() {
        let arc = |rise: f64, lean: f64| {
            let mut points: Vec<(f64, f64)> = (0..17)
                .map(|i| {
                    let t = f64::from(i) / 8.0 - 1.0;
                    (36.0 - rise * (1.0 - t * t) + lean * t, 14.0 + 0.0005 * (t + 1.0))
                })
                .collect();
            points.push((36.001, 14.0005));
            let corners = ring(hull(&line(&points))).into_iter();
            corners.map(|(_, lon)| libm::round((lon - 14.0) * 16_000.0) as i32).collect::<Vec<_>>()
        };
        assert_eq!(arc(8e-7, 0.0), [8, 0, 4, 16, 8]);
        assert_eq!(arc(2e-6, 0.0), [8, 0, 2, 4, 6, 9, 16, 8]);
    }

    #[test]
    fn degenerate_hulls_are_points_and_lines() {
        assert!(matches!(hull(&line(&[(1.0, 1.0), (1.0, 1.0)])), Some(DerivedGeometry::Point(_))));
        assert_eq!(hull(&line(&[(0.0, 0.0), (0.0, 0.001), (0.0, 0.002)])), Some(line(&[(0.0, 0.0), (0.0, 0.002)])));
        assert_eq!(hull(&line(&[(0.0, 0.0), (0.0, 0.002)])), Some(line(&[(0.0, 0.0), (0.0, 0.002), (0.0, 0.0)])));
        assert_eq!(hull(&DerivedGeometry::Polygon(Vec::new())), None);
    }

    #[test]
    fn long_edges_follow_great_circles() {
        let triangle = vec![(35.9, 14.5), (35.91, 14.51), (35.9, 14.52)];
        let triangle = triangle.into_iter().map(|(lat, lon)| DegreePosition { lat, lon }).collect();
        assert_eq!(
            ring(Some(polygon(vec![triangle]))),
            [
                (35.9, 14.5),
                (35.9000003, 14.505),
                (35.9000004, 14.51),
                (35.9000003, 14.515),
                (35.9, 14.52),
                (35.9033334, 14.5166669),
                (35.9066668, 14.5133336),
                (35.91, 14.51),
                (35.9066668, 14.5066664),
                (35.9033334, 14.5033331),
                (35.9, 14.5)
            ]
        );
    }
}
