//! Geometries of elements as WKB, in degrees.

use geo_types::{Coord as Point, Geometry, LineString, MultiLineString, MultiPolygon, Polygon};
use terrapin_osm::outline::{Line, Outline};
use terrapin_osm::{BoundingBox, Coord};
use wkb::writer::{WriteOptions, write_geometry};

/// An element's geometry.
pub struct ElementGeometry {
    /// The geometry in degrees.
    geometry: Geometry<f64>,
    /// The bounding box.
    pub bounds: BoundingBox,
}

/// Converts 1e-7 degrees to degrees.
pub fn degrees(number: i32) -> f64 {
    f64::from(number) / 1e7
}

fn point(c: &Coord) -> Point<f64> {
    Point { x: degrees(c.lon), y: degrees(c.lat) }
}

fn line(line: &Line) -> LineString<f64> {
    LineString(line.iter().map(point).collect())
}

impl ElementGeometry {
    /// Converts an outline; `None` if it has neither a point nor a line of two points.
    pub fn of(mut outline: Outline) -> Option<ElementGeometry> {
        let geometry = match &mut outline {
            Outline::Point(at) => Geometry::Point(point(at).into()),
            Outline::Lines(all) => {
                all.retain(|line| line.len() > 1);
                lines(all)?
            }
            Outline::Polygons(all) => polygons(all)?,
        };
        Some(ElementGeometry { geometry, bounds: outline.bounds() })
    }

    /// Returns the geometry type by GeoParquet's name.
    pub fn name(&self) -> &'static str {
        match self.geometry {
            Geometry::Point(_) => "Point",
            Geometry::LineString(_) => "LineString",
            Geometry::MultiLineString(_) => "MultiLineString",
            Geometry::Polygon(_) => "Polygon",
            _ => "MultiPolygon",
        }
    }

    /// Returns the geometry as little-endian WKB.
    pub fn wkb(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Fails only if the writer fails, and writing to a vector does not.
        let _ = write_geometry(&mut bytes, &self.geometry, &WriteOptions::default());
        bytes
    }
}

fn lines(all: &[Line]) -> Option<Geometry<f64>> {
    Some(match all {
        [] => return None,
        [one] => Geometry::LineString(line(one)),
        all => Geometry::MultiLineString(MultiLineString(all.iter().map(line).collect())),
    })
}

fn polygons(all: &[Vec<Line>]) -> Option<Geometry<f64>> {
    let polygon = |rings: &Vec<Line>| {
        let mut rings = rings.iter().map(line);
        Polygon::new(rings.next().unwrap_or_else(|| LineString(Vec::new())), rings.collect())
    };
    Some(match all {
        [] => return None,
        [one] => Geometry::Polygon(polygon(one)),
        all => Geometry::MultiPolygon(MultiPolygon(all.iter().map(polygon).collect())),
    })
}
