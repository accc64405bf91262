//! Units of measure of the OGC (`http://www.opengis.net/def/uom/OGC/1.0/`), and conversions of degrees to metres.

use std::f64::consts::PI;

use geo::{BoundingRect, Coord, Geometry, MapCoords};

const OGC: &str = "http://www.opengis.net/def/uom/OGC/1.0/";
const QUDT: &str = "http://qudt.org/vocab/unit/";

/// The radius of the Earth as a sphere: its mean radius (IUGG) in metres.
const RADIUS: f64 = 6_371_008.8;

/// A unit of length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unit {
    /// A number of metres.
    Metres(f64),
    /// A number of degrees, in the plane of longitude and latitude.
    Degrees(f64),
    /// The reference system's own unit.
    Own,
}

impl Unit {
    /// Returns the unit of an IRI.
    pub fn from_iri(iri: &str) -> Option<Unit> {
        let iri = iri.replacen("https://", "http://", 1);
        let name = iri.strip_prefix(OGC).or_else(|| iri.strip_prefix(QUDT))?;
        Some(match name {
            "metre" | "meter" | "M" => Unit::Metres(1.0),
            "kilometre" | "kilometer" | "KiloM" => Unit::Metres(1000.0),
            "centimetre" | "centimeter" | "CentiM" => Unit::Metres(0.01),
            "mile" | "statuteMile" | "MI" => Unit::Metres(1609.344),
            "nauticalMile" | "MI_N" => Unit::Metres(1852.0),
            "foot" | "FT" => Unit::Metres(0.3048),
            "yard" | "YD" => Unit::Metres(0.9144),
            // Areas: the unit of length whose square is the unit of area.
            "squareMetre" | "M2" => Unit::Metres(1.0),
            "squareKilometre" | "KiloM2" => Unit::Metres(1000.0),
            "MI2" => Unit::Metres(1609.344),
            "FT2" => Unit::Metres(0.3048),
            "YD2" => Unit::Metres(0.9144),
            "AC" => Unit::Metres(63.614_907_234_075_26),
            "ARE" => Unit::Metres(10.0),
            "HA" => Unit::Metres(100.0),
            "degree" | "DEG" => Unit::Degrees(1.0),
            "radian" | "RAD" => Unit::Degrees(180.0 / PI),
            "unity" | "UNITY" => Unit::Own,
            _ => return None,
        })
    }
}

/// A plane in metres around a latitude, with short distances and angles close to those on the sphere. Longitudes are
/// scaled by the latitude's cosine. The relative error is about the square of the extent in radians (a part in a
/// million for 10 km, a part in a hundred for 1,000 km).
#[derive(Debug, Clone, Copy)]
pub struct LocalPlane {
    metres_lon: f64,
    metres_lat: f64,
}

impl LocalPlane {
    /// Creates the plane around the middle latitude of these geometries in degrees; returns `None` if all are empty.
    pub fn around<'a>(geometries: impl IntoIterator<Item = &'a Geometry<f64>>) -> Option<LocalPlane> {
        let boxes: Vec<_> = geometries.into_iter().filter_map(BoundingRect::bounding_rect).collect();
        let south = boxes.iter().map(|b| b.min().y).reduce(f64::min)?;
        let north = boxes.iter().map(|b| b.max().y).reduce(f64::max)?;
        let metres_lat = RADIUS * PI / 180.0;
        // At the poles the cosine is 0, but a plane needs a non-zero scale.
        let cosine = libm::cos((south + north) / 2.0 * PI / 180.0).max(1e-9);
        Some(LocalPlane { metres_lon: metres_lat * cosine, metres_lat })
    }

    /// Converts degrees to metres.
    pub fn flatten(&self, geometry: &Geometry<f64>) -> Geometry<f64> {
        geometry.map_coords(|c| Coord { x: c.x * self.metres_lon, y: c.y * self.metres_lat })
    }

    /// Converts metres to degrees.
    pub fn unflatten(&self, geometry: &Geometry<f64>) -> Geometry<f64> {
        geometry.map_coords(|c| Coord { x: c.x / self.metres_lon, y: c.y / self.metres_lat })
    }
}

/// Converts degrees to metres with the sinusoidal projection, which preserves areas.
pub fn equal_area(geometry: &Geometry<f64>) -> Geometry<f64> {
    let degree = RADIUS * PI / 180.0;
    geometry.map_coords(|c| Coord { x: c.x * degree * libm::cos(c.y * PI / 180.0), y: c.y * degree })
}

/// Returns the distance in metres of two positions on the sphere, by the haversine formula.
pub fn great_circle(a: Coord<f64>, b: Coord<f64>) -> f64 {
    let (p, q) = (a.y * PI / 180.0, b.y * PI / 180.0);
    let (dy, dx) = ((q - p) / 2.0, (b.x - a.x) * PI / 360.0);
    let (sy, sx) = (libm::sin(dy), libm::sin(dx));
    let h = sy * sy + libm::cos(p) * libm::cos(q) * sx * sx;
    2.0 * RADIUS * libm::asin(libm::sqrt(h.clamp(0.0, 1.0)))
}
