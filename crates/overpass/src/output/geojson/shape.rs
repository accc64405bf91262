//! Writes geometries.

use std::io::Write;

use crate::output::OutputItem;
use crate::set::{DegreePosition, DerivedGeometry};
use terrapin_osm::{BoundingBox, Coord};

/// The geometry of a feature.
pub(super) enum FeatureGeometry<'a> {
    Point(Coord),
    /// The center that represents an element.
    Center(DegreePosition),
    /// The box that represents an element.
    Bounds(BoundingBox),
    Lines(&'a [Vec<Coord>]),
    /// The polygons, each with its outer ring first.
    Polygons(&'a [Vec<Vec<Coord>>]),
    /// A printed geometry.
    Written(&'a [u8]),
}

impl FeatureGeometry<'_> {
    /// Appends the geometry.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let line = |out: &mut Vec<u8>, line: &Vec<Coord>| list(out, line, |out, &c| coord(out, c));
        match self {
            FeatureGeometry::Point(c) => geometry(out, "Point", |out| coord(out, *c)),
            FeatureGeometry::Center(middle) => geometry(out, "Point", |out| position(out, *middle)),
            FeatureGeometry::Bounds(bounds) => {
                let BoundingBox { south, west, north, east } = *bounds;
                let at = |lat, lon| Coord { lat, lon };
                if west > east {
                    // A box across the antimeridian is split.
                    let parts = [(west, EAST), (-EAST, east)];
                    let all = parts.map(|(west, east)| vec![boxed(BoundingBox { south, west, north, east })]);
                    FeatureGeometry::Polygons(&all).write(out);
                } else if south == north && west == east {
                    FeatureGeometry::Point(at(south, west)).write(out);
                } else if south == north || west == east {
                    FeatureGeometry::Lines(&[vec![at(south, west), at(north, east)]]).write(out);
                } else {
                    FeatureGeometry::Polygons(&[vec![boxed(*bounds)]]).write(out);
                }
            }
            FeatureGeometry::Lines([one]) => geometry(out, "LineString", |out| line(out, one)),
            FeatureGeometry::Lines(all) => geometry(out, "MultiLineString", |out| list(out, all, line)),
            FeatureGeometry::Polygons([one]) => geometry(out, "Polygon", |out| list(out, one, line)),
            FeatureGeometry::Polygons(all) => {
                geometry(out, "MultiPolygon", |out| list(out, all, |out, rings| list(out, rings, line)));
            }
            FeatureGeometry::Written(text) => out.extend_from_slice(text),
        }
    }
}

const EAST: i32 = 1_800_000_000;

/// Returns the ring around a box.
fn boxed(bounds: BoundingBox) -> Vec<Coord> {
    let BoundingBox { south, west, north, east } = bounds;
    let corners = [(south, west), (south, east), (north, east), (north, west), (south, west)];
    corners.into_iter().map(|(lat, lon)| Coord { lat, lon }).collect()
}

/// Appends the geometry of a derived element, if it has one.
pub(super) fn made(out: &mut Vec<u8>, item: &OutputItem<'_>) {
    if let Some(made) = item.shape.filter(|made| !made.is_nothing()) {
        made_shape(out, made);
    } else if let Some(bounds) = item.bounds {
        FeatureGeometry::Bounds(bounds).write(out);
    } else if let Some(center) = item.center {
        FeatureGeometry::Center(center).write(out);
    }
}

fn made_shape(out: &mut Vec<u8>, made: &DerivedGeometry) {
    let line = |out: &mut Vec<u8>, line: &Vec<DegreePosition>| list(out, line, |out, p| position(out, *p));
    match made {
        DerivedGeometry::Point(p) => geometry(out, "Point", |out| position(out, *p)),
        DerivedGeometry::Line(all) => geometry(out, "LineString", |out| line(out, all)),
        DerivedGeometry::Polygon(rings) => geometry(out, "Polygon", |out| list(out, rings, line)),
        DerivedGeometry::Collection(parts) => {
            out.extend_from_slice(b"{\"type\":\"GeometryCollection\",\"geometries\":");
            let parts: Vec<&DerivedGeometry> = parts.iter().filter(|part| !part.is_nothing()).collect();
            list(out, &parts, |out, part| made_shape(out, part));
            out.push(b'}');
        }
    }
}

fn geometry(out: &mut Vec<u8>, name: &str, coordinates: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\",\"coordinates\":");
    coordinates(out);
    out.push(b'}');
}

/// Appends a JSON array.
pub(super) fn list<T>(out: &mut Vec<u8>, entries: &[T], mut write: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(out, entry);
    }
    out.push(b']');
}

fn coord(out: &mut Vec<u8>, c: Coord) {
    out.push(b'[');
    degrees(out, c.lon);
    out.push(b',');
    degrees(out, c.lat);
    out.push(b']');
}

/// Appends units of 1e-7 degrees as degrees, with as many decimals as needed.
fn degrees(out: &mut Vec<u8>, value: i32) {
    let sign = if value < 0 { "-" } else { "" };
    let value = value.unsigned_abs();
    let _ = write!(out, "{sign}{}.{:07}", value / 10_000_000, value % 10_000_000);
    trim(out);
}

fn position(out: &mut Vec<u8>, p: DegreePosition) {
    out.push(b'[');
    let _ = write!(out, "{:.7}", p.lon);
    trim(out);
    let _ = write!(out, ",{:.7}", p.lat);
    trim(out);
    out.push(b']');
}

/// Removes trailing zeros from a number with decimals.
fn trim(out: &mut Vec<u8>) {
    let zeros = out.iter().rev().take_while(|&&byte| byte == b'0').count();
    out.truncate(out.len() - zeros);
    if out.last() == Some(&b'.') {
        out.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_have_the_decimals_that_they_need() {
        for (value, text) in [
            (145_123_456, "14.5123456"),
            (-190_561_020, "-19.056102"),
            (100_000_000, "10"),
            (0, "0"),
            (-1, "-0.0000001"),
            (1_800_000_000, "180"),
        ] {
            let mut out = Vec::new();
            degrees(&mut out, value);
            assert_eq!(String::from_utf8_lossy(&out), text);
        }
    }
}
