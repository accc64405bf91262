//! Converts borders across the antimeridian into borders on the plane.

use super::Segment;
use crate::Coord;

const EAST: i32 = 1_800_000_000;

/// Cuts segments that span more than half of the globe at 180 degrees, because they take the short way across, and
/// closes the resulting gaps along that meridian. As in the reference, a segment always takes the short way.
///
/// A border that crosses an odd number of times goes around a pole and is closed along the pole.
pub fn split_at_antimeridian(segments: Vec<Segment>) -> Vec<Segment> {
    if !segments.iter().any(|s| is_across(*s)) {
        return segments;
    }
    let mut out = Vec::with_capacity(segments.len() + 8);
    let mut crossings: Vec<i32> = Vec::new();
    for s in segments {
        if !is_across(s) {
            out.push(s);
            continue;
        }
        let (east, west) = if s.a.lon > 0 { (s.a, s.b) } else { (s.b, s.a) };
        let lat = crossing(east, west);
        crossings.push(lat);
        out.push(Segment { a: east, b: Coord { lat, lon: EAST } });
        out.push(Segment { a: Coord { lat, lon: -EAST }, b: west });
    }
    crossings.sort_unstable();
    let mut close = |from: i32, to: i32| {
        out.extend([EAST, -EAST].map(|lon| Segment { a: Coord { lat: from, lon }, b: Coord { lat: to, lon } }));
    };
    let mut rest = crossings.as_slice();
    let mut around = None;
    if let (1, Some(&first), Some(&last)) = (rest.len() % 2, rest.first(), rest.last()) {
        // The pole that is nearer to a crossing is the one within.
        let south = first < -last;
        let (pole, open) = if south { (-900_000_000, first) } else { (900_000_000, last) };
        close(open, pole);
        around = Some(pole);
        rest = if south { &rest[1..] } else { &rest[..rest.len() - 1] };
    }
    for pair in rest.chunks_exact(2) {
        close(pair[0], pair[1]);
    }
    if let Some(lat) = around {
        out.push(Segment { a: Coord { lat, lon: -EAST }, b: Coord { lat, lon: EAST } });
    }
    out
}

/// Returns where the short way between two points crosses 180 degrees: the crossing on the side of the first point, and
/// the same on the side of the second. Returns `None` if it does not cross.
pub fn crossing_of_180(a: Coord, b: Coord) -> Option<(Coord, Coord)> {
    if !is_across(Segment { a, b }) {
        return None;
    }
    let lat = if a.lon > 0 { crossing(a, b) } else { crossing(b, a) };
    let lon = if a.lon > 0 { EAST } else { -EAST };
    Some((Coord { lat, lon }, Coord { lat, lon: -lon }))
}

fn is_across(s: Segment) -> bool {
    (i64::from(s.a.lon) - i64::from(s.b.lon)).abs() > i64::from(EAST)
}

/// Returns the latitude at which the segment from `east` (of the zero meridian) to `west` crosses, rounded to a step.
fn crossing(east: Coord, west: Coord) -> i32 {
    let before = i128::from(EAST) - i128::from(east.lon);
    let whole = before + i128::from(EAST) + i128::from(west.lon);
    let rise = i128::from(west.lat) - i128::from(east.lat);
    let lat = i128::from(east.lat) + (2 * rise * before + whole).div_euclid(2 * whole.max(1));
    lat.clamp(-900_000_000, 900_000_000) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{BorderRule, Polygon, PolygonLocation};

    fn polygon(points: &[(i32, i32)]) -> Polygon {
        let at = |i: usize| {
            let (lat, lon) = points[i % points.len()];
            Coord { lat: lat * 10_000_000, lon: lon * 10_000_000 }
        };
        let segments = (0..points.len()).map(|i| Segment { a: at(i), b: at(i + 1) }).collect();
        Polygon::new(BorderRule::Relation, split_at_antimeridian(segments))
    }

    fn locate(polygon: &Polygon, lat: i32, lon: i32) -> PolygonLocation {
        polygon.locate(Coord { lat: lat * 10_000_000, lon: lon * 10_000_000 })
    }

    #[test]
    fn across() {
        let p = polygon(&[(50, 170), (50, -170), (60, -170), (60, 170)]);
        for (lat, lon, expected) in [
            (55, 175, PolygonLocation::Inside),
            (55, -175, PolygonLocation::Inside),
            (55, 0, PolygonLocation::Outside),
            (55, 165, PolygonLocation::Outside),
            (50, 175, PolygonLocation::Border),
            (55, 180, PolygonLocation::Border),
            (65, 180, PolygonLocation::Outside),
        ] {
            assert_eq!(locate(&p, lat, lon), expected, "{lat} {lon}");
        }
        let wide = polygon(&[(-10, -120), (-10, 120), (-5, 120), (-5, -120)]);
        assert_eq!([0, 110, 130].map(|lon| locate(&wide, -7, lon) == PolygonLocation::Inside), [false, false, true]);
    }

    #[test]
    fn around_a_pole() {
        let south = polygon(&[(-70, -120), (-70, 0), (-70, 120)]);
        assert_eq!([-80, -60].map(|lat| locate(&south, lat, 30)), [PolygonLocation::Inside, PolygonLocation::Outside]);
        let north = polygon(&[(70, -120), (70, 0), (70, 120)]);
        assert_eq!([80, 60, -80].map(|lat| locate(&north, lat, 179) == PolygonLocation::Inside), [true, false, false]);
    }
}
