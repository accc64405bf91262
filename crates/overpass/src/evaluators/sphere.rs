//! Unit vectors of points on the sphere.

use crate::set::DegreePosition;

/// The coordinates: towards the north pole, towards 90° east on the equator, and towards latitude 0, longitude 0.
pub(super) type Vector = [f64; 3];

pub(super) fn vector(p: DegreePosition) -> Vector {
    let (lat, lon) = (p.lat.to_radians(), p.lon.to_radians());
    [libm::sin(lat), libm::cos(lat) * libm::sin(lon), libm::cos(lat) * libm::cos(lon)]
}

pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
