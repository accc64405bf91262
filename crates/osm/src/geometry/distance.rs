//! Distances on the sphere, in metres, operation for operation as the reference computes them.
//!
//! The formula was determined by experiment and is exact to the last bit for points. The sphere has a circumference of
//! 40,000,000 m, so an angle of φ radians is 20,000,000/π·φ metres; the angle between two points is acos(cos Δlat + cos
//! lat₁·cos lat₂·(cos Δlon − 1)). A segment is a piece of a great circle. A distance of exactly `radius` is within
//! `radius`.

use std::f64::consts::PI;

use crate::{BoundingBox, Coord};

/// Metres to the radian.
const METRES: f64 = 20_000_000.0 / PI;

/// A position in degrees, which may be finer than a [`Coord`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatLon {
    /// Latitude in degrees, -90 ..= 90.
    pub lat: f64,
    /// Longitude in degrees, -180 ..= 180.
    pub lon: f64,
}

impl From<Coord> for LatLon {
    /// Uses the reference's operations on its stored positions, which differ in the last bit from a plain division.
    fn from(c: Coord) -> LatLon {
        LatLon { lat: (f64::from(c.lat) + 910_000_000.0) / 1e7 - 91.0, lon: f64::from(c.lon) / 1e7 }
    }
}

fn radians(degrees: f64) -> f64 {
    degrees * PI / 180.0
}

/// Returns the distance between two points.
pub fn metres(a: LatLon, b: LatLon) -> f64 {
    let (p, q) = (radians(a.lat), radians(b.lat));
    let around = libm::cos(radians(b.lon) - radians(a.lon)) - 1.0;
    let cosine = libm::cos(q - p) + libm::cos(p) * libm::cos(q) * around;
    METRES * libm::acos(cosine.clamp(-1.0, 1.0))
}

type Vector = [f64; 3];

fn vector(p: LatLon) -> Vector {
    let (lat, lon) = (radians(p.lat), radians(p.lon));
    [libm::sin(lat), libm::cos(lat) * libm::sin(lon), libm::cos(lat) * libm::cos(lon)]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A polyline with precomputed values for distances to it: for every segment its ends and the unit normal of its great
/// circle. A single point is a line of length zero.
#[derive(Debug, Clone)]
pub struct LineVectors {
    segments: Vec<Arc>,
}

#[derive(Debug, Clone)]
struct Arc {
    a: LatLon,
    b: LatLon,
    u: Vector,
    v: Vector,
    /// Unit normal of the great circle; none where the ends coincide (or are opposite).
    normal: Option<Vector>,
}

impl Arc {
    fn new(a: LatLon, b: LatLon) -> Arc {
        let (u, v) = (vector(a), vector(b));
        let n = cross(u, v);
        let length = libm::sqrt(dot(n, n));
        let normal = (length > 0.0).then(|| n.map(|x| x / length));
        Arc { a, b, u, v, normal }
    }

    fn metres_to(&self, p: LatLon, w: Vector) -> f64 {
        // Avoids rounding errors: `around:0` finds elements that share a node.
        if p == self.a || p == self.b {
            return 0.0;
        }
        if let Some(n) = self.normal {
            // The foot of the perpendicular is on the arc if it is ahead of `a` and behind `b`.
            if dot(cross(n, self.u), w) >= 0.0 && dot(cross(self.v, n), w) >= 0.0 {
                return METRES * libm::asin(dot(n, w).clamp(-1.0, 1.0)).abs();
            }
        }
        metres(p, self.a).min(metres(p, self.b))
    }

    fn crosses(&self, other: &Arc) -> bool {
        let (Some(n), Some(m)) = (self.normal, other.normal) else { return false };
        let (a, b) = (dot(m, self.u), dot(m, self.v));
        let (c, d) = (dot(n, other.u), dot(n, other.v));
        // Different sides of each other's great circle, and on the same half of the sphere.
        (a > 0.0) != (b > 0.0) && (c > 0.0) != (d > 0.0) && (a > 0.0) == (d > 0.0)
    }

    fn metres_between(&self, other: &Arc) -> f64 {
        if self.crosses(other) {
            return 0.0;
        }
        other
            .metres_to(self.a, self.u)
            .min(other.metres_to(self.b, self.v))
            .min(self.metres_to(other.a, other.u))
            .min(self.metres_to(other.b, other.v))
    }
}

impl LineVectors {
    /// Creates the line through these points; a missing point breaks it.
    pub fn new(line: &[Coord]) -> LineVectors {
        if let [c] = line {
            return LineVectors::from_positions(&[LatLon::from(*c)]);
        }
        let segments = line
            .windows(2)
            .filter(|w| !w[0].is_missing() && !w[1].is_missing())
            .map(|w| Arc::new(w[0].into(), w[1].into()))
            .collect();
        LineVectors { segments }
    }

    /// Creates the line through these places.
    pub fn from_positions(line: &[LatLon]) -> LineVectors {
        let segments = match line {
            [p] => vec![Arc::new(*p, *p)],
            _ => line.windows(2).map(|w| Arc::new(w[0], w[1])).collect(),
        };
        LineVectors { segments }
    }

    /// Returns the distance to a point; infinite for an empty line.
    pub fn metres_to(&self, p: LatLon) -> f64 {
        let w = vector(p);
        self.segments.iter().map(|s| s.metres_to(p, w)).fold(f64::INFINITY, f64::min)
    }

    /// Returns the distance to another line, 0 where they cross; infinite if one is empty.
    pub fn metres_between(&self, other: &LineVectors) -> f64 {
        let mut least = f64::INFINITY;
        for s in &self.segments {
            for t in &other.segments {
                least = least.min(s.metres_between(t));
            }
        }
        least
    }
}

/// Returns the distance of `p` from the great-circle segment from `a` to `b`.
pub fn metres_to_segment(p: LatLon, a: LatLon, b: LatLon) -> f64 {
    Arc::new(a, b).metres_to(p, vector(p))
}

/// Returns the distance between the great-circle segments `a`-`b` and `c`-`d`, 0 where they cross.
pub fn metres_between_segments(a: LatLon, b: LatLon, c: LatLon, d: LatLon) -> f64 {
    Arc::new(a, b).metres_between(&Arc::new(c, d))
}

/// Returns the length of a polyline, not rounded; segments with a missing end do not count.
pub fn line_length(line: &[Coord]) -> f64 {
    line.windows(2)
        .filter(|w| !w[0].is_missing() && !w[1].is_missing())
        .map(|w| metres(w[0].into(), w[1].into()))
        .fold(0.0, |sum, part| sum + part)
}

/// Returns a length as the evaluator `length()` does: rounded to the millimetre. The length of a relation is the
/// rounded sum of its ways' lengths, not the sum of rounded lengths.
pub fn round_length(metres: f64) -> f64 {
    libm::round(metres * 1000.0) / 1000.0
}

/// Returns a box that contains all points within `radius` metres of `p`, and a little more. It may cross the
/// antimeridian.
pub fn around_box(p: LatLon, radius: f64) -> BoundingBox {
    const WORLD: BoundingBox =
        BoundingBox { south: -900_000_000, west: -1_800_000_000, north: 900_000_000, east: 1_800_000_000 };
    /// More than the rounding of distances and of coordinates: some centimetres.
    const SLACK: f64 = 1e-6;
    if radius.is_nan() || radius >= 20_000_000.0 {
        return WORLD;
    }
    let angle = radius.max(0.0) / METRES * (180.0 / PI) * (1.0 + 1e-9) + SLACK;
    let fixed = |degrees: f64| libm::round(degrees * 1e7) as i64;
    let south = fixed(p.lat - angle).max(-900_000_000) as i32;
    let north = fixed(p.lat + angle).min(900_000_000) as i32;
    let pole = p.lat + angle >= 90.0 || p.lat - angle <= -90.0;
    // The meridians that touch a circle on the sphere: sin Δlon = sin angle / cos lat.
    let sine = libm::sin(radians(angle)) / libm::cos(radians(p.lat));
    if pole || sine.is_nan() || sine >= 1.0 {
        return BoundingBox { south, north, ..WORLD };
    }
    let wide = libm::asin(sine) * (180.0 / PI) * (1.0 + 1e-9) + SLACK;
    let wrap = |v: i64| {
        let whole = 3_600_000_000;
        ((v + 1_800_000_000).rem_euclid(whole) - 1_800_000_000) as i32
    };
    BoundingBox { south, north, west: wrap(fixed(p.lon - wide)), east: wrap(fixed(p.lon + wide)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(lat: f64, lon: f64) -> LatLon {
        LatLon { lat, lon }
    }

    /// Thresholds of `around` in the reference, found by bisecting the radius.
    #[test]
    fn points_as_in_the_reference() {
        for (a, b, expected) in [
            ((-44.5460134, 15.8340627), (-44.5459987, 15.8340804), 2.150709706761321),
            ((79.1316236, -22.8540517), (79.1310828, -22.8540321), 60.0903192463949),
            ((21.6479885, -12.0823462), (21.647254, -12.0813151), 134.1629517236634),
            ((65.4327062, -17.505418), (65.4326961, -17.5054172), 1.1224428906516233),
            ((15.0752122, -76.2499985), (15.064981, -76.2409214), 1496.9159866765895),
            ((6.0923553, 69.8705549), (6.092355, 69.8705546), 0.0),
        ] {
            assert_eq!(metres(place(a.0, a.1), place(b.0, b.1)), expected);
        }
        assert_eq!(metres(place(0.0, 0.0), place(0.0, 90.0)), 10_000_000.0);
    }

    #[test]
    fn segments_as_in_the_reference() {
        for (p, a, b, expected) in [
            ((-39.5927865, -134.9235484), (-39.5983401, -134.9248091), (-39.5874319, -134.9196991), 108.00700986806555),
            ((57.0076127, -140.5157941), (57.008514, -140.5645691), (57.0036145, -140.5779574), 2952.700003799866),
            ((-72.2718712, -71.7412009), (-72.6794517, -69.7240172), (-71.723513, -70.2945357), 58940.755721094654),
        ] {
            let got = metres_to_segment(place(p.0, p.1), place(a.0, a.1), place(b.0, b.1));
            assert!((got - expected).abs() < 1e-6, "{got} {expected}");
        }
    }

    #[test]
    fn crossing_lines_are_not_apart() {
        let at = |lat: i32, lon: i32| Coord { lat: lat * 1000, lon: lon * 1000 };
        let plus = LineVectors::new(&[at(-5, 0), at(5, 0)]);
        assert_eq!(plus.metres_between(&LineVectors::new(&[at(0, -5), at(0, 5)])), 0.0);
        assert!(plus.metres_between(&LineVectors::new(&[at(0, 1), at(0, 5)])) > 1.0);
        let opposite = LineVectors::from_positions(&[place(0.0, 179.0), place(0.0, -179.0)]);
        assert!(plus.metres_between(&opposite) > 1e7, "the other side of the world");
        assert_eq!(LineVectors::new(&[]).metres_to(place(0.0, 0.0)), f64::INFINITY);
        assert_eq!(LineVectors::new(&[at(1, 1)]).metres_to(at(1, 1).into()), 0.0);
    }

    #[test]
    fn boxes_hold_the_circle() {
        for (lat, lon) in [(0.0, 0.0), (60.0, 179.99), (-60.0, -179.99), (89.9, 10.0), (-45.0, 100.0)] {
            for radius in [0.0, 1.0, 1000.0, 50_000.0, 3_000_000.0] {
                let area = around_box(place(lat, lon), radius);
                for k in 0..360 {
                    let bearing = radians(f64::from(k));
                    let angle = radius / METRES;
                    let (p, q) = (radians(lat), radians(lon));
                    let s = libm::sin(p) * libm::cos(angle) + libm::cos(p) * libm::sin(angle) * libm::cos(bearing);
                    let to = libm::asin(s);
                    let east = libm::atan2(
                        libm::sin(bearing) * libm::sin(angle) * libm::cos(p),
                        libm::cos(angle) - libm::sin(p) * s,
                    );
                    let lon = ((q + east) * 180.0 / PI + 540.0).rem_euclid(360.0) - 180.0;
                    let c = Coord { lat: (to * 180.0 / PI * 1e7) as i32, lon: (lon * 1e7) as i32 };
                    assert!(area.contains(c), "{lat} {radius} {k} {area:?} {c:?}");
                }
            }
        }
    }
}
